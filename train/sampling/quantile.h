/* quantile.h -- the threshold that a given fraction of some values lies above. */
#ifndef TRAIN_QUANTILE_H
#define TRAIN_QUANTILE_H
#include "codec/backend/simd.h"
#include <math.h>
#include <stddef.h>

/* The threshold that a fraction of values[n] as close as possible to beta (0 .. 1) lies strictly
 * above; with two as close, the one that fewer are above. It lies halfway between two values where
 * it can, so that rounding a value, or adding -threshold as a bias, turns no bit. values are
 * permuted. n 0: 0. NaN among them: some threshold. Expected time is proportional to n. */
float train_exact_quantile(float *values, size_t n, double beta);

/* --- its parts ------------------------------------------------------------------------- */

/* Which value, by falling size from 0, it is looked for at; n is not 0. wanted = beta n. */
CODEC_INLINE size_t train_quantile_rank(double wanted, size_t n) {
    return wanted > 0.0 ? (size_t)fmin(wanted, (double)(n - 1)) : 0;
}

/* A threshold in [low, high), halfway where there is something between them. */
CODEC_INLINE float train_threshold_between(float low, float high) {
    float t = (float)(low + 0.5 * ((double)high - low));
    return t >= low && t < high ? t : low;
}

/* x, the value of that rank, or what is next to it; `above` values are above x, of which `higher`
 * is the least, and `below` below, of which `lower` is the largest. */
CODEC_INLINE float train_quantile_next_to(float x, double wanted, size_t n, size_t above,
                                          float higher, size_t below, float lower) {
    /* as a threshold, x leaves `above` values above; anything just below x all but `below` */
    if (wanted - (double)above <= (double)(n - below) - wanted)
        return above ? train_threshold_between(x, higher) : x;
    return below ? train_threshold_between(lower, x) : nextafterf(x, -INFINITY);
}

#endif
