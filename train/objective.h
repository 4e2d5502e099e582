/* objective.h -- what training minimises, row by row: squared error at a cut, and the price of the
 * bits before it.
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
 * falling density), else 0; 0 for truncated units. Its slope is taken as min(1, |x| / T + floor),
 * not as 0: "straight through", weaker for units that are not sent where floor < 1.
 *
 * Rate. The mass that a Laplace distribution of scale b_u gives an interval of width T around |x +
 * T noise|, noise uniform in (-1/2, 1/2): the usual smooth stand-in for the entropy of quantised
 * values. The scales are trained with the rest. With a = |x + T noise| / b and h = T / 2b:
 *     p = exp(-a) sinh(h) for a >= h, else 1 - exp(-h) cosh(a);  bits = -log2 p */
#ifndef TRAIN_OBJECTIVE_H
#define TRAIN_OBJECTIVE_H
#include "truncation.h"
#include <stddef.h>
#include <stdint.h>

/* x_q[units] from x[units], and slope[units] = d x_q / d x as defined above. */
void train_quantise_row(uint32_t units, train_cut cut, float slope_floor, const float *x,
                        float *x_q, float *slope);

/* Bits of one row. dx[units] = d bits / d x; dlog_scale[units] = d bits / d log b. Truncated units
 * cost nothing. inverse_scale[units] holds 1 / b; noise[units] in (-1/2, 1/2). */
float train_rate_row(uint32_t units, train_cut cut, const float *x, const float *noise,
                     const float *inverse_scale, float *dx, float *dlog_scale);

/* noise[units] of row `index` in step `step`, uniform in (-1/2, 1/2) in 2^16 levels. */
void train_noise_row(uint32_t units, uint64_t seed, uint64_t step, uint64_t index, float *noise);

/* exp(x) to 2 ulp for -87 <= x <= 88 (clamped outside), in plain arithmetic: the same bits with
 * every C library, and loops over it vectorise. NaN gives exp(88): check inputs elsewhere. */
float train_exp(float x);

#endif
