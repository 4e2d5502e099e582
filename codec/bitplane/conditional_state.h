/* conditional_state.h -- the evaluation of a conditional model on a group: its inputs so far, and
 * its predictions for the next pass. Encoder and decoder have the same state. */
#ifndef CODEC_CONDITIONAL_STATE_H
#define CODEC_CONDITIONAL_STATE_H
#include "codec/bitplane/conditional_inputs.h"

struct codec_pool;

typedef struct codec_conditional_state {
    const codec_conditional *model; /* borrowed */
    codec_input_changes changes;    /* not in `sum` yet */
    int32_t *sum;                   /* [n][hidden] sums of the first layer */
    uint8_t *hidden;                /* [n][hidden] h2 of the current stage */
    /* [stride / 64] the same, as matrices of quads (int8_dot.h) of 64 positions each. */
    uint8_t *columns;
    uint32_t stride; /* n, rounded up to a multiple of 64 */
    int8_t *seen;    /* [own][n] the inputs a that `sum` contains */
    /* [own] the depth and fraction of these inputs. */
    uint8_t *planes, *fractions;
    /* [stride + 16] logits of the next pass's magnitude bits, in 1/4096. For levels other than 0,
     * only if the pass refines them. */
    int32_t *logit;
    /* [hidden] weights of the pass's signs; NULL: signs are not predicted. */
    const int8_t *sign;
    uint8_t sign_shift;
    int32_t sign_bias;
    uint32_t stages;    /* started so far */
    uint32_t seen_pass; /* passes before this one changed nothing that `seen` lacks */
} codec_conditional_state;

/* Lay out the state for n positions. Laid out again, its progress stays. */
void codec_conditional_lay_out(codec_conditional_state *state, const codec_conditional *model,
                               uint32_t n, codec_group_layout *at);
/* Return to the state before the first pass, for the same n positions. */
void codec_conditional_reset(codec_conditional_state *state, uint32_t n);

/* Nonzero if passes of the group are still predicted: then `seen` is needed. */
int codec_conditional_is_needed(const codec_conditional_state *state, const codec_group *group);
/* Make the other arrays, which are zeroed, from planes, fractions and `seen`: as they were before
 * the group's next pass was predicted, or after. */
void codec_conditional_resume(codec_conditional_state *state, const codec_group *group,
                              struct codec_pool *pool);

/* Fill logit[] for the group's next pass, and prepare codec_conditional_sign. Passes must ascend;
 * some may be omitted. pool: threads for large groups; may be NULL. */
void codec_conditional_predict(codec_conditional_state *state, const codec_group *group,
                               struct codec_pool *pool);

/* The logit of that pass's sign at position p, in 1/4096. */
int32_t codec_conditional_sign(const codec_conditional_state *state, uint32_t p);

/* The network's input a for a level q >= 0 of unit u at a depth: 0 .. 127. */
int32_t codec_conditional_seen(const codec_code_tables *tables, uint32_t u, uint32_t depth,
                               uint32_t q);
/* The steps of a stage. codec_conditional_border: a bit mask of the neighbours of p that exist:
 * left, right, up, down. codec_conditional_bias: the biases of a stage for such a mask.
 * codec_conditional_layers: h2[hidden] of one position. */
uint32_t codec_conditional_border(const codec_group *group, uint32_t p);
void codec_conditional_bias(const codec_conditional *model, uint32_t stage, uint32_t border,
                            int32_t *bias);
void codec_conditional_layers(const codec_conditional *model, const int32_t *sum,
                              const int32_t *bias, uint8_t *h2);

#endif
