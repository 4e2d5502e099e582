/* new_colour.c -- see new_colour.h. */
#include "codec/pixels/new_colour.h"

void codec_new_colours_reset(codec_new_colours *m) {
    const codec_bit half = {32768, 0};
    for (int c = 0; c < CODEC_COLOUR_CHANNELS; c++) {
        for (int k = 0; k < 3; k++) m->zero[c][k] = m->sign[c][k] = half;
        for (int k = 0; k < CODEC_SAMPLE_BITS; k++)
            m->length[c][k] = m->digit[c][k][0] = m->digit[c][k][1] = half;
    }
    m->last = 0;
}

/* A number 0 .. 2^most - 1: how many bits it has, then the bits below the highest. */
static uint32_t code_number(codec_pixel_bits *b, codec_new_colours *m, int channel, int most,
                            uint32_t number) {
    int length = 0, n = 0;
    while (number >> length) length++;
    while (n < most && codec_pixel_bit_adaptive(b, length > n, &m->length[channel][n])) n++;
    uint32_t value = n ? 1 : 0;
    for (int k = n - 2; k >= 0; k--) {
        codec_bit *model = &m->digit[channel][n - 1][k == n - 2];
        const int bit = (int)(number >> k & 1);
        const int is_low = n - 2 - k > 1; /* about even */
        value = value << 1 | (uint32_t)(is_low ? codec_pixel_bit(b, bit, 32768)
                                               : codec_pixel_bit_adaptive(b, bit, model));
    }
    return value;
}

/* A sample as the difference from its prediction, modulo 2^bits. before: the sign of the difference
 * of the channel before, plus 1. */
static uint32_t code_sample(codec_pixel_bits *b, codec_new_colours *m, int channel, int bits,
                            int before, uint32_t predicted, uint32_t sample) {
    const uint32_t mask = ((uint32_t)1 << bits) - 1, half = (mask >> 1) + 1;
    uint32_t difference = (sample - predicted) & mask;
    const int negative = difference >= half;
    const uint32_t size = negative ? mask + 1 - difference : difference;
    if (codec_pixel_bit_adaptive(b, !difference, &m->zero[channel][before])) return predicted;
    const int minus = codec_pixel_bit_adaptive(b, negative, &m->sign[channel][before]);
    const uint32_t magnitude = code_number(b, m, channel, bits - 1, size ? size - 1 : 0) + 1;
    difference = minus ? mask + 1 - magnitude : magnitude;
    return (predicted + difference) & mask;
}

enum { ALPHA_CHANNEL = 3, OPAQUE = 255 };

static uint32_t sample_of(uint32_t colour, int channel, int bits) {
    return colour >> (channel * bits) & (((uint32_t)1 << bits) - 1);
}

static int32_t clamp(int32_t x, int32_t low, int32_t high) {
    return x < low ? low : x > high ? high : x;
}

/* The median of left, above, and left + above - above left. */
static uint32_t median(uint32_t left, uint32_t above, uint32_t corner) {
    const int32_t a = (int32_t)left, b = (int32_t)above, low = a < b ? a : b, high = a < b ? b : a;
    return (uint32_t)clamp(a + b - (int32_t)corner, low, high);
}

/* The neighbours that predict colours: those that are not transparent, in place of the others. */
static void see_neighbours(const codec_new_colours *m, const uint32_t neighbour[3],
                           uint32_t seen[3]) {
    uint32_t any = m->last;
    for (int k = 2; k >= 0; k--)
        if (neighbour[k]) any = neighbour[k];
    for (int k = 0; k < 3; k++) seen[k] = neighbour[k] ? neighbour[k] : any;
}

static uint32_t predicted_by(const uint32_t seen[3], int channel, int bits) {
    return median(sample_of(seen[0], channel, bits), sample_of(seen[1], channel, bits),
                  sample_of(seen[2], channel, bits));
}

/* The samples of a colour whose alpha is known. */
static uint32_t code_colour(codec_pixel_bits *b, codec_new_colours *m, codec_colour_kind kind,
                            const uint32_t seen[3], uint32_t colour) {
    static const uint8_t order[3] = {1, 0, 2}; /* green first: it tells most of the others */
    uint32_t result = 0;
    int32_t moved = 0; /* the difference of the first channel, which the others share */
    for (int k = 0; k < kind.channels; k++) {
        const int c = kind.channels == 1 ? 0 : order[k];
        const int32_t plain = (int32_t)predicted_by(seen, c, 8);
        const uint32_t predicted = (uint32_t)clamp(plain + moved, 0, 255);
        const int before = k ? (moved > 0) - (moved < 0) + 1 : 1;
        const uint32_t sample = code_sample(b, m, c, 8, before, predicted, sample_of(colour, c, 8));
        if (!k) moved = (int32_t)sample - plain;
        result |= sample << (8 * c);
    }
    return kind.channels == 1 ? result * 0x010101u : result;
}

uint32_t codec_new_colour(codec_pixel_bits *b, codec_new_colours *m, codec_colour_kind kind,
                          const uint32_t neighbour[3], uint32_t colour) {
    uint32_t seen[3], alpha = OPAQUE;
    if (!kind.channels)
        return code_sample(b, m, 0, kind.bits, 1, predicted_by(neighbour, 0, kind.bits), colour);
    if (kind.alpha)
        alpha = code_sample(b, m, ALPHA_CHANNEL, 8, 1, predicted_by(neighbour, ALPHA_CHANNEL, 8),
                            sample_of(colour, ALPHA_CHANNEL, 8));
    if (!alpha) return 0;
    see_neighbours(m, neighbour, seen);
    m->last = code_colour(b, m, kind, seen, colour) | alpha << (8 * ALPHA_CHANNEL);
    return m->last;
}
