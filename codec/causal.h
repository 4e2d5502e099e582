/* causal.h -- passes that look at themselves. The first units of windows are smooth over an image:
 * brightness and colour of a window are nearly those between its neighbours'. What counts for their
 * bits is a value, not a magnitude, and the latest one: of the windows to the left and above what
 * this very pass has said, of the others what the passes before did (in context modelling: a causal
 * template). So these contexts are made position by position, while all others are made before a
 * pass.
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
 * counts is within the image, so that who goes in which part of a plane does too. */
#ifndef CODEC_CAUSAL_H
#define CODEC_CAUSAL_H
#include "group.h"

/* Do passes of this unit look at themselves? */
static inline int codec_causal_is_unit(const codec_group *group, uint32_t u) {
    return group->around && u < CODEC_CAUSAL_UNITS;
}

/* Fill group->around from its neighbours. */
void codec_causal_link(codec_group *group);

/* Before a pass of such a unit, or in the middle of one: group->known from all that is known. */
void codec_causal_begin(codec_group *group);

/* The context of position p's next bit of this kind, below CODEC_CAUSAL_CONTEXTS. */
uint32_t codec_causal_context(const codec_group *group, uint32_t p, codec_kind kind);

/* What it adds to the bit's logit, in 1/4096; 0 where a window has no neighbours. */
int32_t codec_causal_logit(const codec_group *group, uint32_t p, codec_kind kind);

/* level and ahead of p in the pass's unit have been set: from now on it is known. */
void codec_causal_settle(codec_group *group, uint32_t p);

/* Which causal class: kinds of bands. */
static inline uint32_t codec_causal_class(codec_kind kind, uint32_t unit) {
    return (uint32_t)kind * CODEC_CAUSAL_BANDS + codec_band(unit);
}

#endif
