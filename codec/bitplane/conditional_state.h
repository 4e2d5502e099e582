/* conditional_state.h -- a conditional model at work on a group: its inputs so far, and its
 * predictions for the next pass. Encoder and decoder keep it alike. */
#ifndef CODEC_CONDITIONAL_STATE_H
#define CODEC_CONDITIONAL_STATE_H
#include "codec/bitplane/conditional.h"
#include "codec/bitplane/group.h"

struct codec_pool;

typedef struct codec_conditional_state {
    const codec_conditional *model; /* borrowed */
    int32_t *sum;                   /* [n][hidden] of the first layer */
    uint8_t *hidden;                /* [n][hidden] h2 of the stage in work */
    uint8_t *columns;            /* [stride / 64] matrices of quads, 64 positions each: the same */
    uint32_t stride;             /* n, rounded up to a multiple of 64 */
    int8_t *seen;                /* [own][n] a, as it is in `sum` */
    uint8_t *planes, *fractions; /* [own] depth and fraction at which it was seen */
    int32_t *logit; /* [stride] of the next pass's magnitude bits, in 1/4096; for levels other than
                       0 only where the pass refines them */
    const int8_t *sign; /* [hidden] weights of its signs; NULL: they are not predicted */
    uint8_t sign_shift;
    int32_t sign_bias;
    uint32_t stages; /* begun so far */
} codec_conditional_state;

/* For n positions; saturates. */
uint64_t codec_conditional_bytes(const codec_conditional *model, uint64_t n);

/* Nothing is held on failure: TAPER_ERR_NOMEM. */
taper_status codec_conditional_begin(codec_conditional_state *state, const codec_conditional *model,
                                     uint32_t n);
void codec_conditional_end(codec_conditional_state *state); /* leaves it zeroed */
/* Back to the state after begin, for the same n positions. */
void codec_conditional_reset(codec_conditional_state *state, uint32_t n);

/* Fill logit[] for the group's next pass, and make ready for codec_conditional_sign. Passes must
 * come in order, but may be left out. pool: for large groups; may be NULL. */
void codec_conditional_predict(codec_conditional_state *state, const codec_group *group,
                               struct codec_pool *pool);

/* The logit of that pass's sign at position p, in 1/4096. */
int32_t codec_conditional_sign(const codec_conditional_state *state, uint32_t p);

/* The network's input a for a level q >= 0 of unit u at a depth: 0 .. 127. */
int32_t codec_conditional_seen(const codec_code_tables *tables, uint32_t u, uint32_t depth,
                               uint32_t q);
/* The window on a side of position p; group->n: none. */
uint32_t codec_conditional_neighbour(const codec_group *group, uint32_t p, uint32_t side);

/* The pieces of a stage. border: which of left, right, up and down of p exist, one bit each. bias:
 * the biases of a stage at such a border. layers: h2[hidden] of one position. */
enum { CODEC_CONDITIONAL_BORDERS = 16 };
uint32_t codec_conditional_border(const codec_group *group, uint32_t p);
void codec_conditional_bias(const codec_conditional *model, uint32_t stage, uint32_t border,
                            int32_t *bias);
void codec_conditional_layers(const codec_conditional *model, const int32_t *sum,
                              const int32_t *bias, uint8_t *h2);

#endif
