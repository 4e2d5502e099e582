/* activation.h -- the activation functions of one number, for the CPU's loops and for GPU kernels.
 */
#ifndef CODEC_ACTIVATION_H
#define CODEC_ACTIVATION_H
#include "codec/backend/operations.h"
#include "codec/backend/simd.h"
#include <math.h>
#include <string.h>

/* 1 / (1 + exp(-x)), without branches or calls, so that compilers vectorise it. exp(-|x|) = 2^k
 * exp(r) with |r| <= ln(2) / 2. Adding 1.5 x 2^23 rounds to k and leaves k in the low bits. exp(r)
 * is its series to the seventh power, with an error below 5e-9. */
CODEC_INLINE float codec_logistic(float x) {
    const float round = 12582912.0f, log2_e = 1.44269504f, ln2_high = 0.693359375f,
                ln2_low = -2.12194440e-4f;
    float a = fabsf(x), y = a < 87.0f ? -a : a == a ? -87.0f : x; /* 2^-126 < exp(-87) */
    float shifted = y * log2_e + round, k = shifted - round;
    float r = (y - k * ln2_high) - k * ln2_low;
    float e = 1.0f / 720 + r * (1.0f / 5040);
    e = 1.0f / 120 + r * e;
    e = 1.0f / 24 + r * e;
    e = 1.0f / 6 + r * e;
    e = 0.5f + r * e;
    e = 1.0f + (r + r * r * e);
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23; /* the exponent of 2^k; the shift drops the bits of `round` */
    float power;
    memcpy(&power, &bits, sizeof power);
    e *= power;
    e = a > 87.0f ? 0.0f : e;
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

CODEC_INLINE float codec_activate(codec_activation activation, float x) {
    if (activation == CODEC_RELU) return x < 0.0f ? 0.0f : x; /* NaN stays */
    return activation == CODEC_LOGISTIC ? codec_logistic(x) : x;
}

#endif
