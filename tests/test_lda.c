/* test_lda.c -- linear discriminants against their equations, evaluated plainly in double. */
#include "train/linear/lda.h"
#include "on_device.h"
#include "pictures.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = 7, N = 400, SEED = 211 };
static const double RIDGE = 1e-2;

static double normal(uint64_t *state) { /* a sum of uniforms is near enough */
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += (double)(picture_random(state) >> 11) * exp2(-53);
    return sum;
}

static float row[N * D];
static uint32_t label[N];

/* Put the means of classes where they should be. */
static void recentre(double mean[8][D]) {
    double is[8][D] = {{0}}, count[8] = {0};
    for (int r = 0; r < N; r++) {
        count[label[r]]++;
        for (int i = 0; i < D; i++) is[label[r]][i] += (double)row[r * D + i];
    }
    for (int r = 0; r < N; r++)
        for (int i = 0; i < D; i++)
            row[r * D + i] += (float)(mean[label[r]][i] - is[label[r]][i] / count[label[r]]);
}

/* Rows with correlated noise of several sizes; class c's mean is c steps along a line, or where
 * `apart` says, anywhere. Input 3 is constant. */
static void draw(uint32_t classes, int apart, uint64_t seed) {
    double mix[D][D], mean[8][D];
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) mix[i][j] = normal(&seed) * (i < 2 ? 6 : 1);
    for (uint32_t c = 0; c < 8; c++)
        for (int i = 0; i < D; i++) mean[c][i] = apart ? 3 * normal(&seed) : (double)c * (i + 1);
    for (int r = 0; r < N; r++) {
        double z[D];
        label[r] = (uint32_t)(r * 7 % 5) % classes;
        for (int i = 0; i < D; i++) z[i] = normal(&seed);
        for (int i = 0; i < D; i++) {
            double x = 20 + mean[label[r]][i];
            for (int j = 0; j < D; j++) x += mix[i][j] * z[j];
            row[r * D + i] = i == 3 ? 11.0f : (float)x;
        }
    }
    if (!apart) recentre(mean);
}

/* The layer that is found, and how many discriminants it has. */
static float weight[D * D], bias[D];
static taper_status solve_on(train_processor_kind kind, uint32_t classes, uint32_t units,
                             uint32_t *useful, taper_error *error) {
    static float block[N * D];
    train_scatter s;
    on_device d;
    codec_layer layer = {.inputs = D, .outputs = units, .weight = weight, .bias = bias};
    on_device_open(&d, kind);
    assert_int_equal(train_scatter_alloc(&s, &d.device, D, classes), TAPER_OK);
    for (size_t first = 0; first < N; first += 150) {
        const size_t n = N - first < 150 ? N - first : 150;
        memcpy(block, row + first * D, n * D * sizeof *block);
        assert_int_equal(train_scatter_add(&s, block, label + first, n), TAPER_OK);
    }
    taper_status status = train_lda_solve(&s, RIDGE, &layer, useful, error);
    train_scatter_free(&s);
    on_device_close(&d);
    return status;
}
static uint32_t solve(uint32_t classes, uint32_t units) {
    uint32_t useful = 99;
    assert_int_equal(solve_on(TRAIN_PROCESSOR, classes, units, &useful, NULL), TAPER_OK);
    return useful;
}

/* B, W' and T, by their definitions. */
typedef struct scatters {
    double mean[D], between[D][D], within[D][D], total[D][D], means[8][D], count[8], ridge;
} scatters;

static scatters measure(void) {
    scatters s = {0};
    for (int r = 0; r < N; r++) {
        s.count[label[r]]++;
        for (int i = 0; i < D; i++) {
            s.mean[i] += (double)row[r * D + i] / N;
            s.means[label[r]][i] += (double)row[r * D + i];
        }
    }
    for (int c = 0; c < 8; c++)
        for (int i = 0; i < D && s.count[c] > 0; i++) s.means[c][i] /= s.count[c];
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            for (int r = 0; r < N; r++) {
                const double *m = s.means[label[r]], *x = s.mean;
                const double a = (double)row[r * D + i], b = (double)row[r * D + j];
                s.within[i][j] += (a - m[i]) * (b - m[j]) / N;
                s.between[i][j] += (m[i] - x[i]) * (m[j] - x[j]) / N;
                s.total[i][j] += (a - x[i]) * (b - x[j]) / N;
            }
        }
    for (int i = 0; i < D; i++) s.ridge += RIDGE * s.total[i][i] / D;
    for (int i = 0; i < D; i++) s.within[i][i] += s.ridge;
    return s;
}

/* v_a^T m v_b of two rows of the layer. */
static double form(double m[D][D], uint32_t a, uint32_t b) {
    double sum = 0;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            sum +=
                (double)weight[a * D + (uint32_t)i] * m[i][j] * (double)weight[b * D + (uint32_t)j];
    return sum;
}

/* |B v - lambda W' v| of row a. */
static double residual(scatters *s, uint32_t a, double lambda) {
    double most = 0;
    for (int i = 0; i < D; i++) {
        double sum = 0;
        for (int j = 0; j < D; j++)
            sum +=
                (s->between[i][j] - lambda * s->within[i][j]) * (double)weight[a * D + (uint32_t)j];
        if (!(fabs(sum) <= most)) most = fabs(sum);
    }
    return most;
}

static void discriminants_solve_their_equation(void **unused) {
    (void)unused;
    printf("seed %d\n", SEED);
    for (uint32_t classes = 2; classes <= 5; classes++) {
        draw(classes, 1, SEED + classes);
        scatters s = measure();
        double before = INFINITY;
        assert_int_equal(solve(classes, D), classes - 1);
        for (uint32_t a = 0; a < classes - 1; a++) {
            const double lambda = form(s.between, a, a);
            for (uint32_t b = 0; b < classes - 1; b++)
                assert_true(fabs(form(s.within, a, b) - (a == b)) <= 1e-4);
            assert_true(residual(&s, a, lambda) <= 1e-4 * lambda);
            assert_true(lambda <= before && lambda > 0);
            assert_true(fabs(weight[a * D + 3]) <= 1e-6); /* a constant says nothing */
            before = lambda;
        }
    }
}

/* What is left of rows by regression on the codes of the first `useful` units, and its covariance.
 */
static double left[N][D], of_left[D][D];
static void regress(scatters *s, uint32_t useful) {
    memset(of_left, 0, sizeof of_left);
    for (int r = 0; r < N; r++) {
        for (int i = 0; i < D; i++) left[r][i] = (double)row[r * D + i] - s->mean[i];
        for (uint32_t a = 0; a < useful; a++) {
            double code = (double)bias[a];
            for (int i = 0; i < D; i++)
                code += (double)weight[a * D + (uint32_t)i] * (double)row[r * D + i];
            for (int i = 0; i < D; i++)
                for (int j = 0; j < D; j++)
                    left[r][i] -= s->within[i][j] * (double)weight[a * D + (uint32_t)j] * code;
        }
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) of_left[i][j] += left[r][i] * left[r][j] / N;
    }
}

/* Unit a's code c is f u x left, u of length 1 and an eigenvector: cov(left, c) = f mu u, and the
 * variance of c is f^2 mu. Returns mu, the eigenvalue. */
static double eigenvalue_of(uint32_t a, double *factor) {
    double h[D] = {0}, variance = 0, square = 0;
    for (int r = 0; r < N; r++) {
        double code = (double)bias[a];
        for (int i = 0; i < D; i++)
            code += (double)weight[a * D + (uint32_t)i] * (double)row[r * D + i];
        for (int i = 0; i < D; i++) h[i] += left[r][i] * code / N;
        variance += code * code / N;
    }
    for (int i = 0; i < D; i++) square += h[i] * h[i];
    const double mu = square / variance;
    for (int i = 0; i < D; i++) {
        double sum = -mu * h[i];
        for (int j = 0; j < D; j++) sum += of_left[i][j] * h[j];
        assert_true(fabs(sum) <= 1e-3 * mu * sqrt(square));
    }
    *factor = sqrt(variance / mu);
    return mu;
}

/* The rest: uncorrelated with discriminants within classes, between them, and with each other;
 * eigenvectors of what was left over, the largest first, and all of it. */
static void the_rest_are_principal_components_of_what_is_left(void **unused) {
    (void)unused;
    const uint32_t useful = 3, units = 6; /* one input is constant */
    double before = INFINITY, all = 0, trace = 0, first = 0, factor;
    draw(4, 1, SEED + 20);
    scatters s = measure();
    assert_int_equal(solve(4, units), useful);
    regress(&s, useful);
    for (uint32_t a = useful; a < units; a++) {
        for (uint32_t b = 0; b < useful; b++) {
            assert_true(fabs(form(s.within, a, b)) <= 1e-4);
            assert_true(fabs(form(s.between, a, b)) <= 1e-4);
        }
        for (uint32_t b = useful; b < a; b++) assert_true(fabs(form(s.total, a, b)) <= 1e-4);
        const double mu = eigenvalue_of(a, &factor);
        if (a == useful) first = factor;
        assert_true(fabs(factor / first - 1) <= 1e-3);
        assert_true(mu > 0 && mu <= before);
        before = mu, all += mu;
    }
    for (int i = 0; i < D; i++) trace += of_left[i][i];
    assert_true(fabs(form(s.within, useful, useful) - 1) <= 1e-4);
    assert_true(fabs(all / trace - 1) <= 1e-3);
}

/* Means in a line: one discriminant for four classes; and units fewer than discriminants. */
static void useful_units_are_counted(void **unused) {
    (void)unused;
    draw(4, 0, SEED + 30);
    assert_int_equal(solve(4, 5), 1);
    scatters s = measure();
    for (uint32_t a = 1; a < 5; a++) assert_true(form(s.between, a, a) <= 1e-6);
    draw(5, 1, SEED + 31);
    assert_int_equal(solve(5, 4), 4);
    float all[4 * D];
    memcpy(all, weight, sizeof all);
    assert_int_equal(solve(5, 2), 2);
    for (int k = 0; k < 2 * D; k++) assert_true(fabs(weight[k] - all[k]) <= 1e-5);
}

/* Classes that no row has do not count. */
static void labels_may_be_left_out(void **unused) {
    (void)unused;
    draw(3, 1, SEED + 40);
    assert_int_equal(solve(3, 4), 2);
    float all[4 * D];
    memcpy(all, weight, sizeof all);
    for (int r = 0; r < N; r++) label[r] = 2 * label[r] + 3;
    assert_int_equal(solve(8, 4), 2);
    assert_memory_equal(weight, all, sizeof all);
}

static void the_mean_row_has_the_code_0(void **unused) {
    (void)unused;
    draw(3, 1, SEED + 50);
    solve(3, 5);
    scatters s = measure();
    for (int a = 0; a < 5; a++) {
        double code = (double)bias[a], top = 0;
        for (int i = 0; i < D; i++) {
            code += (double)weight[a * D + i] * s.mean[i];
            if (fabs(weight[a * D + i]) > fabs(top)) top = (double)weight[a * D + i];
        }
        assert_true(fabs(code) <= 1e-4);
        assert_true(top > 0);
    }
}

static void bytes_give_the_same_bits_on_the_shadow(void **unused) {
    (void)unused;
    uint32_t useful;
    float first[5 * D];
    draw(4, 1, SEED + 60);
    for (int k = 0; k < N * D; k++) row[k] = fmaxf(0.0f, fminf(255.0f, roundf(4 * row[k])));
    solve(4, 5);
    memcpy(first, weight, sizeof first);
    assert_int_equal(solve_on(TRAIN_SHADOW, 4, 5, &useful, NULL), TAPER_OK);
    assert_memory_equal(weight, first, sizeof first);
}

static void what_has_no_answer_is_refused(void **unused) {
    (void)unused;
    uint32_t useful;
    taper_error error = {0};
    draw(1, 1, SEED + 70);
    assert_int_equal(solve_on(TRAIN_PROCESSOR, 4, 2, &useful, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "two labels"));
    draw(2, 1, SEED + 71);
    for (int k = 0; k < N * D; k++) row[k] = (float)(k % D);
    assert_int_equal(solve_on(TRAIN_PROCESSOR, 2, 2, &useful, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "all rows are the same"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discriminants_solve_their_equation),
        cmocka_unit_test(the_rest_are_principal_components_of_what_is_left),
        cmocka_unit_test(useful_units_are_counted),
        cmocka_unit_test(labels_may_be_left_out),
        cmocka_unit_test(the_mean_row_has_the_code_0),
        cmocka_unit_test(bytes_give_the_same_bits_on_the_shadow),
        cmocka_unit_test(what_has_no_answer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
