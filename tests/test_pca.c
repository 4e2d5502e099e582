/* test_pca.c -- principal components against covariances that are known. */
#include "cmocka_all.h"
#include "pictures.h"
#include "train/linear/pca.h"
#include "train/processor/processor.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS = 12, ROWS = 6000, SEED = 101 };

static double normal(uint64_t *state) { /* a sum of uniforms is near enough */
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += (double)(picture_random(state) >> 11) * exp2(-53);
    return sum;
}

/* An orthonormal basis: rows of a cosine transform. */
static double basis(int u, int i) {
    return sqrt((u ? 2.0 : 1.0) / INPUTS) *
           cos(3.14159265358979 * u * (2 * i + 1) / (2.0 * INPUTS));
}

/* Rows with standard deviation 40 / (1 + u) along basis vector u, about a mean of 100 + i. */
static float *draw_rows(size_t n, uint64_t seed) {
    float *rows = malloc(n * INPUTS * sizeof *rows);
    assert_non_null(rows);
    for (size_t r = 0; r < n; r++) {
        double x[INPUTS];
        for (int u = 0; u < INPUTS; u++) x[u] = normal(&seed) * 40 / (1 + u);
        for (int i = 0; i < INPUTS; i++) {
            double sum = 100 + i;
            for (int u = 0; u < INPUTS; u++) sum += x[u] * basis(u, i);
            rows[r * INPUTS + (size_t)i] = (float)sum;
        }
    }
    return rows;
}

/* Solve over rows that are added in blocks of this many. */
static void solve(const float *rows, size_t n, size_t block, codec_network *net, uint32_t units,
                  double *eigenvalue) {
    train_covariance cov;
    codec_backend backend;
    train_device device;
    codec_backend_cpu(&backend);
    assert_int_equal(train_processor_open(&device, &backend, TRAIN_PROCESSOR), TAPER_OK);
    assert_int_equal(train_covariance_alloc(&cov, &device, INPUTS), TAPER_OK);
    for (size_t r = 0; r < n; r += block) {
        size_t count = n - r < block ? n - r : block;
        float *copy = malloc(count * INPUTS * sizeof *copy);
        assert_non_null(copy);
        memcpy(copy, rows + r * INPUTS, count * INPUTS * sizeof *copy);
        assert_int_equal(train_covariance_add(&cov, copy, count), TAPER_OK);
        free(copy);
    }
    assert_int_equal(cov.count, n);
    assert_int_equal(codec_network_alloc(net, INPUTS, units, CODEC_TIED, NULL, 0, NULL, 0),
                     TAPER_OK);
    assert_int_equal(train_pca_solve(&cov, net, eigenvalue, NULL), TAPER_OK);
    train_covariance_free(&cov);
    train_processor_close(&device);
    codec_backend_close(&backend);
}

static void known_directions_are_found(void **unused) {
    (void)unused;
    printf("seed %d\n", SEED);
    float *rows = draw_rows(ROWS, SEED);
    codec_network net;
    double eigenvalue[INPUTS];
    solve(rows, ROWS, 1000, &net, INPUTS, eigenvalue);
    for (int i = 0; i < INPUTS; i++) assert_true(fabs(net.mean[i] - (100 + i)) <= 2);
    for (int u = 0; u < INPUTS; u++) {
        double want = 1600.0 / ((1 + u) * (1 + u)), along = 0;
        assert_true(fabs(eigenvalue[u] / want - 1) <= 0.1);
        for (int i = 0; i < INPUTS; i++) along += net.synthesis[u * INPUTS + i] * basis(u, i);
        assert_true(fabs(along) > 0.97);
    }
    codec_network_free(&net);
    free(rows);
}

/* Whatever the data: rows orthonormal, eigenvalues falling, the sign fixed, the covariance
 * diagonal. */
static void rows_are_the_eigenvectors(void **unused) {
    (void)unused;
    float *rows = draw_rows(300, SEED + 1);
    codec_network net;
    double eigenvalue[INPUTS], mean[INPUTS] = {0};
    solve(rows, 300, 77, &net, INPUTS, eigenvalue);
    for (int r = 0; r < 300; r++)
        for (int i = 0; i < INPUTS; i++) mean[i] += rows[r * INPUTS + i] / 300.0;
    for (int u = 0; u < INPUTS; u++) {
        const float *a = net.synthesis + u * INPUTS;
        double top = 0;
        assert_true(fabs(net.mean[u] - mean[u]) <= 1e-3);
        for (int i = 0; i < INPUTS; i++)
            if (fabs(a[i]) > fabs(top)) top = a[i];
        assert_true(top > 0);
        if (u) assert_true(eigenvalue[u] <= eigenvalue[u - 1]);
        for (int v = 0; v < INPUTS; v++) {
            const float *b = net.synthesis + v * INPUTS;
            double dot = 0, covariance = 0;
            for (int i = 0; i < INPUTS; i++) dot += (double)a[i] * b[i];
            assert_true(fabs(dot - (u == v)) <= 1e-5);
            for (int r = 0; r < 300; r++) {
                double x = 0, y = 0;
                for (int i = 0; i < INPUTS; i++) {
                    x += a[i] * (rows[r * INPUTS + i] - mean[i]);
                    y += b[i] * (rows[r * INPUTS + i] - mean[i]);
                }
                covariance += x * y / 300;
            }
            assert_true(fabs(covariance - (u == v ? eigenvalue[u] : 0)) <= 1e-3 * eigenvalue[0]);
        }
    }
    codec_network_free(&net);
    free(rows);
}

/* The blocks that rows come in do not matter, and the leading units are those of the full solution.
 */
static void blocks_and_units_do_not_matter(void **unused) {
    (void)unused;
    float *rows = draw_rows(500, SEED + 2);
    codec_network all, net;
    double eigenvalue[2][INPUTS];
    solve(rows, 500, 500, &all, INPUTS, eigenvalue[0]);
    for (int round = 0; round < 3; round++) {
        uint32_t units = round == 0 ? 1 : round == 1 ? 5 : INPUTS - 1;
        solve(rows, 500, round ? 1 + 60u * (unsigned)round : 499, &net, units, eigenvalue[1]);
        for (uint32_t u = 0; u < units; u++) {
            assert_true(fabs(eigenvalue[1][u] - eigenvalue[0][u]) <= 1e-4 * eigenvalue[0][0]);
            for (int i = 0; i < INPUTS; i++)
                assert_true(fabs(net.synthesis[u * INPUTS + (uint32_t)i] -
                                 all.synthesis[u * INPUTS + (uint32_t)i]) <= 1e-2);
        }
        codec_network_free(&net);
    }
    codec_network_free(&all);
    free(rows);
}

/* Large means do not spoil small variances. */
static void means_do_not_cancel(void **unused) {
    (void)unused;
    float *rows = draw_rows(400, SEED + 3);
    codec_network net, far;
    double eigenvalue[2][INPUTS];
    solve(rows, 400, 100, &net, INPUTS, eigenvalue[0]);
    for (int k = 0; k < 400 * INPUTS; k++) rows[k] += 10000;
    solve(rows, 400, 100, &far, INPUTS, eigenvalue[1]);
    for (int u = 0; u < INPUTS; u++) {
        assert_true(fabs(far.mean[u] - net.mean[u] - 10000) <= 0.01);
        assert_true(fabs(eigenvalue[0][u] - eigenvalue[1][u]) <= 0.01 * eigenvalue[0][u]);
    }
    codec_network_free(&net), codec_network_free(&far);
    free(rows);
}

/* Of rows of bytes nothing is rounded: in blocks of several sizes, and on the shadow, the
 * covariance is that of integers but for the last division. */
static void bytes_are_summed_exactly(void **unused) {
    (void)unused;
    enum { N = 900 };
    static float rows[N * INPUTS], part[N * INPUTS];
    static const size_t end[] = {40, 400, 500, N};
    uint64_t state = SEED + 4;
    for (int k = 0; k < N * INPUTS; k++) rows[k] = (float)(picture_random(&state) >> 56);
    for (int shadow = 0; shadow < 2; shadow++) {
        train_covariance cov;
        codec_backend backend;
        train_device device;
        double got[INPUTS * INPUTS];
        codec_backend_cpu(&backend);
        assert_int_equal(
            train_processor_open(&device, &backend, shadow ? TRAIN_SHADOW : TRAIN_PROCESSOR),
            TAPER_OK);
        assert_int_equal(train_covariance_alloc(&cov, &device, INPUTS), TAPER_OK);
        for (size_t b = 0, r = 0; b < sizeof end / sizeof *end; r = end[b++]) {
            memcpy(part, rows + r * INPUTS, (end[b] - r) * INPUTS * sizeof *part);
            assert_int_equal(train_covariance_add(&cov, part, end[b] - r), TAPER_OK);
        }
        assert_int_equal(train_covariance_take(&cov, got), TAPER_OK);
        for (int i = 0; i < INPUTS; i++)
            for (int j = 0; j < INPUTS; j++) {
                int64_t product = 0, left = 0, right = 0;
                for (int r = 0; r < N; r++) {
                    int64_t x = (int64_t)rows[r * INPUTS + i], y = (int64_t)rows[r * INPUTS + j];
                    product += x * y, left += x, right += y;
                }
                double want = (double)(N * product - left * right) / ((double)N * N);
                assert_true(fabs(got[i * INPUTS + j] - want) <= 1e-11 * 255 * 255);
            }
        train_covariance_free(&cov);
        train_processor_close(&device);
        codec_backend_close(&backend);
    }
}

static void one_row_is_not_enough(void **unused) {
    (void)unused;
    train_covariance cov;
    codec_backend backend;
    codec_network net;
    float row[INPUTS] = {1};
    taper_error error = {0};
    train_device device;
    codec_backend_cpu(&backend);
    assert_int_equal(train_processor_open(&device, &backend, TRAIN_PROCESSOR), TAPER_OK);
    assert_int_equal(train_covariance_alloc(&cov, &device, INPUTS), TAPER_OK);
    assert_int_equal(codec_network_alloc(&net, INPUTS, 3, CODEC_TIED, NULL, 0, NULL, 0), TAPER_OK);
    assert_int_equal(train_covariance_add(&cov, row, 0), TAPER_OK);
    assert_int_equal(train_covariance_add(&cov, row, 1), TAPER_OK);
    assert_int_equal(train_pca_solve(&cov, &net, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "more images"));
    train_covariance_free(&cov);
    codec_network_free(&net);
    train_processor_close(&device);
    codec_backend_close(&backend);
}

/* Rows without any difference, or in fewer dimensions than there are units: eigenvalues of 0. */
static void flat_data_have_a_solution(void **unused) {
    (void)unused;
    float rows[20 * INPUTS];
    for (int r = 0; r < 20; r++)
        for (int i = 0; i < INPUTS; i++) rows[r * INPUTS + i] = (float)(i == 3 ? r : 50);
    codec_network net;
    double eigenvalue[INPUTS];
    solve(rows, 20, 6, &net, INPUTS, eigenvalue);
    assert_true(fabs(eigenvalue[0] - 399.0 / 12) <= 0.01);
    assert_true(fabs(net.synthesis[3] - 1) <= 1e-5);
    for (int u = 1; u < INPUTS; u++) assert_true(eigenvalue[u] >= 0 && eigenvalue[u] <= 1e-6);
    codec_network_free(&net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_directions_are_found),
        cmocka_unit_test(rows_are_the_eigenvectors),
        cmocka_unit_test(blocks_and_units_do_not_matter),
        cmocka_unit_test(means_do_not_cancel),
        cmocka_unit_test(bytes_are_summed_exactly),
        cmocka_unit_test(one_row_is_not_enough),
        cmocka_unit_test(flat_data_have_a_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
