/* quantile.h -- the threshold that a given fraction of values exceeds. */
#ifndef TRAIN_QUANTILE_H
#define TRAIN_QUANTILE_H
#include "codec/backend/simd.h"
#include <math.h>
#include <stddef.h>

/* Returns a threshold such that the fraction of values[n] strictly above it is as close as possible
 * to beta (0 .. 1); of two equally close fractions the smaller. It lies halfway between two values
 * if possible, so that rounding a value, or adding -threshold as a bias, does not change a
 * comparison. values are permuted. n 0: returns 0. With NaN among the values the result is
 * unspecified. Expected time is proportional to n. */
float train_exact_quantile(float *values, size_t n, double beta);

/* --- parts ----------------------------------------------------------------------------- */

/* The rank of the value near the threshold, counted from 0 by falling size; n > 0. wanted =
 * beta n. */
CODEC_INLINE size_t train_quantile_rank(double wanted, size_t n) {
    return wanted > 0.0 ? (size_t)fmin(wanted, (double)(n - 1)) : 0;
}

/* A threshold in [low, high), halfway if there is a number between them. */
CODEC_INLINE float train_threshold_between(float low, float high) {
    float t = (float)(low + 0.5 * ((double)high - low));
    return t >= low && t < high ? t : low;
}

/* The threshold at x, the value of that rank, or next to it. `above` values are above x, the least
 * of which is `higher`; `below` are below x, the largest of which is `lower`. */
CODEC_INLINE float train_quantile_next_to(float x, double wanted, size_t n, size_t above,
                                          float higher, size_t below, float lower) {
    /* threshold x: `above` values exceed it; just below x: all but `below` do */
    if (wanted - (double)above <= (double)(n - below) - wanted)
        return above ? train_threshold_between(x, higher) : x;
    return below ? train_threshold_between(lower, x) : nextafterf(x, -INFINITY);
}

#endif
