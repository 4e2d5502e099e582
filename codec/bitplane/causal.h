/* causal.h -- the causal template: contexts that depend on what their own pass has decoded.
 *
 * The first units of windows (brightness and colour) are smooth over an image: a value lies between
 * those of its neighbours. So their bits are predicted from signed values instead of magnitudes.
 * The windows to the left and above contribute values after this pass, the others values before it.
 *
 * For a bit of unit u at position p, with T the threshold after it and values in 1/16 T:
 *
 *     v       = sum over the windows around p of causal_weight[u] x known value of unit u there
 *     spread  = largest minus smallest known value of the four direct neighbours, in six bins
 *     place   = one of 16 bins of T / 4: of |v| for significance; of v for a sign; for refinements,
 *               of v in the level's direction minus the middle of its interval
 *     logit  += causal_logit[class of kind and band][6 place + spread]
 *
 * At the border of an image the opposite window replaces a missing one. The template uses only
 * windows of one image, also to assign positions to fractions of a plane.
 *
 * Most positions keep the level 0 in a pass. So before the pass, logits are computed for all
 * positions as if no value changed. They are computed again where a neighbour has changed, about
 * one in seven. codec_causal_around, _context, _predict and _update must use the same windows. */
#ifndef CODEC_CAUSAL_H
#define CODEC_CAUSAL_H
#include "codec/bitplane/group.h"

typedef struct codec_causal {
    int on; /* the current pass has a causal template */
    /* [n] values of its unit, in 1/16 of the threshold after the pass; NULL: no template at all. */
    int32_t *known;
    /* [n] the known value to the left and right of each position, or its replacement. */
    int32_t *left, *right;
    /* [stride] the term of the logit of magnitude bits, before the pass. If wide, not computed. */
    int32_t *logit;
    int wide; /* the sums of the pass exceed 32 bits: all contexts are computed one by one */
    /* Reconstruction points after the pass, by level, in 1/256. */
    int32_t centre[CODEC_RECON_LEVELS + 1];
} codec_causal;

/* Lay out the arrays for a group that has neighbours. */
void codec_causal_lay_out(codec_causal *causal, const codec_group *group, formats_layout *at);

/* Nonzero if passes of this unit have a causal template. */
static inline int codec_causal_is_unit(const codec_causal *causal, uint32_t u) {
    return causal->known && u < CODEC_CAUSAL_UNITS;
}

/* The windows around p, all of its image: left, right, up, down, upper left, upper right, lower
 * left, lower right. */
void codec_causal_around(const codec_group *group, uint32_t p, uint32_t around[CODEC_AROUND]);

/* Prepare the group's next pass, of a unit with a template. */
void codec_causal_predict(codec_causal *causal, const codec_group *group);

/* The context of the next bit of this kind at position p, below CODEC_CAUSAL_CONTEXTS. */
uint32_t codec_causal_context(const codec_causal *causal, const codec_group *group, uint32_t p,
                              codec_kind kind);

/* The template's term of the bit's logit, in 1/4096; 0 for a window without neighbours. */
int32_t codec_causal_logit(const codec_causal *causal, const codec_group *group, uint32_t p,
                           codec_kind kind);

/* Report that the pass has decoded a level other than 0 at p. Contexts that depend on it become
 * CODEC_STALE. */
enum { CODEC_STALE = 0xFFFE };
void codec_causal_update(codec_causal *causal, const codec_group *group, uint32_t p, int32_t level,
                         uint16_t *context);

/* The causal class. */
static inline uint32_t codec_causal_class(codec_kind kind, uint32_t unit) {
    return (uint32_t)kind * CODEC_CAUSAL_BANDS + codec_band(unit);
}

#endif
