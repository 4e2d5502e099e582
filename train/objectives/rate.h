/* rate.h -- the bits that a cut keeps of a code, times lambda.
 *
 * The code length of q (reconstruction.h) and of the sign, for a Laplace distribution of x with
 * scale b_u, which is trained. With t = T / b, q is 0 with probability 1 - exp(-t), and any other
 * signed value with probability exp(-q t) (1 - exp(-t)) / 2. So
 *     bits = -log2(1 - exp(-t)) + [q > 0] (1 + q t / ln 2).
 * This is a step function of x. The loss is its mean over x + T n with n uniform in (-1/2, 1/2),
 * which interpolates linearly between the middles of the steps. With r = max(|x| / T - 1/2, 0):
 *     bits = -log2(1 - exp(-t)) + min(r, 1) + r t / ln 2.
 * Truncated units cost nothing. */
#ifndef TRAIN_RATE_H
#define TRAIN_RATE_H
#include "train/objectives/objective.h"

typedef struct train_rate {
    /* Weight of a bit against squared error / T^2; at least 0. */
    float lambda;
    /* [units] trained numbers and their gradient, borrowed. Each is a tenth of log b, so that Adam
     * moves log b ten times faster than a weight and the scales follow the codes. */
    const float *log_scale;
    float *log_scale_gradient;
    float *inverse_scale;  /* [units] 1 / b */
    float *scale_gradient; /* [batch][units] d loss / d log_scale */
    double *bits;          /* [batch] */
} train_rate;

extern const train_objective train_rate_objective; /* self: train_rate */

void train_rate_lay_out(train_rate *r, train_arena *arena, uint32_t units, size_t batch);
/* The trained number for a unit of mean magnitude b; a small b is raised to a minimum. */
float train_rate_log_scale(float b);

#endif
