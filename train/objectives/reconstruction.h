/* reconstruction.h -- the squared error of the decoder's output at a cut.
 *
 *     loss = w |y - y_hat(x_q)|^2 / T^2,   y_hat(x_q) = G^T x_q + g(x_q)
 *
 * T is the row's threshold (train/sampling/truncation.h), x_q the code as a decoder sees it at that
 * cut. Dividing by T^2 gives all cuts equal weight. An embedded dead-zone quantiser in slope order
 * reduces the error by about 0.1 to 0.3 T^2 per bit, which is the lambda of rate.h.
 *
 * w = (mean error at this T / the row's error)^balance, treated as a constant, between 0.1 and 10.
 * Balance 0 is plain squared error. Balance 1 is its logarithm, and mean PSNR over images is a mean
 * of logarithms; it gives easy images more weight.
 *
 * Quantiser. q = floor(|x| / T). x_q = sign(x) (q + 0.45) T for q >= 1, near the centroid of a
 * decreasing density; otherwise 0. x_q is 0 for truncated units. The gradient is taken as
 * min(1, |x| / T + floor) in place of 0: "straight through", and smaller for units that are not
 * sent if floor < 1.
 *
 * When the decoder is trained alone, the codes are given as they are decoded. The loss is then
 * log(|y - y_hat|^2 + D / 4), which is mean PSNR up to a factor. Half a grey level per value is
 * added because rows with almost no error would dominate otherwise. */
#ifndef TRAIN_RECONSTRUCTION_H
#define TRAIN_RECONSTRUCTION_H
#include "train/objectives/objective.h"
#include "train/parallel/ranks.h"
#include "train/objectives/stack.h"

typedef struct train_reconstruction {
    float gradient_floor; /* 0 .. 1 */
    float balance;        /* 0 .. 1 */
    /* 1: `quantised` holds the codes to decode, and the loss is that of these codes. */
    int given;
    train_ranks *ranks; /* that share the batch; NULL: one */
    /* Synthesis and decoder: parameters and gradients, borrowed. */
    const codec_network *w, *dw;
    float *quantised;          /* [batch][K] x_q */
    float *quantiser_gradient; /* [batch][K] d x_q / d x */
    /* [batch][D] y_hat, then the error, then d loss / d y_hat */
    float *output;
    float *quantised_gradient; /* [batch][K] d loss / d x_q */
    /* [batch] |y - y_hat|^2; d loss / d error is weight / rows */
    double *error, *weight;
    train_stack_activations act;
} train_reconstruction;

extern const train_objective train_reconstruction_objective; /* self: train_reconstruction */

/* Lays out its arrays, except the network's. */
void train_reconstruction_lay_out(train_reconstruction *r, train_arena *arena,
                                  const codec_network *shape, size_t batch);

#endif
