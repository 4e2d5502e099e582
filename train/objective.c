/* objective.c -- quantiser and rate with their gradients, one row at a time; see objective.h. */
#include "objective.h"
#include "philox.h"
#include <math.h>
#include <string.h>

void train_quantise_row(uint32_t units, train_cut cut, float slope_floor, const float *x,
                        float *x_q, float *slope) {
    const float step = cut.threshold, inverse = 1.0f / step;
    for (uint32_t u = 0; u < cut.kept; u++) {
        float m = fabsf(x[u]) * inverse;
        float level = m < 1e6f ? (float)(int32_t)m : m; /* also keeps NaN a NaN */
        float value = level >= 1.0f ? (level + 0.45f) * step : level * 0.0f;
        float s = m + slope_floor;
        x_q[u] = copysignf(value, x[u]);
        slope[u] = s < 1.0f ? s : 1.0f;
    }
    memset(x_q + cut.kept, 0, (units - cut.kept) * sizeof *x_q);
    memset(slope + cut.kept, 0, (units - cut.kept) * sizeof *slope);
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
static const float least_mass = 1e-9f, log2_e = 1.44269504f;

/* One unit: the bits are `linear` / ln 2 - log2(mass), where the masses of a chunk are multiplied
 * before the logarithm is taken. */
static inline float rate_element(float x, float half, float noise, float inverse, float *dx,
                                 float *dlog_scale, float *mass) {
    float moved = x + 2.0f * half * noise, a = fabsf(moved) * inverse, h = half * inverse;
    int outside = a >= h;
    float inner = outside ? 0.0f : a - h; /* exponents that cannot overflow */
    float e_minus = fast_exp(inner), e_plus = fast_exp(outside ? 0.0f : -a - h),
          e_twice = fast_exp(-2.0f * h);
    float inside_mass = 1.0f - 0.5f * (e_minus + e_plus);
    inside_mass = inside_mass < least_mass ? least_mass : inside_mass;
    float outside_mass = 0.5f * (1.0f - e_twice);
    outside_mass = outside_mass < least_mass ? least_mass : outside_mass;
    float over = 1.0f / (outside ? outside_mass : inside_mass);
    /* derivatives of -ln p by a and by h */
    float by_a = outside ? 1.0f : 0.5f * (e_minus - e_plus) * over;
    float by_h = outside ? -0.5f * (1.0f + e_twice) * over : -0.5f * (e_minus + e_plus) * over;
    *dx = copysignf(by_a, moved) * inverse * log2_e;
    *dlog_scale = -(by_a * a + by_h * h) * log2_e; /* a and h are both proportional to 1 / b */
    *mass = outside ? outside_mass : inside_mass;
    return outside ? a - h : 0.0f;
}

float train_rate_row(uint32_t units, train_cut cut, const float *x, const float *noise,
                     const float *inverse_scale, float *dx, float *dlog_scale) {
    const float half = 0.5f * cut.threshold;
    double bits = 0.0;
    for (uint32_t first = 0; first < cut.kept; first += CHUNK) {
        uint32_t n = cut.kept - first < CHUNK ? cut.kept - first : CHUNK;
        float mass[CHUNK], linear[CHUNK];
        for (uint32_t i = 0; i < n; i++) {
            uint32_t u = first + i;
            linear[i] = rate_element(x[u], half, noise[u], inverse_scale[u], dx + u, dlog_scale + u,
                                     &mass[i]);
        }
        double product = 1.0, sum = 0.0;
        for (uint32_t i = 0; i < n; i++) product *= mass[i], sum += linear[i];
        bits += sum * 1.4426950408889634 - log2(product);
    }
    memset(dx + cut.kept, 0, (units - cut.kept) * sizeof *dx);
    memset(dlog_scale + cut.kept, 0, (units - cut.kept) * sizeof *dlog_scale);
    return (float)bits;
}

void train_noise_row(uint32_t units, uint64_t seed, uint64_t step, uint64_t index, float *noise) {
    uint64_t blocks = ((uint64_t)units + 7) / 8;
    for (uint64_t b = 0; b < blocks; b++) {
        uint32_t word[4];
        train_philox(seed, index * blocks + b, TRAIN_STREAM_NOISE + (step << 8), word);
        uint32_t n = units - (uint32_t)b * 8 < 8 ? units - (uint32_t)b * 8 : 8;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t half = i & 1 ? word[i / 2] >> 16 : word[i / 2] & 0xffff;
            noise[b * 8 + i] = ((float)half + 0.5f) * 0x1p-16f - 0.5f;
        }
    }
}
