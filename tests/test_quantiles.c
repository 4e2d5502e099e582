/* test_quantiles.c -- thresholds with a given share above them: exact on small sets, against
 * trying all of them; followed from batch to batch on normal, skewed, shifting and still data, on
 * the processor and on its shadow, to the same bits. */
#include "on_device.h"
#include "train/sampling/philox.h"
#include "train/sampling/quantile.h"
#include <math.h>
#include <stdio.h>

/* --- exact ---------------------------------------------------------------------------- */

static size_t count_above(const float *v, size_t n, float threshold) {
    size_t above = 0;
    for (size_t i = 0; i < n; i++) above += v[i] > threshold;
    return above;
}

/* How far from beta n the best of all thresholds comes: each value, and one below all. */
static double best_miss(const float *v, size_t n, double beta) {
    double best = fabs((double)n - beta * (double)n);
    for (size_t i = 0; i < n; i++)
        best = fmin(best, fabs((double)count_above(v, n, v[i]) - beta * (double)n));
    return best;
}

static void small_sets_are_exact(void **state) {
    (void)state;
    float values[40], kept[40];
    uint64_t draws = 0;
    for (size_t n = 1; n <= 40; n++)
        for (uint32_t levels = 1; levels <= 64;
             levels *= 4) /* from all alike to hardly any alike */
            for (double beta = 0.02; beta < 1.0; beta += 0.08) {
                for (size_t i = 0; i < n; i++) {
                    uint32_t word[4];
                    train_philox(2, draws++, 710, word);
                    values[i] = kept[i] = (float)train_philox_below(word[0], levels) - 3.5f;
                }
                float t = train_exact_quantile(values, n, beta);
                double miss = fabs((double)count_above(kept, n, t) - beta * (double)n);
                if (!(miss <= best_miss(kept, n, beta) + 1e-9))
                    fail_msg("%zu values of %u, beta %g: %g", n, levels, beta, (double)t);
                for (size_t i = 0; i < n; i++) { /* the same values, in another order */
                    size_t had = 0, has = 0;
                    for (size_t j = 0; j < n; j++)
                        had += kept[j] == kept[i], has += values[j] == kept[i];
                    assert_int_equal(had, has);
                }
            }
}

static void known_quantiles(void **state) {
    (void)state;
    float ten[] = {9, 1, 8, 2, 7, 3, 6, 4, 5, 0};
    assert_true(train_exact_quantile(ten, 10, 0.2) == 7.5f);
    assert_true(train_exact_quantile(ten, 10, 0.5) == 4.5f);
    assert_true(train_exact_quantile(ten, 10, 0.999) < 0.0f);
    assert_true(train_exact_quantile(ten, 10, 0.001) >= 9.0f);
    float ties[] = {1, 1, 1, 0, 0, 0, 0, 0, 0, 0};
    assert_true(train_exact_quantile(ties, 10, 0.2) == 0.5f); /* 3 above rather than none */
    float close[] = {1.0f, nextafterf(1.0f, 2.0f)};
    assert_true(train_exact_quantile(close, 2, 0.5) == 1.0f); /* nothing lies between */
    close[0] = nextafterf(1.0f, 2.0f), close[1] = nextafterf(close[0], 2.0f);
    float lower = close[0];
    assert_true(train_exact_quantile(close, 2, 0.5) == lower); /* halfway would round up */
    float even[] = {1, 2, 0, 1};
    assert_true(train_exact_quantile(even, 4, 0.5) == 1.5f); /* 1 above rather than 3 */
    float wide[] = {-INFINITY, -3e38f, 3e38f, INFINITY};
    assert_true(train_exact_quantile(wide, 4, 0.5) == 0.0f);
    float one[] = {5.0f};
    assert_true(train_exact_quantile(one, 1, 0.4) == 5.0f);
    assert_true(train_exact_quantile(one, 1, 0.6) < 5.0f);
    assert_true(train_exact_quantile(NULL, 0, 0.5) == 0.0f);
    float nan[] = {NAN, 1, NAN, 2, 3};
    (void)train_exact_quantile(nan, 5, 0.5); /* ends */
}

static void large_sets_take_no_time(void **state) {
    (void)state;
    enum { N = 400000 };
    float *v = malloc(N * sizeof *v);
    assert_non_null(v);
    for (int order = 0; order < 4; order++) { /* rising, falling, organ pipes, two values */
        for (int i = 0; i < N; i++)
            v[i] = (float)(order == 0   ? i
                           : order == 1 ? N - i
                           : order == 2 ? abs(4 * i - N + 1)
                                        : i % 2);
        float t = train_exact_quantile(v, N, 0.5);
        assert_int_equal(count_above(v, N, t), N / 2);
    }
    free(v);
}

/* --- from batch to batch -------------------------------------------------------------- */

enum { UNITS = 150, ROWS = 500, STRIDE = 160, BATCHES = 120 };

static float batch[ROWS * STRIDE];

/* Unit k of batch t: kind 0 normal of many sizes, 1 a skewed one (a square), 2 a normal one that
 * wanders by one standard deviation in the course of the batches, 3 one that jumps
 * once, by twenty. */
static void draw_batch(int kind, uint64_t t) {
    for (uint64_t r = 0; r < ROWS; r++)
        for (uint64_t k = 0; k < STRIDE; k += 2) {
            uint32_t word[4];
            float x[2];
            train_philox(6 + t, r * STRIDE + k, 720 + (uint64_t)kind, word);
            train_philox_normal(word, x);
            for (int i = 0; i < 2; i++) {
                float size = powf(10.0f, (float)(k % 11) - 5.0f);
                if (kind == 1) x[i] *= x[i];
                if (kind == 2) x[i] += (float)t / BATCHES;
                if (kind == 3 && t > 10) x[i] += 20.0f;
                batch[r * STRIDE + k + (uint64_t)i] = size * x[i] + 0.5f * size;
            }
        }
}

enum { PLACES = 2 };
static on_device place[PLACES]; /* the processor with three threads, its shadow */

/* Thresholds of some units, on each device. */
typedef struct followed {
    size_t units;
    float *batch[PLACES], *bias[PLACES], *spread[PLACES];
    float threshold[UNITS], spread_of[UNITS]; /* as they are now */
} followed;

static followed begin(size_t units, size_t values) {
    followed f = {.units = units};
    float none[UNITS], zeros[UNITS] = {0};
    for (int k = 0; k < UNITS; k++) none[k] = -1.0f;
    for (int i = 0; i < PLACES; i++) {
        f.batch[i] = on_device_give(&place[i], NULL, values * sizeof(float));
        f.bias[i] = on_device_give(&place[i], zeros, units * sizeof(float));
        f.spread[i] = on_device_give(&place[i], none, units * sizeof(float));
    }
    return f;
}

/* Units first .. first + n - 1 see a[rows][stride], on both devices. */
static void see(followed *f, const float *a, size_t rows, size_t stride, size_t first, size_t n,
                double beta, const train_verdict *verdict) {
    for (int i = 0; i < PLACES; i++) {
        on_device *d = &place[i];
        float bias[UNITS], spread[UNITS];
        const train_verdict *said = verdict ? on_device_give(d, verdict, sizeof *verdict) : NULL;
        assert_int_equal(train_upload(&d->stream, f->batch[i], a, rows * stride * sizeof *a),
                         TAPER_OK);
        const train_quantiles q = {
            rows, stride, n, beta, f->batch[i] + first, f->bias[i] + first, f->spread[i] + first};
        assert_int_equal(d->stream.ops->follow_quantiles(&d->stream, &q, said), TAPER_OK);
        on_device_take(d, bias, f->bias[i], f->units * sizeof *bias);
        on_device_take(d, spread, f->spread[i], f->units * sizeof *spread);
        for (size_t k = 0; k < f->units; k++) {
            if (i) assert_true(f->threshold[k] == -bias[k] && f->spread_of[k] == spread[k]);
            f->threshold[k] = -bias[k], f->spread_of[k] = spread[k];
        }
    }
}

static void see_batch(followed *f, size_t first, size_t n, double beta) {
    see(f, batch, ROWS, STRIDE, first, n, beta, NULL);
}

/* Root mean square, over units, of the share above less beta; and the largest of the means over the
 * last 20 batches. */
static void follow(int kind, double beta) {
    double mean[UNITS] = {0}, worst = 0.0, square = 0.0;
    followed f = begin(UNITS, ROWS * STRIDE);
    for (uint64_t t = 0; t < BATCHES; t++) {
        draw_batch(kind, t);
        for (int k = 0; k < UNITS && t >= BATCHES - 20; k++) { /* on data it has not seen yet */
            size_t above = 0;
            for (size_t r = 0; r < ROWS; r++) above += batch[r * STRIDE + k] > f.threshold[k];
            double miss = (double)above / ROWS - beta;
            mean[k] += miss / 20;
            square += miss * miss / (20 * UNITS);
        }
        see_batch(&f, 0, UNITS, beta);
    }
    for (int k = 0; k < UNITS; k++) worst = fmax(worst, fabs(mean[k]));
    printf("kind %d, beta %g: worst unit %.4f off, a batch %.4f (chance alone %.4f)\n", kind, beta,
           worst, sqrt(square), sqrt(beta * (1.0 - beta) / ROWS));
    assert_true(worst < 0.02 && sqrt(square) < 0.03);
}

static void shares_are_followed(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        follow(kind, 0.2);
        follow(kind, 0.5);
    }
}

static void first_batch_is_exact(void **state) {
    (void)state;
    followed f = begin(UNITS, ROWS * STRIDE);
    draw_batch(1, 0);
    see_batch(&f, 0, UNITS, 0.2);
    for (int k = 0; k < UNITS; k++) {
        size_t above = 0;
        for (size_t r = 0; r < ROWS; r++) above += batch[r * STRIDE + k] > f.threshold[k];
        assert_int_equal(above, ROWS / 5);
    }
}

static void only_the_range_moves(void **state) {
    (void)state;
    followed all = begin(UNITS, ROWS * STRIDE), some = begin(UNITS, ROWS * STRIDE);
    for (uint64_t t = 0; t < 3; t++) {
        draw_batch(0, t);
        see_batch(&all, 0, UNITS, 0.2);
        for (uint32_t k = 0; k < UNITS; k += 70) /* odd ranges give the same */
            see_batch(&some, k, UNITS - k < 70 ? UNITS - k : 70, 0.2);
    }
    assert_memory_equal(all.threshold, some.threshold, sizeof all.threshold);
    assert_memory_equal(all.spread_of, some.spread_of, sizeof all.spread_of);
    draw_batch(0, 3);
    for (size_t r = 0; r < ROWS; r++) batch[r * STRIDE + 97] = r == 3 ? NAN : 1.0f;
    see_batch(&all, 90, 10, 0.2);
    for (int k = 0; k < UNITS; k++) {
        int moved = k >= 90 && k < 100 && k != 97; /* and not the one with the NaN */
        if (!moved) assert_true(all.threshold[k] == some.threshold[k]);
        assert_true((all.spread_of[k] != some.spread_of[k]) == moved);
    }
    some = all;
    see(&all, batch, 0, STRIDE, 0, UNITS, 0.2, NULL); /* no rows */
    const train_verdict diverged = {.diverged = 7, .scale = 1.0f};
    see(&all, batch, ROWS, STRIDE, 0, UNITS, 0.2, &diverged);
    assert_memory_equal(all.threshold, some.threshold, sizeof all.threshold);
    assert_memory_equal(all.spread_of, some.spread_of, sizeof all.spread_of);
    const train_verdict sound = {.scale = 1.0f};
    see(&all, batch, ROWS, STRIDE, 0, 1, 0.2, &sound);
    assert_true(all.threshold[0] != some.threshold[0]);
}

/* A unit that gives one value is where it was; one that starts with NaN starts later. */
static void odd_units_stay_finite(void **state) {
    (void)state;
    float a[8][3];
    followed f = begin(3, 8 * 3);
    for (int t = 0; t < 20; t++) {
        for (int r = 0; r < 8; r++) {
            a[r][0] = 7.0f;
            a[r][1] = t < 4 && r == 2 ? NAN : (float)r;
            a[r][2] = t < 4 ? INFINITY : 0.0f;
        }
        see(&f, &a[0][0], 8, 3, 0, 3, 0.5, NULL);
        assert_true(f.threshold[0] == nextafterf(7.0f, 0.0f) || f.threshold[0] == 7.0f);
        assert_true(t >= 4 || (f.threshold[1] == 0.0f && f.threshold[2] == 0.0f));
        assert_true((f.spread_of[1] >= 0.0f) == (t >= 4) && (f.spread_of[2] >= 0.0f) == (t >= 4));
    }
    assert_true(f.threshold[1] == 3.5f && fabsf(f.threshold[2]) < 1e-6f);
}

static int open_places(void **state) {
    (void)state;
    on_device_open_threads(&place[0], TRAIN_PROCESSOR, 3);
    on_device_open(&place[1], TRAIN_SHADOW);
    return 0;
}

static int close_places(void **state) {
    (void)state;
    for (int i = 0; i < PLACES; i++) on_device_close(&place[i]);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_sets_are_exact),    cmocka_unit_test(known_quantiles),
        cmocka_unit_test(large_sets_take_no_time), cmocka_unit_test(shares_are_followed),
        cmocka_unit_test(first_batch_is_exact),    cmocka_unit_test(only_the_range_moves),
        cmocka_unit_test(odd_units_stay_finite),
    };
    return cmocka_run_group_tests(tests, open_places, close_places);
}
