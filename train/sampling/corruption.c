/* corruption.c -- noise as a pure function of the element's position; see corruption.h. */
#include "train/sampling/corruption.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include <math.h>

enum { BLOCKS = 16, WORDS = 4 * BLOCKS }; /* blocks of Philox at a time, and their words */

/* The random words of a row from block `block` on. A row has 2^24 blocks. */
static void draw(const train_noise *noise, uint64_t stream, uint64_t row, uint64_t block,
                 size_t blocks, uint32_t *words) {
    for (size_t b = 0; b < blocks; b++)
        train_noise_words(noise, stream, row, block + b, words + 4 * b);
}

/* --- zeroing -------------------------------------------------------------------------- */

/* Zeroes some of n elements, and multiplies the others by `scale`. A word decides two elements, its
 * low half the first. */
static void keep_some(size_t n, const uint32_t *words, uint32_t dropped, float scale, float *x) {
    for (size_t i = 0; i < n / 2; i++) {
        x[2 * i] = train_kept(x[2 * i] * scale, train_is_kept(words[i], 0, dropped));
        x[2 * i + 1] = train_kept(x[2 * i + 1] * scale, train_is_kept(words[i], 1, dropped));
    }
    if (n % 2) x[n - 1] = train_kept(x[n - 1] * scale, train_is_kept(words[n / 2], 0, dropped));
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

void train_corrupt_rows(const train_noise *noise, float p, size_t rows, size_t n, size_t stride,
                        float *x) {
    uint32_t dropped = train_dropped(p);
    if (dropped) zero_rows(noise, TRAIN_STREAM_CORRUPT, dropped, 1.0f, rows, n, stride, x);
}

void train_dropout_rows(const train_noise *noise, uint32_t layer, float p, size_t rows, size_t n,
                        size_t stride, float *x) {
    uint32_t dropped = train_dropped(p);
    if (dropped)
        zero_rows(noise, TRAIN_DROPOUT_STREAM(layer), dropped, train_dropout_scale(dropped), rows,
                  n, stride, x);
}

/* --- normal noise --------------------------------------------------------------------- */

/* Independent normal deviates from words; n is even. The loops vectorise. */
CODEC_CLONES static void normal_deviates(size_t n, const uint32_t *words, float *out) {
    float radius[WORDS / 2];
    for (size_t i = 0; i < n / 2; i++) radius[i] = train_normal_square(words[2 * i]);
    for (size_t i = 0; i < n / 2; i++) radius[i] = train_normal_radius(radius[i]);
    for (size_t i = 0; i < n / 2; i++) train_normal_pair(radius[i], words[2 * i + 1], out + 2 * i);
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

/* --- states --------------------------------------------------------------------------- */

static void uniform_numbers(size_t n, const uint32_t *words, float *out) {
    for (size_t i = 0; i < n; i++) out[i] = train_philox_uniform(words[i]);
}

CODEC_CLONES void train_sample_rows(const train_noise *noise, train_states states, size_t rows,
                                    size_t n, size_t stride, const float *mean, float *to) {
    uint32_t words[WORDS];
    float drawn[WORDS];
    for (size_t r = 0; r < rows; r++)
        for (size_t at = 0; at < n; at += WORDS) {
            size_t now = n - at < WORDS ? n - at : WORDS, blocks = (now + 3) / 4;
            const float *from = mean + r * stride + at;
            draw(noise, TRAIN_STREAM_STATES, r, at / 4, blocks, words);
            if (states == TRAIN_GAUSSIAN)
                normal_deviates(4 * blocks, words, drawn);
            else
                uniform_numbers(4 * blocks, words, drawn);
            for (size_t i = 0; i < now; i++)
                to[r * stride + at + i] = train_state(states, from[i], drawn[i]);
        }
}
