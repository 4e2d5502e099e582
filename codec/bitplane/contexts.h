/* contexts.h -- with what probability: the middle of "which bit next" (order), "with what
 * probability" (here) and "write it" (chunk_coder).
 *
 * Before a pass every position gets a context, the index of an adaptive probability. A logistic
 * regression over what both sides know gives a logit; the context is its bin, of CODEC_BINS, within
 * the class of the bit (its kind and the band of its unit). The inputs, in 1/16 octave (or 1/16
 * threshold), are
 *
 *     0        near: weighted mean of known |x| / scale over units u-8 .. u+8 of the window, times
 *              scale / T
 *     1        far: the same over units 10 to 38 away
 *     2        neighbours: mean over the four neighbouring windows, of the same unit
 *     3        signed magnitude of the value predicted from the neighbours' first units
 *     4, 5, 6  squares of 0, 1, 2
 *     7        of refinements: predicted value less the middle of the interval, in thresholds
 *
 * For signs 0 and 1 are the predicted value, clamped widely and narrowly. Inputs are what was known
 * before the pass, so all of a pass is predicted at once.
 *
 * A pass that is a fraction of a plane skips positions (CODEC_SKIP): those of earlier fractions
 * and, unless it is the last, those whose level is not 0 or whose bin is below
 * tables->least[fraction].
 *
 * A conditional model (conditional.h) adds a logit to each bit, signs included. The causal template
 * (causal.h) adds what the pass has decoded so far: some contexts of the first units are made again
 * when their position comes. */
#ifndef CODEC_CONTEXTS_H
#define CODEC_CONTEXTS_H
#include "codec/bitplane/context_model.h"

/* Weights in `near` of the units 1, 2, .. away on either side. */
enum { CODEC_NEAR = 8 };
extern const uint8_t codec_near_weight[CODEC_NEAR];

/* Make ready for the group's next pass: fill model->context. */
void codec_contexts_predict(codec_context_model *model, const codec_group *group);

/* codec_contexts_at where the causal template has changed. */
uint32_t codec_contexts_refresh(const codec_context_model *model, const codec_group *group,
                             uint32_t p);

/* Then, position by position: the context of p's next magnitude bit, or CODEC_SKIP. */
static inline uint32_t codec_contexts_at(const codec_context_model *model, const codec_group *group,
                                         uint32_t p) {
    return model->causal.on && model->causal.stale[p] ? codec_contexts_refresh(model, group, p)
                                                      : model->context[p];
}
/* The level of p after the pass; to be called before the next position. */
static inline void codec_contexts_update(codec_context_model *model, const codec_group *group,
                                         uint32_t p, int32_t level) {
    if (level && model->causal.on) codec_causal_update(&model->causal, group, p, level);
}

/* The context of a sign at position p, of level 0 before the pass; only where signs are predicted.
 * Made one by one: few positions of a pass need it. */
uint32_t codec_contexts_sign(const codec_context_model *model, const codec_group *group,
                             uint32_t p);

/* The inputs of position p's logit for its next bit, after codec_contexts_predict: for learning the
 * weights. kind: as the level at p demands; CODEC_SIGN for the sign. */
void codec_contexts_features(const codec_context_model *model, const codec_group *group, uint32_t p,
                             codec_kind kind, int32_t feature[CODEC_FEATURES]);

/* What the conditional model and the causal template add to that logit, in 1/4096. */
int32_t codec_contexts_extra(const codec_context_model *model, const codec_group *group, uint32_t p,
                             codec_kind kind);

/* The logit that these inputs make in this class, in 1/4096. */
int32_t codec_contexts_logit(const codec_code_tables *tables, uint32_t class,
                             const int32_t feature[CODEC_FEATURES]);

/* Bin, 0 .. CODEC_BINS - 1, of that logit and `extra`. */
uint32_t codec_contexts_bin(const codec_code_tables *tables, uint32_t class,
                            const int32_t feature[CODEC_FEATURES], int32_t extra);

/* Is a value of unit u predicted from the neighbours' first units? */
static inline int codec_value_is_predicted(const codec_group *group, uint32_t u) {
    return group->signed_norm && u < CODEC_SIGNED_UNITS;
}
/* Are the signs of unit u's pass predicted (or sent as plain bits)? */
static inline int codec_sign_is_predicted(const codec_context_model *model,
                                          const codec_group *group, uint32_t u) {
    return group->tables->conditional || codec_value_is_predicted(group, u) ||
           codec_causal_is_unit(&model->causal, u);
}

#endif
