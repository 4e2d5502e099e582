/* test_sparse_basis.c -- bases that are known to be sparse are found again, and units that go
 * together come to lie together. */
#include "cmocka_all.h"
#include "pictures.h"
#include "train/linear/sparse_basis.h"
#include "train/linear/unit_order.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS = 24, UNITS = 16, ROWS = 4000, SEED = 401 };

static double uniform(uint64_t *state) { return (double)(picture_random(state) >> 11) * exp2(-53); }

static double normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform(state);
    return sum;
}

/* Rows orthonormal, by Gram and Schmidt. */
static void draw_basis(float *rows, uint32_t n, uint32_t width, uint64_t *seed) {
    for (uint32_t r = 0; r < n; r++) {
        double x[64], square = 0;
        for (uint32_t i = 0; i < width; i++) x[i] = normal(seed);
        for (uint32_t s = 0; s < r; s++) {
            double dot = 0;
            for (uint32_t i = 0; i < width; i++) dot += x[i] * rows[s * width + i];
            for (uint32_t i = 0; i < width; i++) x[i] -= dot * rows[s * width + i];
        }
        for (uint32_t i = 0; i < width; i++) square += x[i] * x[i];
        for (uint32_t i = 0; i < width; i++) rows[r * width + i] = (float)(x[i] / sqrt(square));
    }
}

typedef struct fixture {
    codec_network net;    /* its basis: the span of the sources, turned at random */
    float *source;        /* [UNITS][INPUTS] what is to be found */
    float *codes, *whole; /* [ROWS][UNITS] by the net's basis; and by the sources */
    codec_backend backend;
} fixture;

/* Each source is silent in nine windows of ten; all have the same variance, so that principal
 * components say nothing. */
static fixture make(uint64_t seed, unsigned threads) {
    fixture f = {.source = malloc(UNITS * INPUTS * sizeof(float)),
                 .codes = malloc(ROWS * UNITS * sizeof(float)),
                 .whole = malloc(ROWS * UNITS * sizeof(float))};
    float turn[UNITS * UNITS];
    assert_true(f.source && f.codes && f.whole);
    codec_backend_cpu(&f.backend);
    if (threads) assert_int_equal(codec_backend_set_threads(&f.backend, threads), TAPER_OK);
    assert_int_equal(codec_network_alloc(&f.net, INPUTS, UNITS, CODEC_TIED, NULL, 0, NULL, 0),
                     TAPER_OK);
    draw_basis(f.source, UNITS, INPUTS, &seed);
    draw_basis(turn, UNITS, UNITS, &seed);
    for (uint32_t i = 0; i < ROWS * UNITS; i++)
        f.whole[i] = uniform(&seed) < 0.1 ? (float)(60 * normal(&seed)) : 0;
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t i = 0; i < INPUTS; i++) {
            double sum = 0;
            for (uint32_t s = 0; s < UNITS; s++)
                sum += turn[u * UNITS + s] * f.source[s * INPUTS + i];
            f.net.synthesis[u * INPUTS + i] = (float)sum;
        }
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t u = 0; u < UNITS; u++) {
            double sum = 0;
            for (uint32_t s = 0; s < UNITS; s++)
                sum += turn[u * UNITS + s] * f.whole[r * UNITS + s];
            f.codes[r * UNITS + u] = (float)sum;
        }
    return f;
}

static void end(fixture *f) {
    codec_network_free(&f->net);
    codec_backend_close(&f->backend);
    free(f->source), free(f->codes), free(f->whole);
}

static double dot(const float *a, const float *b) {
    double sum = 0;
    for (uint32_t i = 0; i < INPUTS; i++) sum += (double)a[i] * b[i];
    return sum;
}

/* What the basis is to make small: sum over rows of min(c^2 / T^2, 1), a mean over windows, for
 * thresholds of 8, 16, 32 and 64. */
static double cost_of(const float *codes) {
    double cost = 0;
    for (uint32_t i = 0; i < ROWS * UNITS; i++)
        for (double T = 8; T <= 64; T *= 2) cost += fmin((double)codes[i] * codes[i] / T / T, 1);
    return cost / ROWS / 4;
}

static void count_steps(void *user, double part) {
    double *last = user;
    assert_true(part > *last && part <= 1);
    *last = part;
}

static void sparse_sources_are_found(void **unused) {
    (void)unused;
    printf("seed %d\n", SEED);
    fixture f = make(SEED, 0);
    double part = 0;
    assert_true(cost_of(f.codes) > 2 * cost_of(f.whole));
    assert_int_equal(
        train_sparse_basis(&f.net, &f.backend, f.codes, ROWS, count_steps, &part, NULL), TAPER_OK);
    assert_true(part == 1);
    for (uint32_t s = 0; s < UNITS; s++) { /* one row for each source */
        double most = 0;
        for (uint32_t u = 0; u < UNITS; u++)
            most = fmax(most, fabs(dot(f.source + s * INPUTS, f.net.synthesis + u * INPUTS)));
        assert_true(most > 0.99);
    }
    for (uint32_t u = 0; u < UNITS; u++) {
        const float *row = f.net.synthesis + u * INPUTS;
        uint32_t top = 0;
        for (uint32_t i = 1; i < INPUTS; i++)
            if (fabsf(row[i]) > fabsf(row[top])) top = i;
        assert_true(row[top] > 0);
        for (uint32_t v = 0; v < UNITS; v++)
            assert_true(fabs(dot(row, f.net.synthesis + v * INPUTS) - (u == v)) <= 1e-5);
    }
    end(&f);
}

/* Nothing above any threshold, or no more windows than units: the span stays. */
static void faint_windows_leave_the_span(void **unused) {
    (void)unused;
    fixture f = make(SEED + 1, 0);
    for (uint32_t i = 0; i < ROWS * UNITS; i++) f.codes[i] *= 1e-3f;
    assert_int_equal(train_sparse_basis(&f.net, &f.backend, f.codes, ROWS, NULL, NULL, NULL),
                     TAPER_OK);
    for (uint32_t s = 0; s < UNITS; s++) {
        double inside = 0;
        for (uint32_t u = 0; u < UNITS; u++) {
            double d = dot(f.source + s * INPUTS, f.net.synthesis + u * INPUTS);
            inside += d * d;
        }
        assert_true(fabs(inside - 1) <= 1e-5);
    }
    end(&f);
}

static void threads_do_not_matter(void **unused) {
    (void)unused;
    fixture one = make(SEED + 2, 1), three = make(SEED + 2, 3);
    assert_int_equal(train_sparse_basis(&one.net, &one.backend, one.codes, ROWS, NULL, NULL, NULL),
                     TAPER_OK);
    assert_int_equal(
        train_sparse_basis(&three.net, &three.backend, three.codes, ROWS, NULL, NULL, NULL),
        TAPER_OK);
    assert_memory_equal(one.net.synthesis, three.net.synthesis, UNITS * INPUTS * sizeof(float));
    end(&one), end(&three);
}

static void few_windows_are_not_enough(void **unused) {
    (void)unused;
    assert_true(train_sparse_is_possible(192, 192 * TRAIN_SPARSE_ROWS_PER_UNIT));
    assert_false(train_sparse_is_possible(192, 192 * TRAIN_SPARSE_ROWS_PER_UNIT - 1));
    assert_false(train_sparse_is_possible(1, 1000000));
    assert_false(train_sparse_is_possible(TRAIN_SPARSE_MOST_UNITS + 1, (size_t)1 << 40));
}

static double kinship_of(const float *correlation, uint32_t units) {
    double sum = 0;
    for (uint32_t i = 0; i < units; i++)
        for (uint32_t j = i + 1; j < units && j <= i + 8; j++)
            sum += correlation[i * units + j] * (double)(9 - (j - i));
    return sum;
}

/* Kin by threes (u mod 3), scattered: they come together, the first stay, and the matrix is
 * permuted with the order. */
static void kin_come_together(void **unused) {
    (void)unused;
    enum { N = 48, FIRST = 6 };
    float *correlation = malloc(N * N * sizeof *correlation);
    uint32_t order[N], seen[N] = {0};
    assert_non_null(correlation);
    for (uint32_t i = 0; i < N; i++) order[i] = i;
    for (uint32_t i = 0; i < N * N; i++)
        correlation[i] = i / N == i % N ? 1 : i / N % 3 == i % N % 3 ? 0.8f : 0.1f;
    double before = kinship_of(correlation, N);
    assert_int_equal(train_order_by_correlation(correlation, N, FIRST, order), TAPER_OK);
    assert_true(kinship_of(correlation, N) > 1.5 * before);
    for (uint32_t i = 0; i < N; i++) {
        if (i < FIRST) assert_int_equal(order[i], i);
        assert_true(order[i] < N && !seen[order[i]]++);
        for (uint32_t j = 0; j < N; j++) {
            float want = i == j ? 1 : order[i] % 3 == order[j] % 3 ? 0.8f : 0.1f;
            assert_true(correlation[i * N + j] == want);
        }
    }
    free(correlation);
}

/* Of few units none is moved: the order is that of variances. */
static void order_falls_by_variance(void **unused) {
    (void)unused;
    enum { N = 5, WINDOWS = 500 };
    static const double scale[N] = {20, 80, 10, 160, 40};
    static const uint32_t want[N] = {3, 1, 4, 0, 2};
    float codes[WINDOWS * N];
    uint32_t order[N];
    uint64_t seed = SEED + 3;
    codec_backend backend;
    codec_backend_cpu(&backend);
    for (uint32_t i = 0; i < WINDOWS * N; i++) codes[i] = (float)(scale[i % N] * normal(&seed));
    assert_int_equal(train_unit_order(&backend, codes, WINDOWS, N, order), TAPER_OK);
    assert_memory_equal(order, want, sizeof want);
    codec_backend_close(&backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_sources_are_found), cmocka_unit_test(faint_windows_leave_the_span),
        cmocka_unit_test(threads_do_not_matter),    cmocka_unit_test(few_windows_are_not_enough),
        cmocka_unit_test(kin_come_together),        cmocka_unit_test(order_falls_by_variance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
