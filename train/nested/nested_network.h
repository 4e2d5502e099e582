/* nested_network.h -- the autoencoders of Rippel, Gelbart & Adams (2014), in training.
 *
 * Widths are D = w_0, w_1, ..., w_L = K in the encoder, and the reverse in the decoder. Rows y of D
 * pixel values enter as c = (y - mean) / scale (section 4). `scale` is the data's standard
 * deviation around the mean, the same for all pixels, so that squared error keeps its meaning:
 *     h_0 = c,  h_l = act(W_l h_(l-1) + b_l)  for l < L,       hidden activation
 *     a = W_L h_(L-1) + b_L,                                   pre-activation of the code
 *     x = code(a): linear, ReLU or logistic; binary: 1 where a > 0, else 0, minus `centre`
 *         (section 4.3; the paper has centre 0; centre beta makes an unsent unit equal its mean)
 *     x_(k > b) = 0                                            the b-truncation (equation 1)
 *     g_L = x,  g_(l-1) = act(V_l^T g_l + c_l),  the last one linear: y_hat = mean + scale g_0
 * The loss of a row is |g_0 - c|^2 / D. Tied networks have V_l = W_l.
 *
 * Binary units. b_L is not trained by gradients: it is the negative threshold, which tracks the
 * (1 - beta)-quantile of a from batch to batch (train_follow_quantiles_fn), so that x ~
 * Bernoulli(beta). At the end of training it is computed exactly. Either no gradient passes through
 * the threshold, as in the paper (a tied encoder then moves with its decoder). Or, with
 * `straight-through`, the gradient is that of a logistic curve as wide as the unit's values are
 * spread: p (1 - p) 2 / w, p = 1 / (1 + exp(-2 a / w)), w = mean |a|.
 *
 * Feedback. A binary unit may see the residual of the input after earlier units (decision feedback,
 * Austin 1967). In order of k,
 *     a_k = w_k (h_(L-1) - sum_(j<k) x_j v_j) = (W_L h_(L-1))_k - sum_(j<k) T_kj x_j
 * is compared with the threshold. T is W_L V_L^T below its diagonal, and no gradient passes through
 * it. With one layer, each unit codes the error of the reconstruction from the units before it. The
 * first `alone` units have no feedback: T_kj = 0 for k < alone.
 *
 * Mixing. After a refit (refit.h), a binary network of one untied layer mixes its code before
 * decoding: z_k = x_k + sum_(j<k) M_kj x_j replaces x_k in g_L. So the decoder depends on the
 * length of a code.
 *
 * Sweeping. Units below `frozen` are no longer trained: the gradient of their rows of W_L, b_L and
 * V_L is neither computed nor changed. Units from `active` on (the longest truncation of the rows)
 * are not computed. Both make a step cheaper at equal truncations; a sweep draws longer ones.
 * Layers below the code are still trained, so the inputs of frozen units still change.
 *
 * All trained parameters are in one vector on the device: for l = 1 .. L: W_l [w_l][w_(l-1)],
 * b_l [w_l], V_l [w_l][w_(l-1)] if untied, c_l [w_(l-1)]. A network belongs to one thread; its
 * device may use more threads within a call. */
#ifndef TRAIN_NESTED_NETWORK_H
#define TRAIN_NESTED_NETWORK_H
#include "train/nested/nested_activations.h"
#include "train/optimise/weights.h"

/* Views of layer l (from 0) in a parameter or gradient vector, on the device. */
typedef struct train_nested_layer {
    uint32_t inputs, outputs;
    float *w, *b; /* encoder [outputs][inputs], [outputs] */
    /* Decoder [outputs][inputs] (w when tied), [inputs]. */
    float *v, *c;
} train_nested_layer;

enum { TRAIN_NESTED_LENGTHS = 128 }; /* code lengths whose errors are downloaded at once */

typedef struct train_nested_network {
    train_nested_shape shape;
    uint32_t units; /* K */
    float scale;
    train_stream stream;
    train_arena arena;
    float *mean; /* [D] */
    /* Without moments, which belong to the trainer (nested_trainer.c). */
    train_weights weights;
    train_nested_layer layer[TRAIN_NESTED_MAX_LAYERS], layer_gradient[TRAIN_NESTED_MAX_LAYERS];
    /* [K] binary: running mean |a|, the width of the straight-through curve. Below 0: no batch yet,
     * and 1 is used. */
    float *spread;
    /* [K][K] T of the weights at the last train_nested_feed_back; or NULL */
    float *feedback;
    float *mixing; /* [K][K] M; NULL unless train_nested_can_mix */
    /* 1: M is used (refit.h); 0: its contents are undefined */
    int mixed;
    /* [4] scratch for the losses of a step (nested_gradient.h) */
    double *losses;
    double *squares; /* [TRAIN_NESTED_LENGTHS] scratch for errors (nested_errors.c) */
    uint32_t frozen; /* number of units no longer trained */
    train_nested_activations act;
} train_nested_network;

/* Creates a network with random weights: normal, of variance 1 / (2 inputs) for a single layer,
 * else 2 / inputs (He et al. 2015); biases are 0. The device is borrowed; mean[D] is copied from
 * the host. TAPER_ERR_ARG: widths or scale out of range; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; nothing
 * is held then. */
taper_status train_nested_create(train_nested_network *net, const train_nested_shape *shape,
                                 train_device *device, const float *mean, float scale,
                                 uint64_t seed);
void train_nested_free(train_nested_network *net); /* leaves it zeroed; zeroed is fine */

/* Computes T from the present weights; does nothing without feedback. Call it before each step and
 * before codes are computed. */
taper_status train_nested_feed_back(train_nested_network *net);
/* Sets the gradient to 0, before a step. */
taper_status train_nested_zero(train_nested_network *net);
#endif
