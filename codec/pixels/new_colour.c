/* new_colour.c -- see new_colour.h. */
#include "codec/pixels/new_colour.h"

void codec_new_colours_reset(codec_new_colours *m, const int16_t *logit) {
    codec_bit *bit = &m->bit[0][0][0][0];
    int32_t *weight = &m->weight[0][0][0];
    m->logit = logit;
    for (size_t i = 0; i < sizeof m->bit / sizeof *bit; i++) bit[i] = (codec_bit){32768, 0};
    for (size_t i = 0; i < sizeof m->weight / sizeof *weight; i++)
        weight[i] = CODEC_MIXER_ONE * 2 / 5;
    m->last = 0;
}

/* A sample that is coded as a difference. */
typedef struct sample {
    codec_pixel_bits *b;
    codec_new_colours *m;
    int channel, bits;
    uint32_t place[CODEC_SAMPLE_VIEWS];
} sample;

static int code_step(const sample *s, int step, int bit) {
    codec_mixer mixer = {.logit = s->m->logit, .weight = s->m->weight[s->channel][step]};
    for (; mixer.n < CODEC_SAMPLE_VIEWS; mixer.n++)
        mixer.input[mixer.n] = &s->m->bit[mixer.n][s->channel][s->place[mixer.n]][step];
    return codec_mixed_pixel_bit(s->b, bit, &mixer);
}

/* A number 0 .. 2^most - 1: how many bits it has, then the bits below the highest. */
static uint32_t code_number(const sample *s, int most, uint32_t number) {
    int length = 0, n = 0;
    while (number >> length) length++;
    while (n < most && code_step(s, CODEC_SAMPLE_LENGTH + n, length > n)) n++;
    uint32_t value = n ? 1 : 0;
    for (int k = n - 2; k >= 0; k--) {
        const int bit = (int)(number >> k & 1); /* below the first digit about even */
        value = value << 1 | (uint32_t)(k == n - 2 ? code_step(s, CODEC_SAMPLE_DIGIT + n - 1, bit)
                                                   : codec_pixel_bit(s->b, bit, 32768));
    }
    return value;
}

/* A sample as the difference from its prediction, modulo 2^bits. */
static uint32_t code_sample(const sample *s, uint32_t predicted, uint32_t value) {
    const uint32_t mask = ((uint32_t)1 << s->bits) - 1, half = (mask >> 1) + 1;
    uint32_t difference = (value - predicted) & mask;
    const int negative = difference >= half;
    const uint32_t size = negative ? mask + 1 - difference : difference;
    if (code_step(s, CODEC_SAMPLE_ZERO, !difference)) return predicted;
    const int minus = code_step(s, CODEC_SAMPLE_SIGN, negative);
    const uint32_t magnitude = code_number(s, s->bits - 1, size ? size - 1 : 0) + 1;
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

/* The number of bits of a number, at most 8. */
static uint32_t length_of(int32_t x) {
    uint32_t n = 0;
    while (n < 8 && (x < 0 ? -x : x) >> n) n++;
    return n;
}

/* The sign of a difference and its size, as a place. */
static uint32_t signed_place(int32_t x) {
    const uint32_t length = (length_of(x) + 1) / 2;
    return x < 0 ? length + 4 : length;
}

/* How much the neighbours differ in a channel, as a place. */
static uint32_t steepness(const uint32_t seen[3], int channel, int bits) {
    const int32_t left = (int32_t)sample_of(seen[0], channel, bits),
                  above = (int32_t)sample_of(seen[1], channel, bits),
                  corner = (int32_t)sample_of(seen[2], channel, bits);
    const int32_t a = left - corner, b = above - corner;
    return length_of(((a < 0 ? -a : a) + (b < 0 ? -b : b)) >> (bits > 8 ? bits - 8 : 0));
}

/* The samples of a colour whose alpha is known. */
static uint32_t code_colour(codec_pixel_bits *b, codec_new_colours *m, codec_colour_kind kind,
                            const uint32_t seen[3], uint32_t alpha, uint32_t colour) {
    static const uint8_t order[3] = {1, 0, 2}; /* green first: it tells most of the others */
    uint32_t result = 0;
    int32_t moved = 0, before = 0; /* differences: of the first channel, which the others share */
    for (int k = 0; k < kind.channels; k++) {
        const int c = kind.channels == 1 ? 0 : order[k];
        const int32_t plain = (int32_t)predicted_by(seen, c, 8),
                      predicted = clamp(plain + moved, 0, 255);
        const sample s = {
            b,
            m,
            c,
            8,
            {length_of((int32_t)alpha), steepness(seen, c, 8), k ? signed_place(before) : 0}};
        const uint32_t value = code_sample(&s, (uint32_t)predicted, sample_of(colour, c, 8));
        if (!k) moved = (int32_t)value - plain;
        before = (int32_t)value - (k ? predicted : plain);
        result |= value << (8 * c);
    }
    return kind.channels == 1 ? result * 0x010101u : result;
}

static uint32_t code_plain(codec_pixel_bits *b, codec_new_colours *m, int channel, int bits,
                           const uint32_t neighbour[3], uint32_t colour) {
    const uint32_t predicted = predicted_by(neighbour, channel, bits);
    const sample s = {b,
                      m,
                      channel,
                      bits,
                      {length_of((int32_t)(predicted >> (bits > 8 ? bits - 8 : 0))),
                       steepness(neighbour, channel, bits), 0}};
    return code_sample(&s, predicted, sample_of(colour, channel, bits));
}

uint32_t codec_new_colour(codec_pixel_bits *b, codec_new_colours *m, codec_colour_kind kind,
                          const uint32_t neighbour[3], uint32_t colour) {
    uint32_t seen[3], alpha = OPAQUE;
    if (!kind.channels) return code_plain(b, m, 0, kind.bits, neighbour, colour);
    if (kind.alpha) alpha = code_plain(b, m, ALPHA_CHANNEL, 8, neighbour, colour);
    if (!alpha) return 0;
    see_neighbours(m, neighbour, seen);
    m->last = code_colour(b, m, kind, seen, alpha, colour) | alpha << (8 * ALPHA_CHANNEL);
    return m->last;
}
