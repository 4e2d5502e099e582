/* arithmetic.h -- sine, powers and the like from additions and products alone.
 *
 * The C library's own differ in their last bits between machines, and a sample set is to be the
 * same everywhere. Square roots are exact by IEEE 754 and come from the library. Accuracy here:
 * about 1e-6, enough to draw. */
#ifndef SAMPLES_ARITHMETIC_H
#define SAMPLES_ARITHMETIC_H

#define SAMPLES_PI 3.14159265f

float samples_sin(float radians); /* |radians| < 1e4 */
float samples_cos(float radians);
float samples_floor(float x);        /* |x| < 2^31 */
float samples_log2(float x);         /* x > 0, normal */
float samples_exp2(float x);         /* clamped to -60 .. 60 */
float samples_pow(float x, float y); /* x >= 0; 0 gives 0 */

static inline float samples_clamp(float x, float low, float high) {
    return x < low ? low : x > high ? high : x;
}
static inline float samples_mixed(float a, float b, float t) { return a + (b - a) * t; }
/* 0 at t <= 0, 1 at t >= 1, with level ends. */
static inline float samples_smooth(float t) {
    t = samples_clamp(t, 0, 1);
    return t * t * (3 - 2 * t);
}

#endif
