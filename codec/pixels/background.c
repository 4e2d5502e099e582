/* background.c -- see background.h. */
#include "codec/pixels/background.h"
#include <string.h>

enum { SAMPLES = 4, MEAN_BITS = 8 };

/* A colour's samples as they count: alpha, and the others times alpha. Other planes have one
 * sample. */
static void samples_of(const codec_colour_plane *p, uint32_t colour, uint32_t sample[SAMPLES]) {
    const uint32_t alpha = p->kind.channels ? colour >> 24 : 0;
    for (int k = 0; k < SAMPLES - 1; k++)
        sample[k] = p->kind.channels ? (colour >> 8 * k & 255) * alpha / 255 : 0;
    sample[SAMPLES - 1] = p->kind.channels ? alpha : colour;
}

/* mean: in 1 / 2^MEAN_BITS. */
static void find_mean(const codec_colour_plane *p, uint64_t mean[SAMPLES]) {
    const uint64_t n = (uint64_t)p->width * p->height;
    uint32_t sample[SAMPLES];
    memset(mean, 0, SAMPLES * sizeof *mean);
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            samples_of(p, codec_plane_row(p, y)[x], sample);
            for (int k = 0; k < SAMPLES; k++) mean[k] += sample[k];
        }
    for (int k = 0; k < SAMPLES; k++) mean[k] = ((mean[k] << MEAN_BITS) + n / 2) / n;
}

/* The squared distance of a colour from the mean. The mean squared error of a plane that has only
 * this colour is this, and what the plane differs from its mean. */
static uint64_t distance(const codec_colour_plane *p, uint32_t colour,
                         const uint64_t mean[SAMPLES]) {
    uint32_t sample[SAMPLES];
    uint64_t sum = 0;
    samples_of(p, colour, sample);
    for (int k = 0; k < SAMPLES; k++) {
        const int64_t d = ((int64_t)sample[k] << MEAN_BITS) - (int64_t)mean[k];
        sum += (uint64_t)(d * d);
    }
    return sum;
}

/* The most frequent colour, by a vote: right wherever one has more than half of the pixels. */
static uint32_t most_frequent(const codec_colour_plane *p) {
    uint32_t colour = 0;
    uint64_t lead = 0;
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            const uint32_t c = codec_plane_row(p, y)[x];
            if (!lead) colour = c;
            lead += c == colour ? 1 : (uint64_t)-1;
        }
    return colour;
}

static uint32_t closest_to(const codec_colour_plane *p, const uint64_t mean[SAMPLES]) {
    uint32_t colour = *codec_plane_row(p, 0), last = colour;
    uint64_t least = distance(p, colour, mean);
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            const uint32_t c = codec_plane_row(p, y)[x];
            if (c == last) continue;
            const uint64_t d = distance(p, last = c, mean);
            if (d < least) least = d, colour = c;
        }
    return colour;
}

uint32_t codec_choose_background(const codec_colour_plane *p) {
    const uint32_t frequent = most_frequent(p);
    const uint32_t shown =
        p->kind.channels ? CODEC_UNKNOWN_COLOUR : ((uint32_t)1 << p->kind.bits) - 1;
    uint64_t mean[SAMPLES];
    find_mean(p, mean);
    const uint64_t most = distance(p, shown, mean);
    if (distance(p, frequent, mean) <= most) return frequent;
    const uint32_t closest = closest_to(p, mean);
    return distance(p, closest, mean) <= most ? closest : shown;
}
