/* objective.h -- what training minimises, row by row: squared error at a cut (autoencoder.c), and
 * the price of the bits before it.
 *
 *     loss = w |y - y_hat(x_q)|^2 / T^2 + lambda bits(x; T)
 *
 * T is the row's threshold (truncation.h), x_q the code as a decoder sees it at that cut. Dividing
 * by T^2 gives every cut the same say; an embedded dead-zone quantiser in slope order trades error
 * for bits at about 0.1 to 0.3 T^2 a bit, which is lambda.
 *
 * w = (mean error at this T / the row's error)^balance, taken as constant, between 0.1 and 10.
 * Balance 0 is plain squared error, 1 its logarithm: mean PSNR over images is a mean of logarithms,
 * so easy images count for more.
 *
 * Quantiser. q = floor(|x| / T); x_q = sign(x) (q + 0.45) T for q >= 1 (near the centroid of a
 * falling density), else 0; 0 for truncated units. Its gradient is taken as min(1, |x| / T +
 * floor), not as 0: "straight through", weaker for units that are not sent where floor < 1.
 *
 * Rate. The code length of q and the sign where x follows a Laplace distribution of scale b_u,
 * which is trained with the rest: with t = T / b, q is 0 with probability 1 - exp(-t) and any other
 * value, sign included, with exp(-q t) (1 - exp(-t)) / 2, so that
 *     bits = -log2(1 - exp(-t)) + [q > 0] (1 + q t / ln 2).
 * That is a staircase in x; its mean over x + T n, n uniform in (-1/2, 1/2), is taken, which joins
 * the middles of the steps: with r = max(|x| / T - 1/2, 0)
 *     bits = -log2(1 - exp(-t)) + min(r, 1) + r t / ln 2. */
#ifndef TRAIN_OBJECTIVE_H
#define TRAIN_OBJECTIVE_H
#include "train/sampling/truncation.h"
#include <stdint.h>

/* x_q[units] from x[units], and gradient[units] = d x_q / d x as defined above. */
void train_quantise_row(uint32_t units, train_cut cut, float gradient_floor, const float *x,
                        float *x_q, float *gradient);

/* Bits of one row. dx[units] = d bits / d x; dlog_scale[units] = d bits / d log b. Truncated units
 * cost nothing. inverse_scale[units] holds 1 / b. */
float train_rate_row(uint32_t units, train_cut cut, const float *x, const float *inverse_scale,
                     float *dx, float *dlog_scale);

/* exp(x) to 2 ulp for -87 <= x <= 88 (clamped outside), in plain arithmetic: the same bits with
 * every C library, and loops over it vectorise. NaN gives exp(88): check inputs elsewhere. */
float train_exp(float x);

#endif
