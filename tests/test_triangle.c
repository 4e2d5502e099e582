/* test_triangle.c -- triangular layers on a code: against the definition in double precision,
 * on sizes that are odd, 1 and beyond a block; and that a row's bits do not depend on its company.
 */
#include "cmocka_all.h"
#include "codec/transform/triangle.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 29, SLACK = 3, MOST_ROWS = 150, MOST_UNITS = 75 };
static const uint32_t k_units[] = {1, 2, 7, 8, 9, 16, 33, 75};
static const size_t k_rows[] = {1, 2, 15, 16, 17, 64, 65, 150};
enum { SIZES = 8 };

static void fill(float *x, size_t n, uint64_t stream, float scale) {
    for (size_t i = 0; i < n; i++) {
        uint32_t word[4];
        train_philox(SEED, i, stream, word);
        x[i] = scale * (2.0f * train_philox_uniform(word[0]) - 1.0f);
    }
}

/* Strictly lower triangular, with SLACK columns more than units; NaN wherever it may not be read.
 */
static size_t random_matrix(float *matrix, uint32_t units) {
    size_t stride = units + SLACK;
    fill(matrix, stride * units, 1, 0.4f);
    for (uint32_t k = 0; k < units; k++)
        for (size_t j = k; j < stride; j++) matrix[k * stride + j] = NAN;
    return stride;
}

typedef struct tables {
    float matrix[(MOST_UNITS + SLACK) * MOST_UNITS], bias[MOST_UNITS];
    float a[MOST_ROWS * MOST_UNITS], x[MOST_ROWS * MOST_UNITS], z[MOST_ROWS * MOST_UNITS],
        alone[MOST_UNITS], alone_x[MOST_UNITS];
} tables;

static int make_tables(void **state) { return !(*state = malloc(sizeof(tables))); }
static int free_tables(void **state) { return free(*state), 0; }

/* Decisions within rounding of their threshold may fall either way. */
static void check_decided(const tables *t, const float *before, size_t stride, uint32_t units,
                          const float *bias, float centre) {
    for (uint32_t k = 0; k < units; k++) {
        double u = before[k], margin;
        for (uint32_t j = 0; j < k; j++) u -= (double)t->matrix[k * stride + j] * t->alone_x[j];
        assert_true(fabs(t->alone[k] - u) <= 1e-4);
        margin = u + (bias ? bias[k] : 0.0);
        if (fabs(margin) > 1e-4) assert_true(t->alone_x[k] == (margin > 0 ? 1 : 0) - centre);
        assert_true(t->alone_x[k] == (t->alone[k] > (bias ? -bias[k] : 0) ? 1 : 0) - centre);
    }
}

/* Every row by itself: near the definition, and the same bits as among others. */
static void decisions_follow_those_before(void **state) {
    tables *t = *state;
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++) {
            uint32_t units = k_units[i];
            size_t rows = k_rows[j], stride = random_matrix(t->matrix, units);
            float centre = j & 1 ? 0.5f : 0.0f, *bias = j & 2 ? t->bias : NULL;
            fill(t->bias, units, 2, 0.5f);
            fill(t->a, rows * units, 3, 1.0f);
            fill(t->z, rows * units, 3, 1.0f);
            for (size_t n = 0; n < rows * units; n++) t->x[n] = NAN;
            assert_int_equal(
                codec_triangle_decide(t->matrix, stride, units, bias, centre, rows, t->a, t->x),
                TAPER_OK);
            for (size_t r = 0; r < rows; r++) {
                size_t bytes = units * sizeof(float);
                memcpy(t->alone, t->z + r * units, bytes);
                assert_int_equal(codec_triangle_decide(t->matrix, stride, units, bias, centre, 1,
                                                       t->alone, t->alone_x),
                                 TAPER_OK);
                assert_memory_equal(t->alone, t->a + r * units, bytes);
                assert_memory_equal(t->alone_x, t->x + r * units, bytes);
                check_decided(t, t->z + r * units, stride, units, bias, centre);
            }
            assert_int_equal(
                codec_triangle_decide(t->matrix, stride, units, bias, centre, rows, t->z, NULL),
                TAPER_OK);
            assert_memory_equal(t->z, t->a, rows * units * sizeof(float));
        }
}

static void mixtures(void **state) {
    tables *t = *state;
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++) {
            uint32_t units = k_units[i];
            size_t rows = k_rows[j], stride = random_matrix(t->matrix, units);
            fill(t->x, rows * units, 4, 0.5f);
            for (size_t n = 0; n < rows * units; n++) t->z[n] = NAN;
            assert_int_equal(codec_triangle_mix(t->matrix, stride, units, rows, t->x, t->z),
                             TAPER_OK);
            for (size_t r = 0; r < rows; r++) {
                const float *x = t->x + r * units;
                assert_int_equal(codec_triangle_mix(t->matrix, stride, units, 1, x, t->alone),
                                 TAPER_OK);
                assert_memory_equal(t->alone, t->z + r * units, units * sizeof(float));
                for (uint32_t k = 0; k < units; k++) {
                    double z = x[k];
                    for (uint32_t l = 0; l < k; l++) z += (double)x[l] * t->matrix[k * stride + l];
                    assert_true(fabs(t->alone[k] - z) <= 1e-5);
                }
            }
        }
}

/* The sums are those of binary32 in rising order, to the bit. */
static void order_of_sums_is_that_of_units(void **state) {
    tables *t = *state;
    uint32_t units = MOST_UNITS;
    size_t stride = random_matrix(t->matrix, units);
    fill(t->a, units, 3, 1.0f);
    memcpy(t->alone, t->a, units * sizeof(float));
    assert_int_equal(codec_triangle_decide(t->matrix, stride, units, NULL, 0.5f, 1, t->a, t->x),
                     TAPER_OK);
    assert_int_equal(codec_triangle_mix(t->matrix, stride, units, 1, t->x, t->z), TAPER_OK);
    for (uint32_t k = 0; k < units; k++) {
        volatile float sum = 0.0f, product; /* no wider registers */
        for (uint32_t j = 0; j < k; j++) {
            product = t->matrix[k * stride + j] * t->x[j];
            sum = sum + product;
        }
        assert_true(t->a[k] == t->alone[k] - sum);
        assert_true(t->z[k] == t->x[k] + sum);
    }
}

static void nothing_is_nothing(void **state) {
    tables *t = *state;
    t->a[0] = t->z[0] = 3;
    assert_int_equal(codec_triangle_decide(NULL, 0, 0, NULL, 0, 5, t->a, NULL), TAPER_OK);
    assert_int_equal(codec_triangle_mix(t->matrix, 4, 4, 0, t->x, t->z), TAPER_OK);
    assert_true(t->a[0] == 3 && t->z[0] == 3);
    assert_true(codec_triangle_scratch_bytes(1024) > 1024 * sizeof(float));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_follow_those_before),
        cmocka_unit_test(mixtures),
        cmocka_unit_test(order_of_sums_is_that_of_units),
        cmocka_unit_test(nothing_is_nothing),
    };
    return cmocka_run_group_tests(tests, make_tables, free_tables);
}
