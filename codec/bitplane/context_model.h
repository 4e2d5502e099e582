/* context_model.h -- the source of probabilities: adaptive ones by context, the predictors' state,
 * and scratch. Predictors read a group (group.h), which is passed besides; contexts.h says how they
 * predict. Encoder and decoder keep it alike. */
#ifndef CODEC_CONTEXT_MODEL_H
#define CODEC_CONTEXT_MODEL_H
#include "codec/bitplane/causal.h"
#include "codec/bitplane/conditional_state.h"
#include "codec/entropy/range_coder.h"

enum { CODEC_SKIP = 0xFFFF /* in place of a context: the position does not go in this pass */ };

/* Of a binary model nothing is held: its bits have no contexts. */
typedef struct codec_context_model {
    struct codec_pool *pool; /* borrowed, for large groups; NULL: the caller's thread alone */
    codec_bit bit[CODEC_CLASSES][CODEC_BINS]; /* probabilities that adapt */
    codec_causal causal;
    codec_conditional_state conditional; /* at work where tables->conditional is not NULL */
    /* of the pass in work, by codec_contexts_predict */
    uint16_t *context;    /* [n] index into bit: class * CODEC_BINS + bin; or CODEC_SKIP. Not valid
                             where causal.stale says so */
    uint16_t *feature[4]; /* [stride] of the positions' logits */
    int32_t *logit;       /* [stride] of magnitude bits, but for causal.logit */
    int32_t *value;     /* [stride] predicted from neighbours' first units; NULL: there are none */
    int32_t *from_side; /* [stride] the contribution of one side's neighbours; likewise */
    int32_t *zeros;     /* [stride] in place of what adds nothing to logits */
} codec_context_model;

/* For so many positions; saturates. */
uint64_t codec_context_model_bytes(const codec_code_tables *tables, uint64_t positions);

/* State before the first pass of this group. On failure (TAPER_ERR_NOMEM) nothing is held. */
taper_status codec_context_model_alloc(codec_context_model *model, const codec_group *group);
void codec_context_model_free(codec_context_model *model); /* leaves it zeroed */
/* Back to that state. */
void codec_context_model_reset(codec_context_model *model, const codec_group *group);

#endif
