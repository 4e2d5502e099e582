/* numbers.h -- parsing of decimal numbers in options and text files; array helpers. */
#ifndef TRAIN_NUMBERS_H
#define TRAIN_NUMBERS_H
#include "codec/backend/simd.h"
#include <stddef.h>
#include <stdint.h>

/* Parses a finite decimal number at the start of text, such as "0.25", "-3" or "1e-4". Leading
 * blanks, hexadecimal numbers and "inf" are not accepted. Returns the rest of the text, or NULL if
 * there is no number (*value is then unchanged). */
const char *train_number(const char *text, double *value);

/* Parses an integer at the start of text, digits only, at most 2^32 - 1. Otherwise as
 * train_number. */
const char *train_whole_number(const char *text, uint32_t *value);

/* e^x to 2 ulp for -87 <= x <= 88 (clamped outside). It uses basic arithmetic only, so the bits do
 * not depend on the C library, and loops over it vectorise. NaN gives e^88: check inputs elsewhere.
 * x = n ln 2 + r, |r| <= ln 2 / 2, with a Taylor polynomial of degree 6, error < 1e-7. */
CODEC_INLINE float train_exp(float x) {
    x = x < 88.0f ? x : 88.0f; /* NaN becomes 88: its conversion below would be undefined */
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

/* The sum of a[i] b[i] in double, in an order that depends on n only. a may be b. */
double train_dot(size_t n, const float *a, const float *b);

/* The integer nearest to w, clamped to -most .. most; 0 for NaN. */
int32_t train_rounded(float w, int32_t most);

#endif
