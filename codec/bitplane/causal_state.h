/* causal_state.h -- what a group keeps for passes that look at themselves; see causal.h. */
#ifndef CODEC_CAUSAL_STATE_H
#define CODEC_CAUSAL_STATE_H
#include "codec/bitplane/code_tables.h"

typedef struct codec_causal_state {
    int on;         /* the pass in work looks at itself */
    int32_t *known; /* [n] values of its unit, in 1/16 of the threshold after it; NULL: no pass of
                       this group looks at itself */
    int32_t *left, *right; /* [n] known to the left and right of each, or what stands in for it */
    int32_t *logit; /* [n] what that adds to logits of magnitude bits, before the pass. Where sums
                       are too wide to be made at once: not made, and all are stale */
    uint8_t *stale; /* [n] the pass has said what counts here: context[] does not hold */
    int32_t centre[CODEC_RECON_LEVELS + 1]; /* of intervals after the pass by level, 1/256 */
    int32_t *room;                          /* where the values and logits lie */
} codec_causal_state;

#endif
