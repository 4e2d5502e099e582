/* causal.h -- the causal template: contexts see what their own pass has decoded. The first units of
 * windows are smooth over an image: brightness and colour of a window lie between its neighbours'.
 * Their bits depend on a value, not on a magnitude. The windows to the left and above give the
 * value that this pass has decoded, the others that of the passes before.
 *
 * For a bit of unit u at position p, T being the threshold after it, all values in 1/16 T:
 *
 *     v       = sum over the windows around p of causal_weight[u] x known value of unit u there
 *     spread  = largest less smallest known value of the four at its sides, in six bins
 *     place   = one of 16 bins of T / 4 each: of |v| for significance, of v for a sign, of v in the
 *               level's direction less the middle of its interval for refinements
 *     logit  += causal_logit[class of kind and band][6 place + spread]
 *
 * Where an image ends, the window on the opposite side stands in for the missing one. Everything
 * stays within the image, also which positions go in which fraction of a plane.
 *
 * Most of a pass changes no value: a level stays 0. So logits are made for all positions at once
 * before the pass, as if nothing were to change, and again where a neighbour has changed: at one in
 * seven. The template's windows are those of codec_causal_around, codec_causal_context,
 * codec_causal_predict and codec_causal_update alike. */
#ifndef CODEC_CAUSAL_H
#define CODEC_CAUSAL_H
#include "codec/bitplane/group.h"

typedef struct codec_causal {
    int on;         /* the pass in work has a causal template */
    int32_t *known; /* [n] values of its unit, 1/16 of the threshold after it; NULL: in no pass */
    int32_t *left, *right; /* [n] known to the left and right of each, or what stands in for it */
    int32_t *logit; /* [n] what that adds to logits of magnitude bits, before the pass; not made
                       where sums are too wide to be made at once: all are stale then */
    uint8_t *stale; /* [n] the pass has changed the template: context[] does not hold */
    int32_t centre[CODEC_RECON_LEVELS + 1]; /* of intervals after the pass by level, 1/256 */
    int32_t *memory;                          /* where the values and logits lie */
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

/* The windows around p, all of its image: left, right, up, down, left and right above, left and
 * right below. */
void codec_causal_around(const codec_group *group, uint32_t p, uint32_t around[CODEC_AROUND]);

/* Before the group's next pass, of such a unit. */
void codec_causal_predict(codec_causal *causal, const codec_group *group);

/* The context of position p's next bit of this kind, below CODEC_CAUSAL_CONTEXTS. */
uint32_t codec_causal_context(const codec_causal *causal, const codec_group *group, uint32_t p,
                              codec_kind kind);

/* What the template adds to the bit's logit, in 1/4096; 0 where a window has no neighbours. */
int32_t codec_causal_logit(const codec_causal *causal, const codec_group *group, uint32_t p,
                           codec_kind kind);

/* The pass has decoded a level at p that is not 0: it is known from now on, and predictions whose
 * template holds it are stale. */
void codec_causal_update(codec_causal *causal, const codec_group *group, uint32_t p, int32_t level);

/* The causal class. */
static inline uint32_t codec_causal_class(codec_kind kind, uint32_t unit) {
    return (uint32_t)kind * CODEC_CAUSAL_BANDS + codec_band(unit);
}

#endif
