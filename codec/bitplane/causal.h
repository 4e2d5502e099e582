/* causal.h -- passes that look at themselves. The first units of windows are smooth over an image:
 * brightness and colour of a window are nearly those between its neighbours'. What counts for their
 * bits is a value, not a magnitude, and the latest one: of the windows to the left and above what
 * this very pass has said, of the others what the passes before did (in context modelling: a causal
 * template).
 *
 * For a bit of unit u at position p, T being the threshold after it, all values in 1/16 T:
 *
 *     v       = sum over the windows around p of causal_weight[u] x known value of unit u there
 *     spread  = largest less smallest known value of the four at its sides, in six bins
 *     place   = one of 16 bins of T / 4 each: of |v| for significance, of v for a sign, of v in the
 *               level's direction less the middle of its interval for refinements
 *     logit  += causal_logit[class of kind and band][6 place + spread]
 *
 * Where an image ends, the window on the other side stands in for the one that is missing. All that
 * counts is within the image, so that who goes in which part of a plane does too.
 *
 * Most of a pass says nothing new: a level that stays 0 changes no value. So logits are made before
 * the pass, at all positions at once, as if it were to say nothing, and once more at those whose
 * neighbours say something: one in seven. */
#ifndef CODEC_CAUSAL_H
#define CODEC_CAUSAL_H
#include "codec/bitplane/group.h"

typedef struct codec_causal {
    int on;         /* the pass in work looks at itself */
    int32_t *known; /* [n] values of its unit, in 1/16 of the threshold after it; NULL: no pass of
                       this group looks at itself */
    int32_t *left, *right; /* [n] known to the left and right of each, or what stands in for it */
    int32_t *logit; /* [n] what that adds to logits of magnitude bits, before the pass. Where sums
                       are too wide to be made at once: not made, and all are stale */
    uint8_t *stale; /* [n] the pass has said what counts here: context[] does not hold */
    int32_t centre[CODEC_RECON_LEVELS + 1]; /* of intervals after the pass by level, 1/256 */
    int32_t *room;                          /* where the values and logits lie */
} codec_causal;

/* Memory for a group that has neighbours. On failure nothing is held. */
taper_status codec_causal_begin(codec_causal *causal, const codec_group *group);
void codec_causal_end(codec_causal *causal); /* where nothing is held: fine */
/* Bytes of it, at most. */
uint64_t codec_causal_bytes(uint64_t positions);

/* Has this unit's pass a causal template? */
static inline int codec_causal_is_unit(const codec_causal *causal, uint32_t u) {
    return causal->known && u < CODEC_CAUSAL_UNITS;
}

/* The windows around one, all of its image: left, right, up, down, left and right above, left and
 * right below. */
void codec_causal_around(const codec_group *group, uint32_t p, uint32_t around[CODEC_AROUND]);

/* Before the group's next pass, of such a unit. */
void codec_causal_predict(codec_causal *causal, const codec_group *group);

/* The context of position p's next bit of this kind, below CODEC_CAUSAL_CONTEXTS. */
uint32_t codec_causal_context(const codec_causal *causal, const codec_group *group, uint32_t p,
                              codec_kind kind);

/* What it adds to the bit's logit, in 1/4096; 0 where a window has no neighbours. */
int32_t codec_causal_logit(const codec_causal *causal, const codec_group *group, uint32_t p,
                           codec_kind kind);

/* The pass has said that the level at p, not 0, is this: from now on it is known, and what was
 * predicted for those after it whose template holds it is stale. */
void codec_causal_settle(codec_causal *causal, const codec_group *group, uint32_t p, int32_t level);

/* Which causal class: kinds of bands. */
static inline uint32_t codec_causal_class(codec_kind kind, uint32_t unit) {
    return (uint32_t)kind * CODEC_CAUSAL_BANDS + codec_band(unit);
}

#endif
