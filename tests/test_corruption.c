/* test_corruption.c -- corrupted inputs, dropout and normal noise: rates, moments, and that a row's
 * noise depends on its number alone. */
#include "cmocka_all.h"
#include "train/sampling/corruption.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60, N = 1003, STRIDE = 1010 };

static float x[ROWS * STRIDE], y[ROWS * STRIDE];

static void fill(float *v) {
    for (size_t i = 0; i < ROWS * STRIDE; i++) v[i] = 1.0f + (float)(i % 7);
}

/* Zeros among x, all else being `scale` times what fill() wrote; what lies between rows untouched.
 */
static size_t count_zeros(float scale) {
    size_t zeros = 0;
    for (size_t i = 0; i < ROWS * STRIDE; i++) {
        float was = 1.0f + (float)(i % 7);
        if (i % STRIDE >= N)
            assert_true(x[i] == was);
        else if (x[i] == 0.0f)
            zeros++;
        else
            assert_true(x[i] == was * scale);
    }
    return zeros;
}

static void rates_are_as_asked(void **state) {
    (void)state;
    static const float p[] = {0.1f, 0.2f, 0.5f, 0.9f, 0.003f};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        const train_noise noise = {5, 77 + i, 0, NULL};
        double n = ROWS * N, sigma = sqrt(n * p[i] * (1.0 - p[i]));
        fill(x);
        train_corrupt_rows(&noise, p[i], ROWS, N, STRIDE, x);
        double corrupted = (double)count_zeros(1.0f);
        fill(x);
        train_dropout_rows(&noise, 1, p[i], ROWS, N, STRIDE, x);
        double kept = 1.0 - lrint(p[i] * 65536.0) / 65536.0;
        double dropped = (double)count_zeros((float)(1.0 / kept));
        assert_true(fabs(corrupted - n * p[i]) < 3.0 * sigma);
        assert_true(fabs(dropped - n * p[i]) < 3.0 * sigma);
    }
    const train_noise noise = {5, 77, 0, NULL};
    fill(x);
    train_corrupt_rows(&noise, 0.0f, ROWS, N, STRIDE, x);
    train_dropout_rows(&noise, 1, 0.0f, ROWS, N, STRIDE, x);
    assert_int_equal(count_zeros(1.0f), 0);
    train_corrupt_rows(&noise, 1.0f, ROWS, N, STRIDE, x);
    assert_int_equal(count_zeros(1.0f), ROWS * N);
    fill(x);
    train_dropout_rows(&noise, 1, 1.0f, ROWS, N, STRIDE, x);
    assert_int_equal(count_zeros(1.0f), ROWS * N);
}

/* Every column is hit at the rate, and no column with its neighbour. */
static void columns_are_independent(void **state) {
    (void)state;
    enum { STEPS = 400 };
    static double hits[N], both[N];
    memset(hits, 0, sizeof hits), memset(both, 0, sizeof both);
    for (uint64_t step = 0; step < STEPS; step++) {
        const train_noise noise = {5, step, 3, NULL};
        for (int i = 0; i < N; i++) x[i] = 1.0f;
        train_corrupt_rows(&noise, 0.25f, 1, N, STRIDE, x);
        for (int i = 0; i < N; i++) {
            hits[i] += x[i] == 0.0f;
            both[i] += x[i] == 0.0f && x[(i + 1) % N] == 0.0f;
        }
    }
    for (int i = 0; i < N; i++) {
        assert_true(fabs(hits[i] - 0.25 * STEPS) < 5.0 * sqrt(0.25 * 0.75 * STEPS));
        assert_true(fabs(both[i] - STEPS / 16.0) < 5.0 * sqrt(15.0 / 256.0 * STEPS));
    }
}

static void dropout_keeps_the_mean(void **state) {
    (void)state;
    double before = 0.0, after = 0.0, square = 0.0;
    for (uint64_t step = 0; step < 10; step++) {
        const train_noise noise = {8, step, 0, NULL};
        fill(x);
        train_dropout_rows(&noise, 0, 0.2f, ROWS, N, STRIDE, x);
        for (size_t i = 0; i < ROWS * STRIDE; i++) {
            double was = 1.0 + (double)(i % 7);
            if (i % STRIDE >= N) continue;
            before += was;
            after += x[i];
            square += was * was * 0.2 / 0.8; /* variance of was * mask / 0.8 */
        }
    }
    assert_true(fabs(after - before) < 3.0 * sqrt(square));
}

typedef void apply(const train_noise *noise, size_t rows, float *v);
static void corrupt(const train_noise *noise, size_t rows, float *v) {
    train_corrupt_rows(noise, 0.3f, rows, N, STRIDE, v);
}
static void drop_0(const train_noise *noise, size_t rows, float *v) {
    train_dropout_rows(noise, 0, 0.3f, rows, N, STRIDE, v);
}
static void drop_1(const train_noise *noise, size_t rows, float *v) {
    train_dropout_rows(noise, 1, 0.3f, rows, N, STRIDE, v);
}
static void perturb(const train_noise *noise, size_t rows, float *v) {
    train_perturb_rows(noise, 2.0, rows, N, STRIDE, v, v, NULL);
}

static void sample(const train_noise *noise, size_t rows, float *v) {
    train_sample_rows(noise, TRAIN_GAUSSIAN, rows, N, STRIDE, v, v);
}

static void noise_depends_on_the_rows_number(void **state) {
    (void)state;
    static apply *const all[] = {corrupt, drop_0, drop_1, perturb, sample};
    for (int a = 0; a < 5; a++) {
        fill(x);
        all[a](&(train_noise){3, 9, 1000, NULL}, ROWS, x);
        fill(y);
        for (uint64_t r = 0; r < ROWS;) { /* in pieces of 1, 2, 3, ... rows */
            uint64_t rows = r % 5 + 1 < ROWS - r ? r % 5 + 1 : ROWS - r;
            all[a](&(train_noise){3, 9, 1000 + r, NULL}, rows, y + r * STRIDE);
            r += rows;
        }
        assert_memory_equal(x, y, sizeof x);
        uint32_t number[ROWS]; /* the same rows, listed, the last one first */
        for (uint32_t r = 0; r < ROWS; r++) number[r] = 1000 + ROWS - 1 - r;
        fill(y);
        for (int r = 0; r < ROWS; r++)
            all[a](&(train_noise){3, 9, (uint64_t)r, number}, 1, y + (ROWS - 1 - r) * STRIDE);
        assert_memory_equal(x, y, sizeof x);
        /* anything else gives another row: row, step, seed, purpose */
        const train_noise others[] = {
            {3, 9, 1001, NULL}, {3, 10, 1000, NULL}, {4, 9, 1000, NULL}, {3, 9, 1000, NULL}};
        for (int o = 0; o < 4; o++) {
            fill(y);
            (o < 3 ? all[a] : all[(a + 1) % 5])(&others[o], 1, y);
            size_t same = 0;
            for (int i = 0; i < N; i++) same += (x[i] == 0.0f) == (y[i] == 0.0f);
            double p = 0.7 * 0.7 + 0.3 * 0.3;
            if (a < 2 || (a == 2 && o < 3))
                assert_true(fabs((double)same - N * p) < 4.0 * sqrt(N * p * (1.0 - p)));
            else
                assert_memory_not_equal(x, y, N * sizeof *x);
        }
    }
}

/* --- normal noise --------------------------------------------------------------------- */

static void normal_noise_has_its_moments(void **state) {
    (void)state;
    enum { STEPS = 20 };
    double sum[5] = {0}, n = (double)STEPS * ROWS * N, tail = 0.0, lag = 0.0, error = 0.0;
    static double squares[ROWS];
    for (uint64_t step = 0; step < STEPS; step++) {
        memset(x, 0, sizeof x);
        train_perturb_rows(&(train_noise){1, step, 0, NULL}, 0.25, ROWS, N, STRIDE, x, y, squares);
        for (size_t r = 0; r < ROWS; r++) {
            double square = 0.0, before = 0.0;
            for (size_t i = 0; i < N; i++) {
                double e = y[r * STRIDE + i] / 0.5, power = 1.0;
                for (int m = 0; m < 5; m++) sum[m] += power / n, power *= e;
                tail += fabs(e) > 3.0;
                lag += e * before / n;
                before = e;
                square += 0.25 * e * e;
            }
            error = fmax(error, fabs(square / squares[r] - 1.0));
        }
    }
    printf("mean %.5f, variance %.5f, third %.4f, kurtosis %.4f, beyond 3 sigma %.6f\n", sum[1],
           sum[2], sum[3], sum[4], tail / n);
    assert_true(fabs(sum[1]) < 3.0 / sqrt(n) && fabs(sum[2] - 1.0) < 3.0 * sqrt(2.0 / n));
    assert_true(fabs(sum[3]) < 3.0 * sqrt(15.0 / n) && fabs(sum[4] - 3.0) < 3.0 * sqrt(96.0 / n));
    assert_true(fabs(tail / n - 0.0026998) < 3.0 * sqrt(0.0027 / n) && fabs(lag) < 3.0 / sqrt(n));
    assert_true(error < 1e-12);
}

/* The deviates are those of Box and Muller in double. */
static void normal_noise_equals_its_definition(void **state) {
    (void)state;
    double worst = 0.0;
    memset(x, 0, sizeof x);
    train_perturb_rows(&(train_noise){12, 5, 40, NULL}, 1.0, ROWS, N, STRIDE, x, y, NULL);
    for (uint64_t r = 0; r < ROWS; r++)
        for (uint64_t i = 0; i < N; i++) {
            uint32_t word[4];
            train_philox(12, ((40 + r) << 24) + i / 4, TRAIN_STREAM_PERTURB + (5 << 16), word);
            const uint32_t *pair = word + i % 4 / 2 * 2;
            double u = (double)(pair[0] >> 8) * 0x1p-24 + 0x1p-25;
            double radius = sqrt(-2.0 * log(u)), angle = 6.283185307179586 * pair[1] * 0x1p-32;
            double wanted = radius * (i % 2 ? sin(angle) : cos(angle));
            worst = fmax(worst, fabs(y[r * STRIDE + i] - wanted));
        }
    printf("largest difference %.2g\n", worst);
    assert_true(worst < 1e-3); /* near u = 1 a float cannot tell u from 1 */
    for (size_t i = 0; i < ROWS * STRIDE; i++)
        if (i % STRIDE >= N) y[i] = x[i];
    fill(x);
    memcpy(y, x, sizeof x);
    train_perturb_rows(&(train_noise){12, 5, 40, NULL}, 0.0, ROWS, N, STRIDE, x, x, NULL);
    assert_memory_equal(x, y, sizeof x); /* no variance, no noise, nothing between rows */
}

/* --- states --------------------------------------------------------------------------- */

/* Bernoulli states are 1 as often as their means say, and that means alone decide. */
static void states_have_their_means(void **state) {
    (void)state;
    enum { STEPS = 20 };
    static const float p[] = {0.0f, 0.01f, 0.5f, 0.875f, 1.0f};
    for (size_t k = 0; k < sizeof p / sizeof *p; k++) {
        double sum = 0.0, both = 0.0, n = (double)STEPS * ROWS * N, q = (double)p[k] * p[k];
        for (size_t i = 0; i < ROWS * STRIDE; i++) x[i] = p[k];
        for (uint64_t step = 0; step < STEPS; step++) {
            train_sample_rows(&(train_noise){1, step, 0, NULL}, TRAIN_BERNOULLI, ROWS, N, STRIDE, x,
                              y);
            for (size_t r = 0; r < ROWS; r++)
                for (size_t i = 0; i < N; i++) {
                    const float s = y[r * STRIDE + i];
                    assert_true(s == 0.0f || s == 1.0f);
                    sum += s, both += s * y[r * STRIDE + (i + 1) % N];
                }
        }
        assert_true(fabs(sum - n * p[k]) <= 3.0 * sqrt(n * p[k] * (1.0 - p[k])));
        assert_true(fabs(both - n * q) <= 8.0 * sqrt(n * q * (1.0 - q)));
    }
}

/* Gaussian ones are their means and the deviates of Box and Muller, of a stream of their own. */
static void gaussian_states_equal_their_definition(void **state) {
    (void)state;
    fill(x);
    train_sample_rows(&(train_noise){12, 5, 40, NULL}, TRAIN_GAUSSIAN, ROWS, N, STRIDE, x, y);
    for (uint64_t r = 0; r < ROWS; r++)
        for (uint64_t i = 0; i < N; i++) {
            uint32_t word[4];
            train_philox(12, ((40 + r) << 24) + i / 4, TRAIN_STREAM_STATES + (5 << 16), word);
            const uint32_t *pair = word + i % 4 / 2 * 2;
            double u = (double)(pair[0] >> 8) * 0x1p-24 + 0x1p-25;
            double radius = sqrt(-2.0 * log(u)), angle = 6.283185307179586 * pair[1] * 0x1p-32;
            double wanted = x[r * STRIDE + i] + radius * (i % 2 ? sin(angle) : cos(angle));
            assert_true(fabs(y[r * STRIDE + i] - wanted) < 1e-3);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_as_asked),
        cmocka_unit_test(columns_are_independent),
        cmocka_unit_test(dropout_keeps_the_mean),
        cmocka_unit_test(noise_depends_on_the_rows_number),
        cmocka_unit_test(normal_noise_has_its_moments),
        cmocka_unit_test(normal_noise_equals_its_definition),
        cmocka_unit_test(states_have_their_means),
        cmocka_unit_test(gaussian_states_equal_their_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
