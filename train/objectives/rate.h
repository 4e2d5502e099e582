/* rate.h -- the price of the bits that a cut leaves of a code, times lambda.
 *
 * The code length of q (reconstruction.h) and the sign where x follows a Laplace distribution of
 * scale b_u, which is trained with the rest: with t = T / b, q is 0 with probability 1 - exp(-t)
 * and any other value, sign included, with exp(-q t) (1 - exp(-t)) / 2, so that bits = -log2(1 -
 * exp(-t)) + [q > 0] (1 + q t / ln 2). That is a staircase in x; its mean over x + T n, n uniform
 * in (-1/2, 1/2), is taken, which joins the middles of the steps: with r = max(|x| / T - 1/2, 0)
 *     bits = -log2(1 - exp(-t)) + min(r, 1) + r t / ln 2.
 * Truncated units cost nothing. */
#ifndef TRAIN_RATE_H
#define TRAIN_RATE_H
#include "train/objectives/objective.h"

typedef struct train_rate {
    float lambda; /* of a bit against squared error / T^2; 0 .. */
    /* [units] numbers that are trained and their gradient, borrowed: a tenth of log b, so that Adam
     * moves log b ten times faster than a weight, and prices follow the codes */
    const float *log_scale;
    float *log_scale_gradient;
    float *inverse_scale;  /* [units] 1 / b */
    float *scale_gradient; /* [batch][units] d loss / d log_scale */
    double *bits;          /* [batch] */
} train_rate;

extern const train_objective train_rate_objective; /* self: train_rate */

void train_rate_lay_out(train_rate *r, train_arena *arena, uint32_t units, size_t batch);
/* The number that stands for a unit of mean magnitude b; small ones are raised to a floor. */
float train_rate_log_scale(float b);

#endif
