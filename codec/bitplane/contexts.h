/* contexts.h -- the probability of the next bit. (code_tables.h defines the order of bits;
 * chunk_coder.h codes them.)
 *
 * Before a pass every position gets a context: the index of an adaptive probability. A logistic
 * regression over values known to encoder and decoder gives a logit. The context is the logit's
 * bin, one of CODEC_BINS, within the class of the bit (its kind and the band of its unit). The
 * inputs, in 1/16 octave (or 1/16 threshold), are
 *
 *     0        near: weighted mean of known |x| / scale over units u-8 .. u+8 of the window, times
 *              scale / T
 *     1        far: the same over units 10 to 38 away
 *     2        neighbours: mean over the four neighbouring windows, of the same unit
 *     3        magnitude of the value that is predicted from the neighbours' first units
 *     4, 5, 6  squares of 0, 1, 2
 *     7        for refinements: predicted value minus the middle of the interval, in thresholds
 *
 * For signs, 0 and 1 are the predicted value with a wide and a narrow clamp. Inputs are values
 * known before the pass, so all bits of a pass are predicted at once.
 *
 * A pass for a fraction of a plane skips positions (CODEC_SKIP): those of earlier fractions and,
 * unless it is the last fraction, those whose level is not 0 or whose bin is below
 * tables->least[fraction].
 *
 * Where no causal template is in use, positions go in blocks of CODEC_BLOCK. A block of unlikely
 * significance bits begins with a flag (context_model.h).
 *
 * A conditional model (conditional.h) adds a logit to each bit, also to signs. The causal template
 * (causal.h) adds what the pass has decoded so far. For that, some contexts of the first units are
 * computed again when their position is reached. */
#ifndef CODEC_CONTEXTS_H
#define CODEC_CONTEXTS_H
#include "codec/bitplane/context_model.h"
#include "codec/bitplane/significance.h"

/* Fill model->context for the group's next pass. */
void codec_contexts_predict(codec_context_model *model, const codec_group *group);

/* The context of the next magnitude bit at p, computed again, or CODEC_SKIP. */
uint32_t codec_contexts_refresh(const codec_context_model *model, const codec_group *group,
                                uint32_t p);

/* The context of the next magnitude bit at p, or CODEC_SKIP. Call for one position after the other.
 * model->context[p] is no longer CODEC_STALE afterwards. */
static inline uint32_t codec_contexts_at(const codec_context_model *model, const codec_group *group,
                                         uint32_t p) {
    if (model->context[p] == CODEC_STALE)
        model->context[p] = (uint16_t)codec_contexts_refresh(model, group, p);
    return model->context[p];
}
/* Report the level at p after the pass. Call before the next position. */
static inline void codec_contexts_update(codec_context_model *model, const codec_group *group,
                                         uint32_t p, int32_t level) {
    if (level && model->causal.on)
        codec_causal_update(&model->causal, group, p, level, model->context);
}

/* The bit of the flag of block k, or NULL: it has none. */
static inline codec_bit *codec_contexts_flag(codec_context_model *model, const codec_group *group,
                                             uint32_t k) {
    uint32_t class = codec_class(CODEC_SIGNIFICANCE, group->tables->pass[group->pass].unit),
             first = class * CODEC_BINS + 1, most = model->most[k];
    return most >= first && most <= first + CODEC_FLAG_BIN ? &model->flag[class][most - first]
                                                           : NULL;
}

/* The context of the sign at position p, whose level was 0 before the pass. Only if signs are
 * predicted. Computed one by one, as few positions of a pass need it. */
uint32_t codec_contexts_sign(const codec_context_model *model, const codec_group *group,
                             uint32_t p);

/* The inputs of the logit of the next bit at position p, to train the weights. Call after
 * codec_contexts_predict. kind: the kind for the level at p, or CODEC_SIGN. */
void codec_contexts_features(const codec_context_model *model, const codec_group *group, uint32_t p,
                             codec_kind kind, int32_t feature[CODEC_FEATURES]);

/* The sum, in 1/4096, that the conditional model and the causal template add to that logit. */
int32_t codec_contexts_extra(const codec_context_model *model, const codec_group *group, uint32_t p,
                             codec_kind kind);

/* The logit of these inputs in this class, in 1/4096. */
int32_t codec_contexts_logit(const codec_code_tables *tables, uint32_t class,
                             const int32_t feature[CODEC_FEATURES]);

/* The bin, 0 .. CODEC_BINS - 1, of that logit plus `extra`. */
uint32_t codec_contexts_bin(const codec_code_tables *tables, uint32_t class,
                            const int32_t feature[CODEC_FEATURES], int32_t extra);

/* Nonzero if values of unit u are predicted from the neighbours' first units. */
static inline int codec_value_is_predicted(const codec_group *group, uint32_t u) {
    return group->signed_norm && u < CODEC_SIGNED_UNITS;
}
/* Nonzero if the signs of unit u's pass are predicted; otherwise their probability is 1/2. */
static inline int codec_sign_is_predicted(const codec_context_model *model,
                                          const codec_group *group, uint32_t u) {
    return group->tables->conditional || codec_value_is_predicted(group, u) ||
           codec_causal_is_unit(&model->causal, u);
}

#endif
