/* elements_codes.h -- scalar parts of operations on codes at a cut: quantisation and rate. T is
 * the row's threshold divided by the operation's scale. */
#ifndef TRAIN_ELEMENTS_CODES_H
#define TRAIN_ELEMENTS_CODES_H
#include "train/device/operations.h"
#include "train/sampling/numbers.h"
#include <math.h>

/* train_quantise_fn: x_q, and *gradient = d x_q / d x. inverse is 1 / T. */
CODEC_INLINE float train_quantised(float x, float threshold, float inverse, float gradient_floor,
                                   float *gradient) {
    const float place_in_interval = 0.45f; /* the density falls, so before the middle */
    float m = fabsf(x) * inverse;
    float level = m < 1e6f ? (float)(int32_t)m : m; /* also keeps NaN a NaN */
    float value = level >= 1.0f ? (level + place_in_interval) * threshold : level * 0.0f;
    float s = m + gradient_floor;
    *gradient = s < 1.0f ? s : 1.0f;
    return copysignf(value, x);
}

/* --- rate ------------------------------------------------------------------------------ */

/* r = max(|x| / T - 1/2, 0). */
CODEC_INLINE float train_steps_beyond(float x, float inverse_threshold) {
    float r = fabsf(x) * inverse_threshold - 0.5f;
    return r < 0.0f ? 0.0f : r;
}

/* train_rate_fn for one unit. Its bits are the returned value minus log2(mass of 0). The caller
 * multiplies masses and takes one logarithm. mass is at least 1e-6. t = T / b. */
CODEC_INLINE float train_rate_element(float x, float inverse_threshold, float t, float *dlog_scale,
                                      float *mass) {
    const float least_mass = 1e-6f, log2_e = 1.44269504f;
    float e = train_exp(-t), zero = 1.0f - e;
    zero = zero < least_mass ? least_mass : zero;
    float r = train_steps_beyond(x, inverse_threshold);
    float sign = r < 1.0f ? r : 1.0f, a_step = t * log2_e;
    *dlog_scale = a_step * (e / zero - r);
    *mass = zero;
    return sign + r * t * log2_e;
}

/* d bits / d x. t = T / b. */
CODEC_INLINE float train_rate_slope(float x, float inverse_threshold, float t) {
    const float log2_e = 1.44269504f;
    float r = train_steps_beyond(x, inverse_threshold), a_step = t * log2_e;
    float gradient = r > 0.0f ? (r < 1.0f ? 1.0f : 0.0f) + a_step : 0.0f;
    return copysignf(gradient * inverse_threshold, x);
}

#endif
