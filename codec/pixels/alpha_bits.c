/* alpha_bits.c -- see alpha_bits.h. */
#include "codec/pixels/alpha_bits.h"
#include <stdlib.h>

enum {
    BITS = 12, /* most lowest bits */
    STATES =
        4,     /* of the bits so far: below, as, above what is predicted with its next bit 0 or 1 */
    STEEP = 6, /* bins of how much the neighbours differ */
    INPUTS = 3,
    PLACES = 16 /* where in the interval of the upper bits the prediction is */
};

struct codec_alpha_bits {
    int16_t logit[CODEC_MIXER_LOGITS];
    codec_bit by_state[BITS][STATES][STEEP], by_place[BITS][STATES][PLACES],
        by_upper[BITS][65536 >> BITS][STATES];
    int32_t weight[BITS][STATES][INPUTS];
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
    set_half(&m->by_state[0][0][0], sizeof m->by_state / sizeof(codec_bit));
    set_half(&m->by_place[0][0][0], sizeof m->by_place / sizeof(codec_bit));
    set_half(&m->by_upper[0][0][0], sizeof m->by_upper / sizeof(codec_bit));
    for (int i = 0; i < BITS * STATES * INPUTS; i++) (&m->weight[0][0][0])[i] = CODEC_MIXER_ONE / 2;
    return TAPER_OK;
}

void codec_alpha_bits_close(codec_alpha_bits *m) {
    if (!m) return;
    formats_block block = m->block; /* which holds the model */
    formats_block_free(&block);
}

/* A plane and its lowest bits. */
typedef struct both {
    const codec_colour_plane *plane;
    const uint16_t *low;
    int shift;
} both;

static int32_t value(const both *p, uint32_t x, uint32_t y) {
    return (int32_t)(codec_plane_row(p->plane, y)[x] << p->shift |
                     p->low[(size_t)y * p->plane->width + x]);
}

/* What the neighbours predict, and how much they differ. */
static int32_t predict(const both *p, uint32_t x, uint32_t y, int32_t *differ) {
    const int32_t upper = (int32_t)(codec_plane_row(p->plane, y)[x] << p->shift);
    const int32_t middle = upper + (1 << p->shift) / 2;
    const int32_t left = x   ? value(p, x - 1, y)
                         : y ? value(p, x, y - 1)
                             : middle,
                  above = y ? value(p, x, y - 1) : left,
                  corner = x && y ? value(p, x - 1, y - 1) : above,
                  right = y && x + 1 < p->plane->width ? value(p, x + 1, y - 1) : above;
    *differ = abs(left - corner) + abs(above - corner) + abs(right - above);
    int32_t predicted = left + above - corner;
    const int32_t low = left < above ? left : above, high = left < above ? above : left;
    predicted = predicted < low ? low : predicted > high ? high : predicted;
    const int32_t most = upper + (1 << p->shift) - 1;
    return (predicted < upper ? upper : predicted > most ? most : predicted) - upper;
}

static uint32_t code_low(codec_alpha_bits *m, codec_pixel_bits *b, const both *p, uint32_t x,
                         uint32_t y, uint32_t low) {
    int32_t differ;
    const uint32_t predicted = (uint32_t)predict(p, x, y, &differ),
                   upper = codec_plane_row(p->plane, y)[x] & 15;
    uint32_t steep = 0, known = 0;
    while (steep + 1 < STEEP && differ >> (p->shift - 4 + 2 * (int)steep) > 0) steep++;
    for (int k = p->shift - 1; k >= 0; k--) {
        const uint32_t as = predicted >> (k + 1), next = predicted >> k & 1;
        const uint32_t state = known == as ? next : known < as ? 2 : 3;
        codec_mixer mixer = {.logit = m->logit, .weight = m->weight[k][state], .n = INPUTS};
        const uint32_t place = k ? predicted >> (k > 3 ? k - 3 : 0) & (PLACES - 1) : steep;
        mixer.input[0] = &m->by_state[k][state][steep];
        mixer.input[1] = &m->by_place[k][state][place];
        mixer.input[2] = &m->by_upper[k][upper][state];
        known = known << 1 | (uint32_t)codec_mixed_pixel_bit(b, (int)(low >> k & 1), &mixer);
    }
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
