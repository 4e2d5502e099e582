/* test_paper.c -- what the paper's codes are held against: refitted decoders, iterative
 * quantisation, rungs placed for a population; populations. */
#include "bench/paper/itq.h"
#include "bench/paper/populations.h"
#include "bench/paper/least_squares.h"
#include "bench/paper/rungs.h"
#include "cmocka_all.h"
#include "codec/backend/backend.h"
#include "scratch.h"
#include "train/calibrate/cholesky.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 6, INPUTS = 5, ROWS = 1500, STREAM = 900 };

static float uniform(uint64_t index) {
    uint32_t word[4];
    train_philox(11, index, STREAM, word);
    return train_philox_uniform(word[0]);
}

/* Codes of 0.5 and -0.5, units 3 and 5 often 1 and 4 again, and pixels that are these times
 * `weight`, with noise and a bias. Weights rise with the unit's number. */
static void draw(size_t n, uint64_t from, float *codes, float *pixels) {
    for (size_t i = 0; i < n; i++) {
        float *x = codes + i * UNITS, *y = pixels + i * INPUTS;
        uint64_t at = (from + i) * 64;
        for (size_t k = 0; k < UNITS; k++) x[k] = uniform(at++) < 0.5f ? -0.5f : 0.5f;
        if (uniform(at++) < 0.8f) x[3] = x[1];
        if (uniform(at++) < 0.7f) x[5] = x[4];
        for (size_t d = 0; d < INPUTS; d++) {
            y[d] = 3.0f + 4.0f * uniform(at++);
            for (size_t k = 0; k < UNITS; k++)
                y[d] += x[k] * (1.0f + (float)k) * (2.0f * uniform(k * INPUTS + d) - 1.0f);
        }
    }
}

/* Squared error on test rows of the decoder of the first b units in an order, from normal equations
 * of its own. */
static double error_by_normal_equations(const float *x, const float *y, const float *x_test,
                                        const float *y_test, size_t n, const uint32_t *order,
                                        uint32_t b, double ridge) {
    double error = 0.0;
    for (size_t d = 0; d < INPUTS; d++) {
        double a[(UNITS + 1) * (UNITS + 1)] = {0}, v[UNITS + 1] = {0};
        uint32_t rows = b + 1;
        for (size_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < rows; j++) {
                double xj = j ? (double)x[i * UNITS + order[j - 1]] : 1.0;
                v[j] += xj * (double)y[i * INPUTS + d] / (double)n;
                for (uint32_t k = 0; k < rows; k++)
                    a[j * rows + k] +=
                        xj * (k ? (double)x[i * UNITS + order[k - 1]] : 1.0) / (double)n;
            }
        for (uint32_t j = 1; j < rows; j++) a[j * rows + j] += ridge;
        assert_int_equal(train_solve_positive(a, v, rows), 0);
        for (size_t i = 0; i < n; i++) {
            double left = (double)y_test[i * INPUTS + d] - v[0];
            for (uint32_t j = 1; j < rows; j++)
                left -= v[j] * (double)x_test[i * UNITS + order[j - 1]];
            error += left * left;
        }
    }
    return error;
}

typedef struct samples {
    float x[ROWS * UNITS], y[ROWS * INPUTS], x_test[ROWS * UNITS], y_test[ROWS * INPUTS];
    paper_moments moments;
    codec_backend be;
} samples;

/* Moments in two goes. */
static samples *gather(void) {
    samples *s = calloc(1, sizeof *s);
    assert_non_null(s);
    draw(ROWS, 0, s->x, s->y);
    draw(ROWS, ROWS, s->x_test, s->y_test);
    codec_backend_cpu(&s->be);
    assert_int_equal(paper_moments_alloc(&s->moments, UNITS, INPUTS), TAPER_OK);
    assert_int_equal(paper_moments_add(&s->moments, &s->be, s->x, s->y, 1000), TAPER_OK);
    assert_int_equal(paper_moments_add(&s->moments, &s->be, s->x + 1000 * UNITS,
                                       s->y + 1000 * INPUTS, ROWS - 1000),
                     TAPER_OK);
    return s;
}

static void drop(samples *s) {
    paper_moments_free(&s->moments);
    free(s);
}

static void every_length_has_the_best_decoder(void **state) {
    (void)state;
    static const uint32_t orders[2][UNITS] = {{0, 1, 2, 3, 4, 5}, {4, 1, 3, 0, 5, 2}};
    samples *s = gather();
    for (int o = 0; o < 2; o++) {
        paper_refit refit;
        double error[UNITS + 1] = {0}, on_training[UNITS + 1] = {0}, ridge = o ? 0.05 : 1e-6;
        assert_int_equal(
            paper_refit_solve(&refit, &s->moments, &s->be, o ? orders[o] : NULL, ridge), TAPER_OK);
        assert_int_equal(paper_refit_errors(&refit, &s->be, s->x_test, s->y_test, ROWS, error),
                         TAPER_OK);
        assert_int_equal(paper_refit_errors(&refit, &s->be, s->x, s->y, ROWS, on_training),
                         TAPER_OK);
        for (uint32_t b = 0; b <= UNITS; b++) {
            double wanted = error_by_normal_equations(s->x, s->y, s->x_test, s->y_test, ROWS,
                                                      orders[o], b, ridge);
            if (!(fabs(error[b] / wanted - 1.0) < 1e-4))
                fail_msg("%u units: %g, not %g", b, error[b], wanted);
            if (b) assert_true(on_training[b] <= on_training[b - 1] * (1.0 + 1e-6));
        }
        paper_refit_free(&refit);
    }
    drop(s);
}

/* Each unit is the one that, behind those before it, leaves the least error. */
static void forward_selection_takes_what_says_most(void **state) {
    (void)state;
    samples *s = gather();
    uint32_t order[UNITS];
    assert_int_equal(paper_greedy_order(&s->moments, 1e-6, order), TAPER_OK);
    for (uint32_t i = 0; i < UNITS; i++) {
        uint32_t tried[UNITS], best = UNITS;
        double least = INFINITY;
        for (uint32_t k = 0; k < UNITS; k++) {
            uint32_t before = 0;
            while (before < i && (tried[before] = order[before]) != k) before++;
            if (before < i) continue;
            tried[i] = k;
            double error =
                error_by_normal_equations(s->x, s->y, s->x, s->y, ROWS, tried, i + 1, 1e-6);
            if (error < least) least = error, best = k;
        }
        assert_int_equal(order[i], best);
    }
    drop(s);
}

static void moments_that_say_nothing_are_refused(void **state) {
    (void)state;
    samples *s = gather();
    paper_moments moments;
    paper_refit refit;
    float zeros[UNITS * 4] = {0};
    assert_int_equal(paper_moments_alloc(&moments, UNITS, INPUTS), TAPER_OK);
    assert_int_equal(paper_moments_add(&moments, &s->be, zeros, s->y, 4), TAPER_OK);
    assert_int_equal(paper_refit_solve(&refit, &moments, &s->be, NULL, 0.0), TAPER_ERR_ARG);
    assert_null(refit.decoder);
    paper_moments_free(&moments);
    drop(s);
}

/* Corners of a cube that was turned are found again; the rotation is one. */
static void itq_turns_a_cube_upright(void **state) {
    (void)state;
    enum { BITS = 3, N = 600 };
    static const double c = 0.8, s = 0.6;
    float v[N * BITS], rotation[BITS * BITS], turned[N * BITS];
    codec_backend be;
    taper_error error = {0};
    codec_backend_cpu(&be);
    for (uint64_t i = 0; i < N; i++) {
        double x[BITS];
        for (uint64_t k = 0; k < BITS; k++) x[k] = uniform(1000000 + i * BITS + k) < 0.5f ? -1 : 1;
        double y = c * x[0] - s * x[1], z = s * x[0] + c * x[1];
        v[i * BITS] = (float)y, v[i * BITS + 1] = (float)(c * z - s * x[2]);
        v[i * BITS + 2] = (float)(s * z + c * x[2]);
    }
    taper_status status = paper_itq(&be, v, N, BITS, 50, 1, rotation, &error);
    if (status == TAPER_ERR_IO && strstr(error.text, "LAPACK")) skip();
    assert_int_equal(status, TAPER_OK);
    for (int i = 0; i < BITS; i++)
        for (int j = 0; j < BITS; j++) {
            double dot = 0.0;
            for (int k = 0; k < BITS; k++)
                dot += (double)rotation[i * BITS + k] * (double)rotation[j * BITS + k];
            assert_true(fabs(dot - (i == j)) < 1e-5);
        }
    assert_int_equal(be.ops->gemm(&be, 0, 0, N, BITS, BITS, v, rotation, 0.0f, turned), TAPER_OK);
    for (int i = 0; i < N * BITS; i++) assert_true(fabs(fabs((double)turned[i]) - 1.0) < 1e-4);
}

/* Against all sets of rungs. */
static void rungs_are_the_best_there_are(void **state) {
    (void)state;
    enum { LONGEST = 9, MOST = 3 };
    for (uint64_t t = 0; t < 40; t++) {
        double mass[LONGEST], error[LONGEST + 1], least = INFINITY;
        uint32_t rung[PAPER_MAX_RUNGS], used = 0;
        error[0] = 100.0;
        for (uint64_t b = 1; b <= LONGEST; b++) {
            mass[b - 1] = (double)uniform(2000000 + t * 32 + b);
            error[b] = error[b - 1] * (0.6 + 0.45 * (double)uniform(3000000 + t * 32 + b));
        }
        for (unsigned set = 1; set < 1u << LONGEST; set++) {
            double sum = 0.0, at = error[0];
            unsigned n = 0;
            for (unsigned b = 1; b <= LONGEST; b++) {
                if (set >> (b - 1) & 1) at = error[b], n++;
                sum += mass[b - 1] * at;
            }
            if (n <= MOST && sum < least) least = sum;
        }
        double placed = paper_place_rungs(mass, error, LONGEST, MOST, rung, &used), sum = 0.0;
        assert_true(fabs(placed - least) < 1e-9 * least);
        assert_in_range(used, 1, MOST);
        for (uint32_t b = 1, i = 0; b <= LONGEST; b++) { /* and they cost what is said */
            if (i < used && rung[i] == b) i++;
            sum += mass[b - 1] * error[i ? rung[i - 1] : 0];
        }
        assert_true(fabs(sum - placed) < 1e-9 * placed);
    }
}

static void errors_between_lengths(void **state) {
    (void)state;
    static const uint32_t length[] = {0, 1, 7, 15};
    static const double at[] = {8, 5, 3, 2};
    double error[16];
    paper_interpolate_errors(length, at, 4, error);
    for (int i = 0; i < 4; i++) assert_true(fabs(error[length[i]] - at[i]) < 1e-12);
    assert_true(fabs(error[3] - 4.0) < 1e-12); /* log2(1 + b): 1, 2, 3 */
    for (int b = 1; b < 16; b++) assert_true(error[b] < error[b - 1]);
}

/* Half of a log-normal population is below its median, but for what is spread evenly and what lies
 * beyond the last length; as a file it is the same. */
static void populations(void **state) {
    (void)state;
    enum { LONGEST = 1000 };
    char folder[SCRATCH_PATH], path[SCRATCH_PATH], spec[SCRATCH_PATH + 8];
    train_truncation t, read;
    taper_error error = {0};
    assert_int_equal(paper_truncation(&t, "log-normal:40", LONGEST, &error), TAPER_OK);
    assert_true(fabs(t.tail[0] - 1.0) < 1e-12 && t.tail[LONGEST] == 0.0);
    assert_true(fabs(t.tail[40] - 0.5) < 0.02);
    /* exp(mu + sigma) and exp(mu - sigma) bound 68 % */
    assert_true(fabs(t.tail[22] - t.tail[73] - 0.68) < 0.03);
    for (int b = 0; b < LONGEST; b++) assert_true(t.mass[b] >= 0.02 / LONGEST);
    scratch_make(folder);
    scratch_join(path, folder, "population.txt");
    assert_int_equal(paper_write_histogram(&t, path, "words", &error), TAPER_OK);
    snprintf(spec, sizeof spec, "file:%s", path);
    assert_int_equal(paper_truncation(&read, spec, LONGEST, &error), TAPER_OK);
    for (int b = 0; b < LONGEST; b++) assert_true(fabs(read.mass[b] - t.mass[b]) < 1e-7);
    scratch_remove(folder);
    train_truncation_free(&read), train_truncation_free(&t);
    assert_int_equal(paper_truncation(&t, "log-normal:-3", 8, &error), TAPER_ERR_ARG);
}

static void geometric_of_equal_mean(void **state) {
    (void)state;
    static const double means[] = {1.5, 13.6, 32.5, 58.4, 63.9};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        char spec[64];
        train_truncation t;
        snprintf(spec, sizeof spec, "geometric:%.12f", paper_geometric_of_mean(means[i], 64));
        assert_int_equal(paper_truncation(&t, spec, 64, NULL), TAPER_OK);
        assert_true(fabs(paper_mean_length(&t) - means[i]) < 1e-6);
        train_truncation_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_has_the_best_decoder),
        cmocka_unit_test(forward_selection_takes_what_says_most),
        cmocka_unit_test(moments_that_say_nothing_are_refused),
        cmocka_unit_test(itq_turns_a_cube_upright),
        cmocka_unit_test(rungs_are_the_best_there_are),
        cmocka_unit_test(errors_between_lengths),
        cmocka_unit_test(populations),
        cmocka_unit_test(geometric_of_equal_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
