/* context_model.h -- the state of the contexts: adaptive probabilities, the predictors' state, and
 * temporary arrays. The predictors read a group (group.h), which is a separate argument; contexts.h
 * defines the prediction. Encoder and decoder have the same state. */
#ifndef CODEC_CONTEXT_MODEL_H
#define CODEC_CONTEXT_MODEL_H
#include "codec/bitplane/causal.h"
#include "codec/bitplane/conditional_state.h"
#include "codec/entropy/range_coder.h"

/* A pass of a unit without a causal template is coded in blocks of this many positions. If all
 * bits of a block are of significance, with bins up to CODEC_FLAG_BIN, a flag comes first: 0 says
 * that all are 0. Most positions are in such blocks. */
enum { CODEC_BLOCK = 16, CODEC_FLAG_BIN = 20 };

/* Instead of a context: the position is not in this pass. */
enum { CODEC_SKIP = CODEC_RC_NO_BIT };

/* Zeroed for a binary model, whose bits have no contexts. */
typedef struct codec_context_model {
    /* Borrowed; threads for large groups. NULL: the caller's thread only. */
    struct codec_pool *pool;
    codec_bit bit[CODEC_CLASSES][CODEC_BINS]; /* adaptive probabilities */
    /* By class and bin of significance bits: the flag of a block whose greatest bin this is; and
     * the bits of blocks whose flag is 1. */
    codec_bit flag[CODEC_BANDS][CODEC_BINS], within[CODEC_BANDS][CODEC_BINS];
    codec_causal causal;
    codec_conditional_state conditional; /* in use if tables->conditional is not NULL */
    /* For the current pass, by codec_contexts_predict: */
    /* [stride] index into bit: class * CODEC_BINS + bin; or CODEC_SKIP or CODEC_STALE. */
    uint16_t *context;
    /* [stride / CODEC_BLOCK] of each block of positions: the greatest context plus 1; 0: the block
     * is skipped. Set for passes with flags. */
    uint16_t *most;
    int has_flags;
    uint16_t *feature[4]; /* [stride] inputs of the logits */
    int32_t *logit;       /* [stride] of magnitude bits, without causal.logit */
    int32_t *value;       /* [stride] predicted from neighbours' first units; NULL: no neighbours */
    int32_t *from_side;   /* [stride] the contribution of one side's neighbours; or NULL */
    int32_t *zeros;       /* [stride] zeros, for logits without a term */
} codec_context_model;

/* Lay out the state for a group that is laid out, too. *model begins zeroed. */
void codec_context_model_lay_out(codec_context_model *model, const codec_group *group,
                                 codec_group_layout *at);
/* Set the state before the first pass, or return to it. */
void codec_context_model_reset(codec_context_model *model, const codec_group *group);

#endif
