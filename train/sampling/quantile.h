/* quantile.h -- the threshold that a given fraction of some values lies above. */
#ifndef TRAIN_QUANTILE_H
#define TRAIN_QUANTILE_H
#include <stddef.h>

/* The threshold that a fraction of values[n] as close as possible to beta (0 .. 1) lies strictly
 * above; with two as close, the one that fewer are above. It lies halfway between two values where
 * it can, so that rounding a value, or adding -threshold as a bias, turns no bit. values are
 * permuted. n 0: 0. NaN among them: some threshold. Expected time is proportional to n. */
float train_exact_quantile(float *values, size_t n, double beta);

#endif
