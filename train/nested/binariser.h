/* binariser.h -- thresholds that make a unit's bit 1 in a given fraction of the examples.
 *
 * Rippel et al. 2014, section 4.3: x_k = 1 where the pre-activation a_k is above theta_k, with
 * theta_k a quantile, so that x_k ~ Bernoulli(beta). While weights move, the quantile is followed
 * from batch to batch:
 *
 *     theta_k += speed spread_k (fraction of the batch with a_k > theta_k  -  beta)
 *     spread_k: running mean of |a_k - theta_k|, which sets the scale of a step
 *
 * (stochastic approximation, Robbins & Monro 1951). A unit's first batch sets theta_k to that
 * batch's exact quantile. At the end of training train_exact_quantile takes all values of a unit.
 * No random numbers: the same batches give the same thresholds. */
#ifndef TRAIN_BINARISER_H
#define TRAIN_BINARISER_H
#include "formats/status.h"

/* A checkpoint holds state[2 units]; the rest is settings and scratch. */
typedef struct train_binariser {
    uint32_t units;
    double beta;      /* fraction of ones, between 0 and 1 */
    double speed;     /* above 0; 1 is usual; smaller follows more slowly and wavers less */
    float *state;     /* [2 units] the two arrays below, one after the other */
    float *threshold; /* [units] theta */
    float *spread;    /* [units] below 0: the unit has seen no batch */
} train_binariser;

/* All thresholds 0, no batch seen. TAPER_ERR_ARG: beta not in (0, 1), speed not above 0 or not
 * finite, no units. TAPER_ERR_NOMEM. Nothing is held after a failure. */
taper_status train_binariser_create(train_binariser *b, uint32_t units, double beta, double speed);
void train_binariser_free(train_binariser *b); /* leaves it zeroed */

/* Learn from a batch: row r of `rows` has unit k's pre-activation at a[r * stride + k], stride >=
 * first + count. Only the units first .. first + count - 1 are looked at and moved (a unit that is
 * fixed keeps its threshold). A unit with a value that is not finite in this batch stays as it was.
 * rows 0: nothing happens. TAPER_ERR_ARG: the range leaves the units, or stride is too small.
 * TAPER_ERR_NOMEM, for a unit's first batch only; such units stay as they were. */
taper_status train_binariser_update(train_binariser *b, const float *a, size_t rows, size_t stride,
                                    uint32_t first, uint32_t count);

/* The threshold that a fraction of values[n] as close as possible to beta lies strictly above; with
 * two as close, the one that fewer are above. It lies halfway between two values where it can, so
 * that rounding a value, or adding -threshold as a bias, turns no bit. values are permuted. n 0: 0.
 * NaN among them: some threshold. Expected time is proportional to n. */
float train_exact_quantile(float *values, size_t n, double beta);

#endif
