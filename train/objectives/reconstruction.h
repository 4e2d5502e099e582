/* reconstruction.h -- the squared error of what a decoder makes of codes at a cut.
 *
 *     loss = w |y - y_hat(x_q)|^2 / T^2,   y_hat(x_q) = G^T x_q + g(x_q)
 *
 * T is the row's threshold (train/sampling/truncation.h), x_q the code as a decoder sees it at that
 * cut. Dividing by T^2 gives every cut the same say; an embedded dead-zone quantiser in slope order
 * trades error for bits at about 0.1 to 0.3 T^2 a bit, which is the rate's lambda (rate.h).
 *
 * w = (mean error at this T / the row's error)^balance, taken as constant, between 0.1 and 10.
 * Balance 0 is plain squared error, 1 its logarithm: mean PSNR over images is a mean of logarithms,
 * so easy images count for more.
 *
 * Quantiser. q = floor(|x| / T); x_q = sign(x) (q + 0.45) T for q >= 1 (near the centroid of a
 * falling density), else 0; 0 for truncated units. Its gradient is taken as min(1, |x| / T +
 * floor), not as 0: "straight through", weaker for units that are not sent where floor < 1.
 *
 * For a decoder alone codes are given as they are decoded, and the loss is log(|y - y_hat|^2 + D /
 * 4), which is mean PSNR up to a factor: half a grey level is added, or rows that are (nearly)
 * exact would dominate. */
#ifndef TRAIN_RECONSTRUCTION_H
#define TRAIN_RECONSTRUCTION_H
#include "train/objectives/objective.h"
#include "train/objectives/stack.h"

typedef struct train_reconstruction {
    float gradient_floor; /* 0 .. 1 */
    float balance;        /* 0 .. 1 */
    int given;            /* 1: `quantised` holds the codes to be decoded, and theirs is the loss */
    const codec_network *w, *dw; /* synthesis and decoder: numbers and gradients, borrowed */
    float *quantised;            /* [batch][K] x_q */
    float *quantiser_gradient;   /* [batch][K] d x_q / d x */
    float *output;               /* [batch][D] y_hat, then the error, then d loss / d y_hat */
    float *quantised_gradient;   /* [batch][K] d loss / d x_q */
    double *error, *weight;      /* [batch] |y - y_hat|^2; d loss / d error is weight / rows */
    train_stack_activations act;
} train_reconstruction;

extern const train_objective train_reconstruction_objective; /* self: train_reconstruction */

/* Its arrays, but for the network's. */
void train_reconstruction_lay_out(train_reconstruction *r, train_arena *arena,
                                  const codec_network *shape, size_t batch);

#endif
