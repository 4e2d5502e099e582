/* nested_network.h -- the autoencoders of Rippel, Gelbart & Adams (2014), in training.
 *
 * Widths D = w_0, w_1, ..., w_L = K inwards and back again. Rows y of D pixel values enter as
 * c = (y - mean) / scale (section 4; one scale for all pixels, so that squared error keeps its
 * meaning), where `scale` is the data's standard deviation around the mean:
 *     h_0 = c,  h_l = act(W_l h_(l-1) + b_l)  for l < L,       hidden activation
 *     a = W_L h_(L-1) + b_L,                                   pre-activation of the code
 *     x = code(a): linear, ReLU or logistic; binary: 1 where a > 0, else 0, less `centre`
 *         (section 4.3; centre 0 is the paper's, beta makes a unit that is not sent its mean)
 *     x_(k > b) = 0                                            the b-truncation (equation 1)
 *     g_L = x,  g_(l-1) = act(V_l^T g_l + c_l),  the last one linear: y_hat = mean + scale g_0
 * and the loss of a row is |g_0 - c|^2 / D. Tied networks have V_l = W_l.
 *
 * Binary units. b_L is not trained by gradients: it is minus the threshold, which follows the
 * (1 - beta)-quantile of a from batch to batch (train_follow_quantiles_fn), so that x ~
 * Bernoulli(beta); at the end of training it is exact. Through the threshold goes no gradient, as
 * in the paper (a tied encoder moves with its decoder), or `straight-through` that of a logistic
 * curve as wide as the unit's values are spread: p (1 - p) 2 / w, p = 1 / (1 + exp(-2 a / w)), w =
 * mean |a|.
 *
 * Feedback. A binary unit may see what the units before it have left of its input (decision
 * feedback, Austin 1967): in order,
 *     a_k = w_k (h_(L-1) - sum_(j<k) x_j v_j) = (W_L h_(L-1))_k - sum_(j<k) T_kj x_j
 * is what its threshold is compared with, T being W_L V_L^T below its diagonal, which no gradient
 * goes through. Of one layer a code is then refined from unit to unit: each codes the error of the
 * reconstruction so far. The first `alone` units see none: T_kj = 0 of k < alone.
 *
 * Mixing. Refitted (refit.h), a binary network of one untied layer, with feedback or without, mixes
 * its code before decoding: z_k = x_k + sum_(j<k) M_kj x_j stands for x_k in g_L, which lets the
 * decoder know how long a code is.
 *
 * Sweeping. Units below `frozen` are no longer trained: the gradient of their rows of W_L, b_L and
 * V_L is neither computed nor touched. Units from `active` on (the longest truncation among the
 * rows) take no part. Both make a step of the same truncations cheaper; a sweep draws longer ones.
 * Layers below the code go on learning, so that what frozen units see still changes.
 *
 * All trained numbers lie in one vector: for l = 1 .. L: W_l [w_l][w_(l-1)], b_l [w_l],
 * V_l [w_l][w_(l-1)] if untied, c_l [w_(l-1)]. They lie on a device, as all arrays of a network do.
 * One network belongs to one thread; its device may spread each call. */
#ifndef TRAIN_NESTED_NETWORK_H
#define TRAIN_NESTED_NETWORK_H
#include "train/nested/nested_activations.h"
#include "train/optimise/weights.h"

/* Views of layer l (from 0) in a parameter or gradient vector, on the device. */
typedef struct train_nested_layer {
    uint32_t inputs, outputs;
    float *w, *b; /* encoder [outputs][inputs], [outputs] */
    float *v, *c; /* decoder [outputs][inputs] (w when tied), [inputs] */
} train_nested_layer;

enum { TRAIN_NESTED_LENGTHS = 128 }; /* code lengths whose errors come down at once */

typedef struct train_nested_network {
    train_nested_shape shape;
    uint32_t units; /* K */
    float scale;
    train_stream stream;
    train_arena arena;
    float *mean;           /* [D] */
    train_weights weights; /* without moments, which a trainer lends it (nested_trainer.c) */
    train_nested_layer layer[TRAIN_NESTED_MAX_LAYERS], layer_gradient[TRAIN_NESTED_MAX_LAYERS];
    float *spread;   /* [K] binary: running mean |a|, the width of the straight-through curve; below
                        0: none yet, and 1 stands for it */
    float *feedback; /* [K][K] T, of the weights as they were when it was made; NULL without */
    float *mixing;   /* [K][K] M; NULL unless train_nested_can_mix */
    int mixed;       /* 1: M is used (refit.h); else it holds nothing */
    double *losses;  /* [4] room for those of a step (nested_gradient.h) */
    double *squares; /* [TRAIN_NESTED_LENGTHS] room for errors of a look (nested_errors.c) */
    uint32_t frozen; /* units no longer trained */
    train_nested_activations act;
} train_nested_network;

/* A network with random weights: normal, of variance 1 / (2 inputs) for a single layer, 2 / inputs
 * else (He et al. 2015), biases 0. The device is borrowed; mean[D] is the host's, and copied.
 * TAPER_ERR_ARG: widths or scale out of range; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; nothing is held
 * then. */
taper_status train_nested_create(train_nested_network *net, const train_nested_shape *shape,
                                 train_device *device, const float *mean, float scale,
                                 uint64_t seed);
void train_nested_free(train_nested_network *net); /* leaves it zeroed; zeroed is fine */

/* T from the weights as they are; nothing without feedback. Before each step, and before codes
 * are taken. */
taper_status train_nested_feed_back(train_nested_network *net);
/* Before a step: gradient to 0. */
taper_status train_nested_zero(train_nested_network *net);
#endif
