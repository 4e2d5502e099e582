/* objective.c -- quantiser and rate with their gradients, one row at a time; see objective.h. */
#include "train/dense/objective.h"
#include <math.h>
#include <string.h>

/* Of a magnitude that has passed a threshold: the density falls, so before the middle. */
static const float place_in_interval = 0.45f;

void train_quantise_row(uint32_t units, train_cut cut, float gradient_floor, const float *x,
                        float *x_q, float *gradient) {
    const float step = cut.threshold, inverse = 1.0f / step;
    for (uint32_t u = 0; u < cut.kept; u++) {
        float m = fabsf(x[u]) * inverse;
        float level = m < 1e6f ? (float)(int32_t)m : m; /* also keeps NaN a NaN */
        float value = level >= 1.0f ? (level + place_in_interval) * step : level * 0.0f;
        float s = m + gradient_floor;
        x_q[u] = copysignf(value, x[u]);
        gradient[u] = s < 1.0f ? s : 1.0f;
    }
    memset(x_q + cut.kept, 0, (units - cut.kept) * sizeof *x_q);
    memset(gradient + cut.kept, 0, (units - cut.kept) * sizeof *gradient);
}

/* exp(x) = 2^n exp(r), |r| <= ln 2 / 2, with a polynomial of degree 6 (Taylor coefficients, error <
 * 1e-7). */
static inline float fast_exp(float x) {
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

float train_exp(float x) { return fast_exp(x); }

enum { CHUNK = 8 };
static const float least_mass = 1e-6f, log2_e = 1.44269504f;

/* One unit: the bits are what is returned less log2(mass of 0), where the masses of a chunk are
 * multiplied before the logarithm is taken. t = T / b. */
static inline float rate_element(float x, float inverse_threshold, float t, float *dx,
                                 float *dlog_scale, float *mass) {
    float e = fast_exp(-t), zero = 1.0f - e;
    zero = zero < least_mass ? least_mass : zero;
    float r = fabsf(x) * inverse_threshold - 0.5f;
    r = r < 0.0f ? 0.0f : r;
    float sign = r < 1.0f ? r : 1.0f, a_step = t * log2_e;
    float gradient = r > 0.0f ? (r < 1.0f ? 1.0f : 0.0f) + a_step : 0.0f;
    *dx = copysignf(gradient * inverse_threshold, x);
    *dlog_scale = a_step * (e / zero - r);
    *mass = zero;
    return sign + r * t * log2_e;
}

float train_rate_row(uint32_t units, train_cut cut, const float *x, const float *inverse_scale,
                     float *dx, float *dlog_scale) {
    const float inverse_threshold = 1.0f / cut.threshold;
    double bits = 0.0;
    for (uint32_t first = 0; first < cut.kept; first += CHUNK) {
        uint32_t n = cut.kept - first < CHUNK ? cut.kept - first : CHUNK;
        float mass[CHUNK], more[CHUNK];
        for (uint32_t i = 0; i < n; i++) {
            uint32_t u = first + i;
            more[i] = rate_element(x[u], inverse_threshold, cut.threshold * inverse_scale[u],
                                   dx + u, dlog_scale + u, &mass[i]);
        }
        double product = 1.0, sum = 0.0;
        for (uint32_t i = 0; i < n; i++) product *= mass[i], sum += more[i];
        bits += sum - log2(product);
    }
    memset(dx + cut.kept, 0, (units - cut.kept) * sizeof *dx);
    memset(dlog_scale + cut.kept, 0, (units - cut.kept) * sizeof *dlog_scale);
    return (float)bits;
}
