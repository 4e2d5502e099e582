/* head_rows.h -- the correction of the reconstruction head (head.h) in integers, as more rows of
 * the synthesis. The correction is linear in the activations h2 of the head's last hidden layer. So
 * the head's output and the synthesis are folded into one matrix per state of a group.
 *
 * For unit u, with e = bits(u) (synthesis.h) and U(u) its uncertainty (head.h) as a coefficient:
 *     v      = min(half the threshold, the scale), in 1/65536 of the step, at most 2^40; the scale
 *              alone at depth 0; 0 beyond the head's end
 *     U(u)   = M 2^w, M < 2^16: the top 16 bits of v, rounded down, times those of the step
 *     K(u,h) = round(W(u,h) M 2^(w - shift(u) - 4 + g)), where W is the head's output weight
 * g is the largest integer with 127 M 2^(w - shift(u) - 4 + g) < 8192 for all u. Then
 *     raw(h,i) = sum over u of K(u,h) W(u,i), modulo 2^32     (W(u,i) of the synthesis)
 *     F(h,i)   = clamp(round(raw(h,i) 2^-(g + s)), -32767 .. 32767)
 * with the smallest s in 0 .. 12 for which round(largest |raw| 2^-(g + s)) <= 32767, or 12. The
 * sums get 2^s sum h2 F.
 *
 * At windows where the next plane of a unit is known, its U is smaller. There the difference is
 * added to the coefficient itself (codec_head_rows_more). With n = sum over h of W(u,h) h2(h), and
 * M', w' of one plane more, it is, with exponents of at most 20 and clamped to -2^26 .. 2^26,
 *     round(n M' 2^(w' - shift(u) - 4)) - round(n M 2^(w - shift(u) - 4)) */
#ifndef CODEC_HEAD_ROWS_H
#define CODEC_HEAD_ROWS_H
#include "codec/bitplane/conditional_state.h"
#include "codec/render/terms.h"
#include "codec/transform/synthesis.h"

/* U(u) 2^(8 - shift - 12): factor 2^exponent. */
typedef struct codec_head_scale {
    uint32_t factor; /* 0: the unit is not corrected */
    int exponent;
} codec_head_scale;

typedef struct codec_head_rows {
    const codec_group *group; /* borrowed */
    const codec_conditional *head;
    uint32_t lanes; /* of head->wide: hidden, rounded up */
    /* [hidden / 2][synthesis lanes][2]: F; NULL: nothing is corrected. In `folded`, or those of the
     * rows that these are like. */
    const int16_t *row;
    int shift;    /* s */
    int32_t *raw; /* [hidden][synthesis lanes] before rounding, in `folded`; or NULL */
    int32_t bits; /* g */
    codec_head_scale (*scale)[2]; /* [units] at the depth, and one plane deeper */
    uint8_t (*depth)[2];          /* [units] the depth, and the planes of the unit */
    /* [stride][seen_stride] the inputs a of positions `from` .. from + stride - 1, by unit. */
    int8_t *seen;
    uint32_t from, stride, seen_stride;
    int32_t bias[CODEC_CONDITIONAL_BORDERS][CODEC_CONDITIONAL_MOST_HIDDEN];
    codec_term *term; /* temporary, [(units + 1) / 2] */
    formats_block block, folded;
} codec_head_rows;

/* Prepare the state of a group whose tables have a head, for windows first .. first + n - 1. units:
 * those of the rows of the synthesis, to which the sums over u above go. like: NULL, or rows of the
 * same model, synthesis and units, of any group: only what differs from them is computed. If
 * nothing does, their rows are used: they must outlive *rows.
 * TAPER_ERR_NOMEM: *rows is zeroed. */
taper_status codec_head_rows_begin(codec_head_rows *rows, const codec_group *group,
                                   const codec_synthesis *synthesis, const codec_term_rows *units,
                                   uint32_t first, uint32_t n, const codec_head_rows *like);
void codec_head_rows_end(codec_head_rows *rows);
/* Nonzero: some rows of *rows are its own, so that others may be like it. */
static inline int codec_head_rows_owns(const codec_head_rows *rows) { return rows->raw != NULL; }
/* Memory of the state for n windows of images up to `columns` windows wide, at most. */
uint64_t codec_head_rows_bytes(const codec_conditional *head, uint32_t units, uint32_t lanes,
                               uint64_t n, uint64_t columns);

/* h2[n][hidden] of windows `first` .. first + n - 1. term: temporary, [codec_head_rows_inputs]. */
void codec_head_rows_hidden(const codec_head_rows *rows, uint32_t first, uint32_t n,
                            codec_term *term, uint8_t *h2);
uint32_t codec_head_rows_inputs(const codec_conditional *head);

/* The differences that a known next plane makes to the coefficient of unit u, in all windows of a
 * batch. quads: h2 as a matrix of CODEC_TERMS_WINDOWS lanes (int8_dot.h). */
void codec_head_rows_more(const codec_head_rows *rows, uint32_t u, const uint8_t *quads,
                          int32_t more[CODEC_TERMS_WINDOWS]);

#endif
