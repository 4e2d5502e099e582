/* numbers.h -- decimal numbers of settings and small text files; array helpers that learners
 * share. */
#ifndef TRAIN_NUMBERS_H
#define TRAIN_NUMBERS_H
#include "codec/backend/simd.h"
#include <stddef.h>
#include <stdint.h>

/* A finite decimal number at the front of text, as "0.25", "-3" or "1e-4": no blanks before it, no
 * hexadecimal, no "inf". Returns what follows it, or NULL where there is none (*value
 * unchanged). */
const char *train_number(const char *text, double *value);

/* A whole number at the front of text, digits only, at most 2^32 - 1; otherwise as train_number. */
const char *train_whole_number(const char *text, uint32_t *value);

/* e^x to 2 ulp for -87 <= x <= 88 (clamped outside), in plain arithmetic: the same bits with every
 * C library, and loops over it vectorise. NaN gives e^88: check inputs elsewhere. x = n ln 2 + r,
 * |r|
 * <= ln 2 / 2, with a polynomial of degree 6 (Taylor coefficients, error < 1e-7). */
CODEC_INLINE float train_exp(float x) {
    x = x < 88.0f ? x : 88.0f; /* NaN too becomes 88: its conversion below would be undefined */
    x = x > -87.0f ? x : -87.0f;
    float n = x * 1.44269504f;
    int32_t k = (int32_t)(n + (n < 0.0f ? -0.5f : 0.5f));
    float r = (x - (float)k * 0.693145752f) - (float)k * 1.42860677e-6f;
    float p = 1.0f + r * (1.0f + r * (0.5f + r * (0.166666667f +
                                                  r * (0.0416666667f + r * (0.00833333333f +
                                                                            r * 0.00138888889f)))));
    union {
        int32_t i;
        float f;
    } power = {(k + 127) * (1 << 23)};
    return p * power.f;
}

/* The sum of a[i] b[i], in double, in an order that n alone decides. a may be b. */
double train_dot(size_t n, const float *a, const float *b);

/* *out: rows * columns zeros, on a cache line, which kernels load whole; free() gives them back. 0
 * without memory, and when there would be too many. */
int train_zeros(float **out, size_t rows, size_t columns);

/* The integer nearest to w, -most .. most; 0 for what is no number. */
int32_t train_rounded(float w, int32_t most);

#endif
