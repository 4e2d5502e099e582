/* conditional_loss.h -- the loss of a conditional model or a head at one stage of a batch, with its
 * gradient. */
#ifndef TRAIN_CONDITIONAL_LOSS_H
#define TRAIN_CONDITIONAL_LOSS_H
#include "train/conditional/conditional_batch.h"
#include "train/optimise/steps.h"

typedef struct train_conditional_loss {
    train_conditional_network *net; /* borrowed, and so are the next two */
    const codec_code_tables *tables;
    const uint32_t *begin; /* [stages + 1] first pass of each stage, and one past the last */
    uint32_t longest;      /* passes of a stage, at most */
    /* scratch */
    int8_t *seen;
    train_conditional_bit *bit; /* [room][longest] */
    float *output;              /* of the network, then their gradients */
    uint32_t *unit;             /* that outputs are asked of */
    train_steps_sums *sum;      /* [blocks of rows] */
    float *dbias;               /* [blocks of rows][kinds][longest] */
    float *known;               /* head: [room][units] codes as decoded */
    float *uncertainty; /* head: [units][2] in this state; [1]: where the next plane is known */
} train_conditional_loss;

/* For batches of at most net->room windows. TAPER_ERR_NOMEM; nothing is held then. */
taper_status train_conditional_loss_create(train_conditional_loss *loss,
                                           train_conditional_network *net,
                                           const codec_code_tables *tables, const uint32_t *begin);
void train_conditional_loss_free(train_conditional_loss *loss); /* leaves it zeroed */

/* Conditional model: bits of the stage's passes, times weight; adds to the network's gradient. */
taper_status train_conditional_add_bits(train_conditional_loss *loss,
                                        train_conditional_batch *batch, uint32_t stage,
                                        double weight, train_steps_sums *sum);

/* Head: squared error of the codes as a decoder has them after `pass` passes, within the stage,
 * relative to that without a head, times weight. Units weigh as their errors do in pixels. */
taper_status train_conditional_add_errors(train_conditional_loss *loss,
                                          train_conditional_batch *batch, uint32_t stage,
                                          uint32_t pass, double weight, train_steps_sums *sum);

#endif
