/* corruption.c -- noise that is a pure function of its place; see corruption.h. */
#include "train/sampling/corruption.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include <math.h>

enum { BLOCKS = 16, WORDS = 4 * BLOCKS }; /* of Philox at a time */

/* The words of a row from block `block` on. A row has 2^24 blocks of its own. */
static void draw(const train_noise *noise, uint64_t stream, uint64_t row, uint64_t block,
                 size_t blocks, uint32_t *words) {
    uint64_t index = ((noise->first_row + row) << 24) + block;
    for (size_t b = 0; b < blocks; b++)
        train_philox(noise->seed, index + b, stream + (noise->step << 16), words + 4 * b);
}

/* --- zeros ---------------------------------------------------------------------------- */

/* x where the 16 bits are at least `dropped`, else 0; without a branch, which none could predict.
 */
static inline float keep(float x, uint32_t bits16, uint32_t dropped) {
    union {
        float f;
        uint32_t bits;
    } v = {x};
    v.bits &= 0u - (uint32_t)(bits16 >= dropped);
    return v.f;
}

/* Keep or drop n elements, and multiply by `scale`. A word decides two, its low half the first. */
static void keep_some(size_t n, const uint32_t *words, uint32_t dropped, float scale, float *x) {
    for (size_t i = 0; i < n / 2; i++) {
        x[2 * i] = keep(x[2 * i] * scale, words[i] & 0xFFFFu, dropped);
        x[2 * i + 1] = keep(x[2 * i + 1] * scale, words[i] >> 16, dropped);
    }
    if (n % 2) x[n - 1] = keep(x[n - 1] * scale, words[n / 2] & 0xFFFFu, dropped);
}

static void zero_rows(const train_noise *noise, uint64_t stream, uint32_t dropped, float scale,
                      size_t rows, size_t n, size_t stride, float *x) {
    uint32_t words[WORDS];
    for (size_t r = 0; r < rows; r++)
        for (size_t at = 0; at < n; at += 2 * WORDS) {
            size_t now = n - at < 2 * WORDS ? n - at : 2 * WORDS;
            draw(noise, stream, r, at / 8, (now + 7) / 8, words);
            keep_some(now, words, dropped, scale, x + r * stride + at);
        }
}

/* p in 65536ths. */
static uint32_t probability(float p) {
    return !(p > 0.0f) ? 0 : !(p < 1.0f) ? 65536 : (uint32_t)lrint((double)p * 65536.0);
}

void train_corrupt_rows(const train_noise *noise, float p, size_t rows, size_t n, size_t stride,
                        float *x) {
    uint32_t dropped = probability(p);
    if (dropped) zero_rows(noise, TRAIN_STREAM_CORRUPT, dropped, 1.0f, rows, n, stride, x);
}

void train_dropout_rows(const train_noise *noise, uint32_t layer, float p, size_t rows, size_t n,
                        size_t stride, float *x) {
    uint32_t dropped = probability(p);
    float scale = dropped < 65536 ? (float)(65536.0 / (65536 - dropped)) : 0.0f;
    uint64_t stream = TRAIN_STREAM_DROPOUT + ((uint64_t)(layer & 255) << 8);
    if (dropped) zero_rows(noise, stream, dropped, scale, rows, n, stride, x);
}

/* --- normal noise --------------------------------------------------------------------- */

/* Words to independent normal deviates, two from each two (Box & Muller 1958), in single precision
 * and with polynomials only, as a row has thousands: three times as fast as train_philox_normal.
 * Errors are below 1e-5; magnitudes reach 5.9. n is even. */
static void normal_deviates(size_t n, const uint32_t *words, float *out) {
    float square[WORDS / 2];
    for (size_t i = 0; i < n / 2; i++) {
        /* -2 log of u in (0, 1]: u = 2^e m with m near 1, log m = 2 artanh((m - 1) / (m + 1)) */
        float u = (float)(words[2 * i] >> 8) * 0x1p-24f + 0x1p-25f;
        union {
            float f;
            uint32_t bits;
        } m = {u};
        int32_t e = (int32_t)(m.bits - 0x3F3504F3u) >> 23; /* m from sqrt(1/2) on */
        m.bits -= (uint32_t)e << 23;
        float s = (m.f - 1.0f) / (m.f + 1.0f), s2 = s * s;
        float log_m = s * (2.0f + s2 * (2.0f / 3 + s2 * (2.0f / 5 + s2 * (2.0f / 7))));
        square[i] = -2.0f * ((float)e * 0.693147181f + log_m);
    }
    for (size_t i = 0; i < n / 2; i++) square[i] = sqrtf(square[i] > 0.0f ? square[i] : 0.0f);
    for (size_t i = 0; i < n / 2; i++) {
        /* the angle in quarter turns: `turn` whole ones, and x in (-pi/4, pi/4] about them */
        uint32_t word = words[2 * i + 1], turn = (word + 0x20000000u) >> 30;
        float x = (float)(int32_t)(word - (turn << 30)) * (1.57079633f * 0x1p-30f), x2 = x * x;
        float sine = x * (1.0f + x2 * (-1.0f / 6 + x2 * (1.0f / 120 + x2 * (-1.0f / 5040))));
        float cosine = 1.0f + x2 * (-0.5f + x2 * (1.0f / 24 + x2 * (-1.0f / 720 + x2 / 40320)));
        float a = turn & 1 ? -sine : cosine, b = turn & 1 ? cosine : sine;
        float radius = turn & 2 ? -square[i] : square[i];
        out[2 * i] = radius * a;
        out[2 * i + 1] = radius * b;
    }
}

void train_perturb_rows(const train_noise *noise, double variance, size_t rows, size_t n,
                        size_t stride, const float *x, float *y, double *squares) {
    uint32_t words[WORDS];
    float e[WORDS], deviation = (float)sqrt(variance);
    for (size_t r = 0; r < rows; r++) {
        double square = 0.0;
        for (size_t at = 0; at < n; at += WORDS) {
            size_t now = n - at < WORDS ? n - at : WORDS, blocks = (now + 3) / 4;
            draw(noise, TRAIN_STREAM_PERTURB, r, at / 4, blocks, words);
            normal_deviates(4 * blocks, words, e);
            for (size_t i = 0; i < now; i++) {
                e[i] *= deviation;
                y[r * stride + at + i] = x[r * stride + at + i] + e[i];
            }
            if (squares) square += train_dot(now, e, e);
        }
        if (squares) squares[r] = square;
    }
}
