/* arithmetic.c -- the few transcendental functions of the generators; see arithmetic.h. */
#include "samples/arithmetic.h"
#include <stdint.h>
#include <string.h>

float samples_floor(float x) {
    float t = (float)(int32_t)x;
    return t > x ? t - 1 : t;
}

/* Taylor series of the sine around 0 on [-pi/2, pi/2]; the term left out is below 6e-8. */
static double sine_near_zero(double x) {
    double s = x * x;
    return x * (1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110)))));
}

float samples_sin(float radians) {
    double turns = (double)radians / 6.283185307179586;
    turns -= (double)(int32_t)turns; /* (-1, 1) */
    if (turns > 0.5) turns -= 1;
    if (turns < -0.5) turns += 1;
    if (turns > 0.25) turns = 0.5 - turns;
    if (turns < -0.25) turns = -0.5 - turns;
    return (float)sine_near_zero(turns * 6.283185307179586);
}

float samples_cos(float radians) { return samples_sin(radians + 0.5f * SAMPLES_PI); }

float samples_log2(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 23) - 127;
    bits = (bits & 0x7fffffu) | 0x3f800000u;
    float m;
    memcpy(&m, &bits, sizeof m); /* [1, 2) */
    /* ln m = 2 artanh((m - 1) / (m + 1)), the argument is below 1/3 */
    double z = ((double)m - 1) / ((double)m + 1), s = z * z;
    double ln =
        2 * z * (1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9 + s / 11)))));
    return (float)(exponent + ln * 1.4426950408889634);
}

float samples_exp2(float x) {
    x = samples_clamp(x, -60, 60);
    float whole = samples_floor(x);
    double t = (double)(x - whole) * 0.6931471805599453, e = 1, term = 1; /* e^t, t below ln 2 */
    for (int i = 1; i <= 9; i++) e += term *= t / i;
    uint32_t bits = (uint32_t)((int)whole + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return (float)(e * (double)scale);
}

float samples_pow(float x, float y) { return x > 0 ? samples_exp2(y * samples_log2(x)) : 0; }
