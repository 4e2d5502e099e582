/* significance.h -- the contexts of the significance bits of a pass, all positions at once. These
 * are most of the bits. contexts.h defines features and logits; refinements and signs are there. */
#ifndef CODEC_SIGNIFICANCE_H
#define CODEC_SIGNIFICANCE_H
#include "codec/bitplane/group.h"

/* The weights, in `near`, of the units at distance 1, 2, .. on either side. */
enum { CODEC_NEAR = 8, CODEC_FAR = 6 };
extern const uint8_t codec_near_weight[CODEC_NEAR];

/* The bin, 0 .. CODEC_BINS - 1, of a logit in 1/4096: in steps of 1/4 around 0. */
CODEC_INLINE int32_t codec_bin_of_logit(int32_t logit) {
    int32_t bin = (logit + CODEC_BINS / 2 * 1024 + 512) / 1024;
    return logit < -CODEC_BINS / 2 * 1024 ? 0 : bin >= CODEC_BINS ? CODEC_BINS - 1 : bin;
}

/* Turn sums of |x| / scale into log features, in place: clamp(codec_log16(sum) + from). */
void codec_log_features(uint16_t *values, int16_t from, uint32_t n);

/* One pass. Arrays have group->stride elements, of which the first n are defined. */
typedef struct codec_significance {
    const codec_group *group; /* with norms; its next pass is this one */
    const uint16_t *zeros;    /* zeros */
    const uint16_t *value;    /* feature 3: -511 .. 511 as 16 bits */
    const int32_t *more;      /* added to the logits: the term of the conditional model */
    const int32_t *causal;    /* added only for the contexts: the term of the causal template */
    uint16_t *feature[3];     /* set: features 0 to 2, of all positions */
    int32_t *logit;           /* set: logits with `more` and without `causal` */
    /* Set: class * CODEC_BINS + bin, or 0xFFFF where the pass skips the position. If the pass
     * refines, it is not defined for levels other than 0. */
    uint16_t *context;
} codec_significance;

typedef struct codec_significance_kernel {
    const char *name;
    int (*runs)(void); /* nonzero: this processor supports it */
    void (*contexts)(const codec_significance *s);
} codec_significance_kernel;

/* All kernels, the fastest first. The last is the reference implementation, which always runs. */
const codec_significance_kernel *codec_significance_kernels(size_t *n);

/* Run the first kernel that runs on this processor. */
void codec_significance_contexts(const codec_significance *s);

#endif
