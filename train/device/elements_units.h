/* elements_units.h -- scalar parts of operations on whole units: values, gradients and changes;
 * weight decay; thresholds. */
#ifndef TRAIN_ELEMENTS_UNITS_H
#define TRAIN_ELEMENTS_UNITS_H
#include "codec/backend/simd.h"
#include "train/device/operations.h"
#include <math.h>

/* The value x of unit k. */
CODEC_INLINE float train_unit_value(const train_units *u, size_t k, float a) {
    if (u->binary) return (a > -u->bias[k] ? 1.0f : 0.0f) - u->centre;
    if (u->activation == CODEC_RELU) return a > 0.0f ? a : 0.0f;
    return u->activation == CODEC_LOGISTIC ? 1.0f / (1.0f + expf(-a)) : a;
}

/* d x / d a, or its replacement for a binary unit. x is its value. */
CODEC_INLINE float train_unit_slope(const train_units *u, size_t k, float a, float x) {
    if (u->binary) {
        if (!u->spread) return 0.0f;
        float spread = u->spread[k] > 0.0f ? u->spread[k] : 1.0f;
        float steep = 2.0f / (spread + 1e-12f), e = expf(-fabsf(steep * (a + u->bias[k])));
        return steep * e / ((1.0f + e) * (1.0f + e));
    }
    if (u->activation == CODEC_RELU) return a > 0.0f ? 1.0f : 0.0f;
    return u->activation == CODEC_LOGISTIC ? x * (1.0f - x) : 1.0f;
}

/* --- changes under perturbation: train_unit_moves_fn ------------------------------------- */

/* The term of a unit in a row, and its derivatives by a and by near. */
typedef struct train_move {
    double value;
    float by_a, by_near;
} train_move;

/* The relative change of a binary unit's margin. */
CODEC_INLINE train_move train_bit_move(const train_units *u, size_t k, float a, float near) {
    const float spread = u->spread && u->spread[k] > 0.0f ? u->spread[k] : 1.0f;
    const double least = (double)spread / TRAIN_BIT_MOVE_LEAST, from = (double)a + u->bias[k],
                 to = (double)near + u->bias[k];
    const double all = from * from + to * to + least * least,
                 value = (to - from) * (to - from) / all;
    train_move m = {value, (float)(2.0 * (from - to - value * from) / all),
                    (float)(2.0 * (to - from - value * to) / all)};
    return m;
}

CODEC_INLINE train_move train_value_move(const train_units *u, size_t k, float a, float near) {
    const float x = train_unit_value(u, k, a), x_near = train_unit_value(u, k, near),
                by = 2.0f * (x_near - x);
    const double apart = (double)x_near - x;
    train_move m = {apart * apart, -by * train_unit_slope(u, k, a, x),
                    by * train_unit_slope(u, k, near, x_near)};
    return m;
}

CODEC_INLINE train_move train_unit_move(const train_units *u, size_t k, float a, float near) {
    return u->binary ? train_bit_move(u, k, a, near) : train_value_move(u, k, a, near);
}

/* --- decay: train_decay_fn -------------------------------------------------------------- */

/* The gradient g of weight w plus coefficient times the penalty's gradient. */
CODEC_INLINE float train_decayed_l1(double coefficient, float w, float g) {
    return (float)(g + coefficient * ((float)(w > 0.0f) - (float)(w < 0.0f)));
}
CODEC_INLINE float train_decayed_l2(double coefficient, float w, float g) {
    return (float)(g + coefficient * w);
}

/* The coefficient of a row, unless it is given, from |gradient|^2 and |penalty's gradient|^2. */
CODEC_INLINE double train_decay_coefficient(train_coefficient how, double strength, double own,
                                            double penalty) {
    if (how == TRAIN_COEFFICIENT_FIXED) return strength;
    return penalty > 0.0 ? strength * sqrt(own) / sqrt(penalty) : 0.0;
}

/* --- thresholds: train_follow_quantiles_fn ------------------------------------------------ */

/* The running mean distance of a unit from its threshold has a time constant of ten batches. */
CODEC_INLINE void train_follow_quantile(double beta, double mean, double fraction, float *bias,
                                        float *spread) {
    const double rate = 0.1;
    const float threshold = -*bias;
    double now = *spread;
    if (!(now >= 0.0) || !isfinite(mean)) return;
    now += rate * (mean - now);
    *bias = -(float)(threshold + now * (fraction - beta));
    *spread = (float)now;
}

#endif
