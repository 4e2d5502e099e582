/* test_regulariser.c -- weight decay of rows: measured ratios, gradients against finite
 * differences, and how settings are read; on the processor and on its shadow. */
#include "on_device.h"
#include "train/nested/regulariser.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>

enum { UNITS = 23, INPUTS = 137 };

static float weight[UNITS * INPUTS], gradient[UNITS * INPUTS], before[UNITS * INPUTS];

static on_device where; /* the processor, then its shadow */

/* Rows first .. first + n - 1 of w[..][inputs] and g, which goes there and comes back, as do the
 * coefficients and the value (or NULL). How they are found: 0 as the regulariser says, 1 the same
 * with their value, 2 as lambda has it. */
static void regularise(const train_regulariser *r, int how, size_t first, size_t n, size_t inputs,
                       const float *w, float *g, double *lambda, double *value) {
    train_stream *s = &where.stream;
    size_t at = first * inputs, bytes = n * inputs * sizeof *g;
    float *weights = on_device_give(&where, w + at, bytes),
          *own = on_device_give(&where, g + at, bytes);
    double *coefficient = on_device_give(&where, lambda, n * sizeof *lambda),
           *sum = on_device_give(&where, value, sizeof *value);
    const train_decay rows = {.coefficient =
                                  how == 2 ? TRAIN_COEFFICIENT_GIVEN : TRAIN_COEFFICIENT_FIXED,
                              .rows = n,
                              .width = inputs,
                              .weight = weights,
                              .gradient = own,
                              .lambda = how || lambda ? coefficient : NULL,
                              .value = how ? sum : NULL};
    assert_int_equal(train_regularise(r, s, rows), TAPER_OK);
    on_device_take(&where, g + at, own, bytes);
    if (lambda) on_device_take(&where, lambda, coefficient, n * sizeof *lambda);
    if (value) on_device_take(&where, value, sum, sizeof *value);
    on_device_check_rings(&where);
    while (where.n) {
        where.n--;
        where.device.memory->release(&where.device, where.given[where.n].memory,
                                     where.given[where.n].bytes + 2 * ON_DEVICE_RING);
    }
}

/* Weights of size 0.1, a tenth of them 0; gradients whose size falls by ten orders over the rows.
 */
static void draw(void) {
    for (uint64_t i = 0; i < UNITS * INPUTS; i++) {
        uint32_t word[4];
        float normal[2];
        train_philox(4, i, 700, word);
        train_philox_normal(word, normal);
        double fade = pow(10.0, 3.0 - 10.0 * (double)(i / INPUTS) / (UNITS - 1));
        weight[i] = word[2] % 10 ? 0.1f * normal[0] : 0.0f;
        before[i] = gradient[i] = (float)(fade * normal[1]);
    }
}

static double norm(const float *v, const float *minus) {
    double sum = 0.0;
    for (int i = 0; i < INPUTS; i++) {
        double d = (double)v[i] - (minus ? (double)minus[i] : 0.0);
        sum += d * d;
    }
    return sqrt(sum);
}

static void rows_have_the_ratio_that_was_asked(void **state) {
    (void)state;
    for (int kind = TRAIN_PENALTY_L1; kind <= TRAIN_PENALTY_L2; kind++) {
        const train_regulariser r = {(train_penalty)kind, 1, 0.1};
        double lambda[UNITS], worst = 0.0;
        draw();
        regularise(&r, 0, 0, UNITS, INPUTS, weight, gradient, lambda, NULL);
        for (int k = 0; k < UNITS; k++) {
            const float *g = gradient + k * INPUTS, *g0 = before + k * INPUTS,
                        *w = weight + k * INPUTS;
            worst = fmax(worst, fabs(norm(g, g0) / norm(g0, NULL) - 0.1));
            for (int i = 0; i < INPUTS; i++) {
                double penalty =
                    kind == TRAIN_PENALTY_L2 ? (double)w[i] : (double)((w[i] > 0) - (w[i] < 0));
                double wanted = g0[i] + lambda[k] * penalty;
                assert_true(fabs(g[i] - wanted) <= 1e-7 * fabs(wanted));
            }
        }
        printf("L%d: ratio 0.1 to %.2g\n", kind, worst);
        assert_true(worst < 1e-6);
        assert_true(norm(before, NULL) / norm(before + (UNITS - 1) * INPUTS, NULL) > 0.9e10);
    }
}

static void only_the_rows_asked_for_change(void **state) {
    (void)state;
    const train_regulariser r = {TRAIN_PENALTY_L1, 1, 0.5};
    double all[UNITS], some[5];
    static float whole[UNITS * INPUTS];
    draw();
    regularise(&r, 0, 0, UNITS, INPUTS, weight, gradient, all, NULL);
    memcpy(whole, gradient, sizeof whole);
    draw();
    regularise(&r, 0, 7, 5, INPUTS, weight, gradient, some, NULL);
    assert_memory_equal(gradient, before, 7 * INPUTS * sizeof(float));
    assert_memory_equal(gradient + 7 * INPUTS, whole + 7 * INPUTS, 5 * INPUTS * sizeof(float));
    assert_memory_equal(gradient + 12 * INPUTS, before + 12 * INPUTS,
                        (UNITS - 12) * INPUTS * sizeof(float));
    assert_memory_equal(some, all + 7, sizeof some);
    const train_regulariser none = {0};
    regularise(&none, 0, 0, 5, INPUTS, weight, gradient, NULL, NULL);
    assert_memory_equal(gradient, before, 5 * INPUTS * sizeof(float));
    regularise(&r, 0, 0, UNITS, INPUTS, weight, gradient, NULL, NULL);
    assert_memory_equal(gradient, whole, 7 * INPUTS * sizeof(float));
}

static void empty_rows_stay_finite(void **state) {
    (void)state;
    for (int kind = TRAIN_PENALTY_L1; kind <= TRAIN_PENALTY_L2; kind++) {
        const train_regulariser r = {(train_penalty)kind, 1, 0.1};
        float w[2][4] = {{0, 0, -0.0f, 0}, {1, -2, 0, 3}}, g[2][4] = {{1, 2, 3, 4}, {0}};
        double lambda[2] = {NAN, NAN};
        regularise(&r, 0, 0, 2, 4, &w[0][0], &g[0][0], lambda, NULL);
        assert_true(lambda[0] == 0.0 && lambda[1] == 0.0);
        for (int i = 0; i < 4; i++) assert_true(g[0][i] == (float)(i + 1) && g[1][i] == 0.0f);
        g[1][2] = NAN;
        regularise(&r, 0, 1, 1, 4, &w[0][0], &g[0][0], lambda, NULL);
        assert_true(isnan(g[1][2]) && g[0][2] == 3.0f);
    }
}

/* The value of rows 2, 3 and 4 with given coefficients. */
static double value_of(const train_regulariser *r, double *lambda) {
    static float unused[UNITS * INPUTS];
    double value = 0.0;
    regularise(r, 2, 2, 3, INPUTS, weight, unused, lambda, &value);
    return value;
}

/* Also where coefficients are given, one of them 0. */
static void fixed_gradients_equal_finite_differences(void **state) {
    (void)state;
    for (int kind = TRAIN_PENALTY_L1; kind <= TRAIN_PENALTY_L2; kind++) {
        const train_regulariser r = {(train_penalty)kind, 0, 0.37};
        static float given[UNITS * INPUTS];
        draw();
        memset(gradient, 0, sizeof gradient), memset(given, 0, sizeof given);
        double lambda[3], own[3] = {0.37, 0.0, 0.5}, value = 1.0;
        regularise(&r, 1, 2, 3, INPUTS, weight, gradient, lambda, &value);
        assert_true(lambda[0] == 0.37 && lambda[2] == 0.37);
        assert_true(fabs(value - 1.0 - value_of(&r, lambda)) < 1e-12);
        regularise(&r, 2, 2, 3, INPUTS, weight, given, own, &value);
        assert_memory_equal(given + 2 * INPUTS, gradient + 2 * INPUTS, INPUTS * sizeof(float));
        for (int i = 3 * INPUTS; i < 5 * INPUTS; i++)
            assert_true(i < 4 * INPUTS ? given[i] == 0.0f
                                       : fabsf(given[i] * 0.74f - gradient[i]) <= 1e-6f);
        for (int i = 2 * INPUTS; i < 5 * INPUTS; i += 3) {
            float w = weight[i], h = 0x1p-14f;
            if (w == 0.0f) {
                assert_true(gradient[i] == 0.0f);
                continue;
            }
            if (kind == TRAIN_PENALTY_L1 && fabsf(w) < 2 * h) continue; /* a kink between them */
            weight[i] = w + h;
            float up = weight[i];
            double above = value_of(&r, lambda);
            weight[i] = w - h;
            double slope = (above - value_of(&r, lambda)) / ((double)up - weight[i]);
            weight[i] = w;
            assert_true(fabs(slope - gradient[i]) < 1e-6 * fabs(slope) + 1e-8);
        }
    }
}

static void settings_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        train_regulariser wanted;
    } good[] = {{"none", {TRAIN_PENALTY_NONE, 0, 0.0}},
                {"l1:0.01", {TRAIN_PENALTY_L1, 0, 0.01}},
                {"l2:1e-3", {TRAIN_PENALTY_L2, 0, 1e-3}},
                {"adaptive-l1:0.1", {TRAIN_PENALTY_L1, 1, 0.1}},
                {"adaptive-l2:.5", {TRAIN_PENALTY_L2, 1, 0.5}}};
    static const char *const bad[] = {
        "",      "l3:1",     "L1:1",    "l1",     "l1:",   "l1:0",       "l1:-1",      "l1:nan",
        "l1:1x", "l2:1e999", "l2: 0.1", "none:1", "nonet", "adaptive:1", "adaptive-l1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        train_regulariser r;
        assert_int_equal(train_regulariser_parse(&r, good[i].text, NULL), TAPER_OK);
        assert_true(r.kind == good[i].wanted.kind && r.adaptive == good[i].wanted.adaptive &&
                    r.strength == good[i].wanted.strength);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        train_regulariser r = {TRAIN_PENALTY_L1, 1, 3.0};
        taper_error error = {0};
        assert_int_equal(train_regulariser_parse(&r, bad[i], &error), TAPER_ERR_ARG);
        assert_true(r.kind == TRAIN_PENALTY_NONE && strlen(error.text) > 0);
        assert_non_null(strstr(error.text, bad[i]));
    }
}

static int open_processor(void **state) {
    (void)state;
    on_device_open(&where, TRAIN_PROCESSOR);
    return 0;
}

static int open_shadow(void **state) {
    (void)state;
    on_device_open(&where, TRAIN_SHADOW);
    return 0;
}

static int close_device(void **state) {
    (void)state;
    on_device_close(&where);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_ratio_that_was_asked),
        cmocka_unit_test(only_the_rows_asked_for_change),
        cmocka_unit_test(empty_rows_stay_finite),
        cmocka_unit_test(fixed_gradients_equal_finite_differences),
        cmocka_unit_test(settings_are_read),
    };
    int failed = cmocka_run_group_tests(tests, open_processor, close_device);
    return failed + cmocka_run_group_tests(tests, open_shadow, close_device);
}
