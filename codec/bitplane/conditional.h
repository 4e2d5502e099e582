/* conditional.h -- the conditional model: a small network that predicts the next bits of every
 * window from the known part of the window and of the eight around it. It computes in integers, so
 * every machine decodes the same symbols.
 *
 * The first passes of the order are divided into STAGES, runs of consecutive passes. Before the
 * first pass of a stage the network is evaluated. Its inputs are, for each of the first units, a in
 * -127 .. 127 (a logarithm of the known x / scale, with the sign of x) and |a|:
 *
 *     sum   = over the window and its neighbours, of W a + V |a|    (stored; changes are added)
 *     h0    = activate((8 sum >> shift) + place + stage)
 *     h(i)  = min(h(i-1) + activate((16 W(i) h(i-1) >> shift(i)) + bias(i)), 127),   i = 1, 2
 *     logit = (256 W(unit, kind) h2 >> shift(unit, kind)) / 4096 + bias(kind, pass) / 64
 *
 * with activate(z) = clamp((z + 8) >> 4, 0 .. 127). The logit is added to that of contexts.h. Bins
 * and adaptive probabilities are the same as without it. `place` is the sum of a bias for each
 * neighbour that exists; it differs at the border of an image.
 *
 * The ranges keep every sum below 2^31; readers reject a file that exceeds them: weights in
 * -127 .. 127, biases in -2^16 .. 2^16, and own, neighbour_units and hidden at most the
 * CODEC_CONDITIONAL_MOST_ values. */
#ifndef CODEC_CONDITIONAL_H
#define CODEC_CONDITIONAL_H
#include "codec/entropy/int_matrix.h"

enum {
    CODEC_CONDITIONAL_MOST_BIAS = 1 << 16,
    CODEC_CONDITIONAL_MOST_HIDDEN = 256,
    CODEC_CONDITIONAL_MOST_UNITS = 256, /* own and neighbour_units */
    CODEC_CONDITIONAL_MOST_STAGES = 255,
    CODEC_CONDITIONAL_SIDES = 9, /* 3 (dy + 1) + dx + 1; CODEC_CONDITIONAL_SELF: the window */
    CODEC_CONDITIONAL_SELF = 4,
    CODEC_CONDITIONAL_BORDERS = 16, /* masks of the sides left, right, up and down */
    CODEC_CONDITIONAL_MIDDLES = 2,
    CODEC_CONDITIONAL_KINDS = 3, /* significance, sign, refinement */
    CODEC_CONDITIONAL_OUT_LANES = 256,
    CODEC_CONDITIONAL_INPUT_ONE = 32, /* fixed point: a stands for a / 32, h for h / 16 */
    CODEC_CONDITIONAL_ACTIVATION_ONE = 16
};

typedef struct codec_conditional {
    uint32_t kinds;  /* outputs per unit: CODEC_CONDITIONAL_KINDS, or 1 for a head */
    uint32_t hidden; /* 8 .., a multiple of 8 */
    /* Input units of the window, and of each window around it: neighbour_units <= own. */
    uint32_t own, neighbour_units;
    uint32_t units; /* of its code tables */
    uint32_t end;   /* passes 0 .. end - 1 are predicted; later ones by contexts only */
    uint32_t stages;
    uint32_t *begin;      /* [stages] first pass of each, ascending; begin[0] is 0 */
    int8_t *first;        /* [inputs][2][hidden]: W and V; inputs as by codec_conditional_input */
    uint8_t *first_shift; /* [hidden] 0 .. MOST_SHIFT */
    int32_t *place;       /* [CODEC_CONDITIONAL_SIDES][hidden], for each side that exists */
    int32_t *stage;       /* [stages][hidden] */
    int8_t *middle[CODEC_CONDITIONAL_MIDDLES];        /* [hidden in][hidden out] */
    uint8_t *middle_shift[CODEC_CONDITIONAL_MIDDLES]; /* [hidden] 0 .. MOST_SHIFT */
    int32_t *middle_bias[CODEC_CONDITIONAL_MIDDLES];  /* [hidden] */
    int8_t *out;                                      /* [units][kinds][hidden] */
    uint8_t *out_shift;                               /* [units][kinds] 0 .. MOST_SHIFT */
    int32_t *bias;                                    /* [kinds][end] in 1/64; unused in a head */
    /* Made by codec_conditional_pack. The same weights in the layout of int8_dot.h: */
    int8_t *pairs;                            /* `first` as [inputs][hidden][2] */
    int8_t *quads[CODEC_CONDITIONAL_MIDDLES]; /* `middle` */
    int8_t *out_quads; /* of a head: `out`, one matrix per OUT_LANES units; else NULL */
    /* Of a head: `pairs` in the layout of sparse_sum.h, rows of codec_sparse_lanes(hidden) lanes;
     * else NULL. */
    int16_t *wide;
    int32_t *border; /* [BORDERS][hidden] sums of `place` over the sides that exist */
} codec_conditional;

static inline uint32_t codec_conditional_inputs(uint32_t own, uint32_t neighbour_units) {
    return own + (CODEC_CONDITIONAL_SIDES - 1) * neighbour_units;
}
/* The row of `first` for unit u of the window on this side. Rows of the window itself come first.
 */
static inline uint32_t codec_conditional_input(uint32_t own, uint32_t neighbour_units,
                                               uint32_t side, uint32_t u) {
    if (side == CODEC_CONDITIONAL_SELF) return u;
    return own + (side - (side > CODEC_CONDITIONAL_SELF)) * neighbour_units + u;
}

/* The stage of a pass, or of this number of complete ones: the last that begins by then. */
static inline uint32_t codec_conditional_stage(const codec_conditional *c, uint32_t pass) {
    uint32_t stage = 0;
    while (stage + 1 < c->stages && c->begin[stage + 1] <= pass) stage++;
    return stage;
}

/* Allocate zeroed arrays for the shape in *c (hidden .. stages). TAPER_ERR_ARG: the shape is out of
 * range. TAPER_ERR_NOMEM. On failure *c owns nothing. */
taper_status codec_conditional_alloc(codec_conditional *c);
/* Leaves it zeroed. */
void codec_conditional_free(codec_conditional *c);
/* The number of lanes of a head's matrix for units from `first` on, a multiple of OUT_LANES: its
 * units, rounded up to a multiple of 8. The matrix begins at out_quads + first * hidden. */
static inline uint32_t codec_conditional_out_lanes(const codec_conditional *c, uint32_t first) {
    uint32_t left = (c->units - first + 7) / 8 * 8;
    return left < CODEC_CONDITIONAL_OUT_LANES ? left : CODEC_CONDITIONAL_OUT_LANES;
}

/* Fill pairs, quads, out_quads, wide and border. Call after the weights are set and before the
 * model is used. */
void codec_conditional_pack(codec_conditional *c);

/* A set of units (unit_sets.h) with the passes begin .. end - 1. */
typedef struct codec_unit_set {
    const uint32_t *unit; /* [n] ascending */
    uint32_t n, begin, end;
} codec_unit_set;

/* The serialised form (SPEC.md, 6.7): the common part, then the part of each set of units; and all
 * in one. read_common: for this number of kinds, units and passes. Every field is checked before
 * memory is allocated for it; weights of sets that are not read are 0. Call codec_conditional_pack
 * after the last set. TAPER_ERR_LIMIT: the weights as floats exceed max_bytes. After a failure of
 * read_common or codec_conditional_read *c owns nothing. Write: TAPER_ERR_NOMEM, or the status of
 * out. */
taper_status codec_conditional_write_common(const codec_conditional *c, formats_buffer *out);
taper_status codec_conditional_write_set(const codec_conditional *c, codec_unit_set set,
                                         formats_buffer *out);
taper_status codec_conditional_write(const codec_conditional *c, formats_buffer *out);
taper_status codec_conditional_read_common(codec_conditional *c, uint32_t kinds, uint32_t units,
                                           uint32_t passes, uint64_t max_bytes, formats_cursor *in,
                                           taper_error *error);
taper_status codec_conditional_read_set(codec_conditional *c, codec_unit_set set,
                                        formats_cursor *in, taper_error *error);
taper_status codec_conditional_read(codec_conditional *c, uint32_t kinds, uint32_t units,
                                    uint32_t passes, uint64_t max_bytes, formats_cursor *in,
                                    taper_error *error);

#endif
