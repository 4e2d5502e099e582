/* corruption.h -- the noise of training: corrupted inputs, dropout, perturbed inputs, stochastic
 * units.
 *
 * Rippel et al. 2014, section 4: input elements are set to 0 with probability 0.1 (as in Vincent et
 * al. 2010), and hidden layers other than the code have standard dropout with 0.2. Section 4.4,
 * equation 14: inputs are perturbed by normal noise, and the change of the code is penalised.
 *
 * Rows are numbered over the whole step. Every random number is a pure function of
 * (seed, step, row, column) and of its use (the streams of philox.h). So it does not matter how a
 * step is split into batches or among threads. Probabilities are rounded to multiples of 1 / 65536.
 * Rows have n elements and are `stride` >= n elements apart. n < 2^26; row numbers are below 2^40,
 * steps below 2^48. */
#ifndef TRAIN_CORRUPTION_H
#define TRAIN_CORRUPTION_H
#include "train/sampling/philox.h"
#include <math.h>

/* Identifies the noise: equal numbers give equal noise. */
typedef struct train_noise {
    uint64_t seed, step;
    /* Number of the first given row within the step. */
    uint64_t first_row;
    /* Given row r has number position[first_row + r], as of rows that one of several ranks has; on
     * the device. NULL: first_row + r. */
    const uint32_t *position;
} train_noise;

/* Sets each element of x[rows][n] to 0 with probability p, 0 .. 1. Inputs are centred, so 0 is the
 * mean. */
void train_corrupt_rows(const train_noise *noise, float p, size_t rows, size_t n, size_t stride,
                        float *x);

/* Dropout on hidden layer `layer` (0 .. 255; layers of encoder and decoder need different numbers).
 * Each element of x[rows][n] becomes 0 with probability p, 0 .. 1; otherwise it is divided by
 * 1 - p, so that the mean is unchanged. The same call on gradients is the backward pass. */
void train_dropout_rows(const train_noise *noise, uint32_t layer, float p, size_t rows, size_t n,
                        size_t stride, float *x);

/* y = x + e with e normal of mean 0 and the given variance (0 or more): the perturbation of
 * equation 14. x and y have the same shape and stride; y may be x. squares[rows] (may be NULL)
 * becomes |e|^2 of each row, in double. */
void train_perturb_rows(const train_noise *noise, double variance, size_t rows, size_t n,
                        size_t stride, const float *x, float *y, double *squares);

/* States of stochastic units from their means, both [rows][n]; to may be mean. Bernoulli: 1 with
 * probability mean (rounded up to a multiple of 2^-24), else 0. Gaussian: mean + a normal deviate
 * of variance 1. A mean that is not finite gives a state that is not finite. */
typedef enum train_states { TRAIN_BERNOULLI = 0, TRAIN_GAUSSIAN = 1 } train_states;
void train_sample_rows(const train_noise *noise, train_states states, size_t rows, size_t n,
                       size_t stride, const float *mean, float *to);

/* --- scalar parts, also for kernels ----------------------------------------------------- */

/* The random words of a row's block of four elements, 0 <= block < 2^24. */
CODEC_INLINE void train_noise_words(const train_noise *noise, uint64_t stream, uint64_t row,
                                    uint64_t block, uint32_t word[4]) {
    const uint64_t at = noise->first_row + row, number = noise->position ? noise->position[at] : at;
    train_philox(noise->seed, (number << 24) + block, stream + (noise->step << 16), word);
}
#define TRAIN_DROPOUT_STREAM(layer) (TRAIN_STREAM_DROPOUT + ((uint64_t)((layer)&255) << 8))

/* Zeroing: a block decides eight elements by half a word each, the low half first. */
enum { TRAIN_ZERO_BLOCK = 8 };

/* p in units of 1 / 65536; dropout multiplies kept elements by `scale`. */
CODEC_INLINE uint32_t train_dropped(float p) {
    return !(p > 0.0f) ? 0 : !(p < 1.0f) ? 65536 : (uint32_t)lrint((double)p * 65536.0);
}
CODEC_INLINE float train_dropout_scale(uint32_t dropped) {
    return dropped < 65536 ? (float)(65536.0 / (65536 - dropped)) : 0.0f;
}
CODEC_INLINE uint32_t train_is_kept(uint32_t word, unsigned half, uint32_t dropped) {
    return (half ? word >> 16 : word & 0xFFFFu) >= dropped;
}
/* x or 0, without a branch, because the branch would be unpredictable. */
CODEC_INLINE float train_kept(float x, uint32_t is_kept) {
    union {
        float f;
        uint32_t bits;
    } v = {x};
    v.bits &= 0u - is_kept;
    return v.f;
}

/* Normal noise: a block has the deviates of four elements, two from each two words (Box & Muller
 * 1958). It uses single precision and polynomials only, and is three times as fast as
 * train_philox_normal. Errors are below 1e-5; magnitudes are at most 5.9. */
enum { TRAIN_NORMAL_BLOCK = 4 };

/* The squared radius of a pair, from its first word: -2 log of u in (0, 1], u = 2^e m with m near
 * 1, log m = 2 artanh((m - 1) / (m + 1)). Rounding may give a value below 0. */
CODEC_INLINE float train_normal_square(uint32_t word) {
    float u = (float)(word >> 8) * 0x1p-24f + 0x1p-25f;
    union {
        float f;
        uint32_t bits;
    } m = {u};
    int32_t e = (int32_t)(m.bits - 0x3F3504F3u) >> 23; /* m from sqrt(1/2) on */
    m.bits -= (uint32_t)e << 23;
    float s = (m.f - 1.0f) / (m.f + 1.0f), s2 = s * s;
    float log_m = s * (2.0f + s2 * (2.0f / 3 + s2 * (2.0f / 5 + s2 * (2.0f / 7))));
    return -2.0f * ((float)e * 0.693147181f + log_m);
}
CODEC_INLINE float train_normal_radius(float square) {
    return sqrtf(square > 0.0f ? square : 0.0f);
}
/* The pair, from its radius and second word. The angle is `quarter` quarter turns plus x in
 * (-pi/4, pi/4]. */
CODEC_INLINE void train_normal_pair(float radius, uint32_t word, float out[2]) {
    uint32_t quarter = (word + 0x20000000u) >> 30;
    float x = (float)(int32_t)(word - (quarter << 30)) * (1.57079633f * 0x1p-30f), x2 = x * x;
    float sine = x * (1.0f + x2 * (-1.0f / 6 + x2 * (1.0f / 120 + x2 * (-1.0f / 5040))));
    float cosine = 1.0f + x2 * (-0.5f + x2 * (1.0f / 24 + x2 * (-1.0f / 720 + x2 / 40320)));
    float a = quarter & 1 ? -sine : cosine, b = quarter & 1 ? cosine : sine;
    radius = quarter & 2 ? -radius : radius;
    out[0] = radius * a;
    out[1] = radius * b;
}

/* The state of a unit. A block draws uniform numbers or normal deviates for four elements. */
CODEC_INLINE float train_state(train_states states, float mean, float drawn) {
    const float one = drawn < mean ? 1.0f : 0.0f;
    return states == TRAIN_GAUSSIAN ? mean + drawn : one + (mean - mean); /* NaN stays */
}

#endif
