/* rbm.h -- restricted Boltzmann machines (RBMs) and stacks of them, which pretrain the layers of a
 * network without labels. Source: Salakhutdinov & Hinton 2007, section 3; Hinton & Salakhutdinov
 * 2006.
 *
 * A machine has visible units v, hidden units h and weights W between them:
 *     Bernoulli    p(h_j = 1) = logistic(c_j + sum of W_ji v_i)     p(v_i = 1) likewise from h, b
 *     Gaussian     h_j is normal of variance 1 about c_j + sum of W_ji v_i; v_i likewise
 * A stack is trained from the bottom: the means of a machine's hidden units are the data of the
 * next machine.
 *
 * Directory train/rbm/: layer-by-layer pretraining.
 *   rbm                       this header
 *   rbm_trainer rbm_options   the loop over layers and epochs; its options
 *   rbm_layer                 a layer on a device, and its updates
 *   contrastive denoising     the two training methods: the gradient of a batch
 *   rbm_rows                  the training data of a layer
 *   rbm_unroll                a stack as a network */
#ifndef TRAIN_RBM_H
#define TRAIN_RBM_H
#include "codec/transform/network.h"
#include "train/sampling/corruption.h"

typedef struct train_rbm {
    uint32_t visible, hidden; /* numbers of units */
    train_states visible_states, hidden_states;
    float *weight;       /* [hidden][visible] W; the biases follow it in memory */
    float *hidden_bias;  /* [hidden] c */
    float *visible_bias; /* [visible] b */
} train_rbm;

/* The hidden units of machine i are the visible units of machine i + 1, and are Bernoulli. Pixels
 * y enter as y / 255. */
typedef struct train_rbm_stack {
    uint32_t layers; /* 0: none has been trained */
    train_rbm rbm[CODEC_MAX_LAYERS];
} train_rbm_stack;

/* Parameters of a machine: weights, hidden biases, visible biases. */
static inline size_t train_rbm_numbers(const train_rbm *rbm) {
    return (size_t)rbm->hidden * rbm->visible + rbm->hidden + rbm->visible;
}

/* All zero. Counts are at least 1. TAPER_ERR_NOMEM: nothing is held. */
taper_status train_rbm_alloc(train_rbm *rbm, uint32_t visible, uint32_t hidden,
                             train_states visible_states, train_states hidden_states);
void train_rbm_free(train_rbm *rbm);               /* leaves it zeroed; zeroed is fine */
void train_rbm_stack_free(train_rbm_stack *stack); /* likewise */

/* The activation that gives the mean of such units. */
static inline codec_activation train_mean_of(train_states states) {
    return states == TRAIN_GAUSSIAN ? CODEC_LINEAR : CODEC_LOGISTIC;
}

#endif
