/* alpha_bits.c -- see alpha_bits.h. */
#include "codec/pixels/alpha_bits.h"
#include <stdlib.h>

enum {
    /* Known neighbours: to the left, above ... */
    W,
    N,
    NW,
    NE,
    WW,
    NN,
    NNE,
    NWW,
    NNW,
    NEAR,
    TAPS = NNE, /* of the first prediction: neighbours beside W */
    BITS = 13,  /* most lowest bits */
    PREDICTIONS = 6,
    FRACTION = 4,   /* bits of a prediction behind the point */
    DISTANCES = 64, /* bins of a difference, half of them for negative ones */
    ERRORS = 8,     /* bins of how wrong predictions were of the neighbours */
    AROUND = 9,     /* are the upper bits to the right and below lower, equal or higher */
    INPUTS = PREDICTIONS + 1,
    TAP_BITS = 16, /* 1.0 in a tap */
    TAP_MOST = 4 << TAP_BITS,
    TAP_RATE = 128
};

struct codec_alpha_bits {
    int16_t logit[CODEC_MIXER_LOGITS];
    codec_bit by_distance[BITS][ERRORS][PREDICTIONS][DISTANCES], by_around[BITS][AROUND][DISTANCES];
    int32_t weight[BITS][ERRORS][INPUTS];
    int32_t tap[TAPS];
    formats_block block;
};

static void lay_out(codec_alpha_bits **m, formats_layout *at) {
    *m = formats_lay(at, 1, sizeof **m);
}

uint64_t codec_alpha_bits_bytes(void) {
    formats_layout at = {0};
    codec_alpha_bits *m;
    lay_out(&m, &at);
    return at.used;
}

static void set_half(codec_bit *bit, size_t n) {
    for (size_t i = 0; i < n; i++) bit[i] = (codec_bit){32768, 0};
}

taper_status codec_alpha_bits_open(codec_alpha_bits **out, formats_account *account) {
    formats_layout at = {0};
    formats_block block;
    *out = NULL;
    lay_out(out, &at);
    TAPER_TRY(formats_block_take(&block, &at, account));
    lay_out(out, &at);
    codec_alpha_bits *m = *out;
    m->block = block;
    codec_mixer_make_logits(m->logit);
    set_half(&m->by_distance[0][0][0][0], sizeof m->by_distance / sizeof(codec_bit));
    set_half(&m->by_around[0][0][0], sizeof m->by_around / sizeof(codec_bit));
    for (int i = 0; i < BITS * ERRORS * INPUTS; i++) (&m->weight[0][0][0])[i] = CODEC_MIXER_ONE / 5;
    for (int i = 0; i < TAPS; i++) m->tap[i] = 0;
    m->tap[N - 1] = 1 << TAP_BITS, m->tap[NW - 1] = -(1 << TAP_BITS);
    return TAPER_OK;
}

void codec_alpha_bits_close(codec_alpha_bits *m) {
    if (!m) return;
    formats_block block = m->block; /* which holds the model */
    formats_block_free(&block);
}

/* --- what is known ------------------------------------------------------------------------- */

/* A plane and its lowest bits. */
typedef struct both {
    const codec_colour_plane *plane;
    const uint16_t *low;
    int shift;
} both;

/* A pixel while it is coded. */
typedef struct pixel {
    uint32_t upper;
    int32_t seen[NEAR];
    int64_t first;                   /* the first prediction, without limits */
    int32_t prediction[PREDICTIONS]; /* of the lowest bits, within their range */
    int error, around;
} pixel;

static int32_t value(const both *p, uint32_t x, uint32_t y) {
    return (int32_t)(codec_plane_row(p->plane, y)[x] << p->shift |
                     p->low[(size_t)y * p->plane->width + x]);
}

/* The neighbours; outside of the plane what is to the left, or above, or the middle. */
static void look(const both *p, uint32_t x, uint32_t y, pixel *of) {
    static const int8_t right[NEAR] = {-1, 0, -1, 1, -2, 0, 1, -2, -1},
                        up[NEAR] = {0, 1, 1, 1, 0, 2, 2, 1, 2};
    const int32_t middle = (int32_t)(of->upper << p->shift) + (1 << p->shift) / 2;
    const int32_t other = x ? value(p, x - 1, y) : y ? value(p, x, y - 1) : middle;
    for (int i = 0; i < NEAR; i++) {
        const int64_t at = (int64_t)x + right[i], from = (int64_t)y - up[i];
        const int outside = at < 0 || at >= p->plane->width || from < 0;
        of->seen[i] = outside ? other : value(p, (uint32_t)at, (uint32_t)from);
    }
}

static int compare(uint32_t a, uint32_t b) { return a < b ? 0 : a == b ? 1 : 2; }

static int around(const both *p, uint32_t x, uint32_t y) {
    const uint32_t *row = codec_plane_row(p->plane, y);
    const uint32_t right = x + 1 < p->plane->width ? row[x + 1] : row[x];
    const uint32_t below = y + 1 < p->plane->height ? codec_plane_row(p->plane, y + 1)[x] : row[x];
    return 3 * compare(right, row[x]) + compare(below, row[x]);
}

/* --- prediction ---------------------------------------------------------------------------- */

static int32_t median(int32_t a, int32_t b, int32_t c) {
    const int32_t low = a < b ? a : b, high = a < b ? b : a, plane = a + b - c;
    return plane < low ? low : plane > high ? high : plane;
}

/* By taps that are adapted (a normalised LMS filter). In 1 / 2^FRACTION. */
static int64_t filtered(const codec_alpha_bits *m, const int32_t *seen) {
    int64_t sum = (int64_t)seen[W] * (1 << TAP_BITS);
    for (int i = 0; i < TAPS; i++) sum += (int64_t)m->tap[i] * (seen[i + 1] - seen[W]);
    return sum >> (TAP_BITS - FRACTION);
}

static void adapt(codec_alpha_bits *m, const pixel *of, int32_t is) {
    const int64_t error = (int64_t)is * (1 << FRACTION) - of->first;
    int64_t norm = 4;
    for (int i = 0; i < TAPS; i++) {
        const int64_t d = of->seen[i + 1] - of->seen[W];
        norm += d * d;
    }
    for (int i = 0; i < TAPS; i++) {
        const int64_t d = of->seen[i + 1] - of->seen[W];
        const int64_t tap = m->tap[i] + error * d * TAP_RATE / norm;
        m->tap[i] = (int32_t)(tap < -TAP_MOST ? -TAP_MOST : tap > TAP_MOST ? TAP_MOST : tap);
    }
}

static void predict(const codec_alpha_bits *m, int shift, pixel *of) {
    const int32_t *s = of->seen;
    const int32_t simple[PREDICTIONS] = {0,
                                         median(s[W], s[N], s[NW]),
                                         s[W] + s[N] - s[NW],
                                         s[W] + s[NE] - s[N],
                                         2 * s[W] - s[WW],
                                         2 * s[N] - s[NN]};
    const int64_t least = (int64_t)of->upper << (shift + FRACTION),
                  range = ((1 << shift) - 1) * (int64_t)(1 << FRACTION);
    of->first = filtered(m, s);
    for (int i = 0; i < PREDICTIONS; i++) {
        const int64_t p = (i ? (int64_t)simple[i] * (1 << FRACTION) : of->first) - least;
        of->prediction[i] = (int32_t)(p < 0 ? 0 : p > range ? range : p);
    }
    const uint32_t wrong =
        (uint32_t)(abs(s[W] - s[WW] - s[NW] + s[NWW]) + abs(s[N] - s[NW] - s[NN] + s[NNW]) +
                   abs(s[NE] - s[N] - s[NNE] + s[NN])) >>
        (shift > 5 ? shift - 5 : 0);
    of->error = 0;
    while (of->error + 1 < ERRORS && wrong >> of->error) of->error++;
}

/* --- coding -------------------------------------------------------------------------------- */

/* The bin of a difference: its sign, length, and digit below the highest. */
static int bin_of(int32_t d) {
    const uint32_t size = (uint32_t)abs(d);
    int length = 0;
    while (size >> length) length++;
    const int bin = length < 2 ? length : 2 * length - 2 + (int)(size >> (length - 2) & 1);
    return (bin < DISTANCES / 2 ? bin : DISTANCES / 2 - 1) + (d < 0 ? DISTANCES / 2 : 0);
}

static uint32_t code_low(codec_alpha_bits *m, codec_pixel_bits *b, const both *p, uint32_t x,
                         uint32_t y, uint32_t low) {
    pixel of = {.upper = codec_plane_row(p->plane, y)[x], .around = around(p, x, y)};
    uint32_t known = 0;
    look(p, x, y, &of);
    predict(m, p->shift, &of);
    for (int k = p->shift - 1; k >= 0; k--) {
        /* between the values with bit 0 and with bit 1 */
        const int32_t middle = (int32_t)((2 * known + 1) << (k + FRACTION)) - (1 << FRACTION) / 2;
        codec_mixer mixer = {.logit = m->logit, .weight = m->weight[k][of.error], .n = INPUTS};
        for (int i = 0; i < PREDICTIONS; i++)
            mixer.input[i] = &m->by_distance[k][of.error][i][bin_of(of.prediction[i] - middle)];
        mixer.input[PREDICTIONS] = &m->by_around[k][of.around][bin_of(of.prediction[1] - middle)];
        known = known << 1 | (uint32_t)codec_mixed_pixel_bit(b, (int)(low >> k & 1), &mixer);
    }
    if (!b->starved) adapt(m, &of, (int32_t)(of.upper << p->shift | known));
    return known;
}

uint64_t codec_alpha_bits_code(codec_alpha_bits *m, codec_pixel_bits *b,
                               const codec_colour_plane *plane, int shift, uint16_t *low) {
    const both p = {plane, low, shift};
    for (uint64_t i = 0; i < plane->known; i++) {
        const uint32_t x = (uint32_t)(i % plane->width), y = (uint32_t)(i / plane->width);
        const uint32_t bits = code_low(m, b, &p, x, y, low[i]);
        if (b->starved) return i;
        low[i] = (uint16_t)bits;
    }
    return plane->known;
}
