/* test_nested_trainer.c -- the loop of nested dropout: sweeping, what it saves, repetition,
 * resuming after a stop with either optimiser, exact thresholds at the end, options that are
 * refused. */
#include "train/nested/nested_errors.h"
#include "train/nested/nested_trainer.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "scratch.h"

enum { D = 24, K = 12, N = 600 };
static uint8_t pixels[N * D];
static const train_pixels data = {pixels, N, D};
static codec_backend be;

/* Mixtures of a few smooth waves whose weights fall. */
static int set_up(void **state) {
    (void)state;
    codec_backend_cpu(&be);
    for (uint64_t n = 0; n < N; n++) {
        double v[D] = {0};
        for (uint64_t w = 0; w < 10; w++) {
            uint32_t word[4];
            train_philox(3, n * 10 + w, 900, word);
            double weight = 60.0 / (1.0 + (double)w) * (train_philox_uniform(word[0]) - 0.5f);
            for (int i = 0; i < D; i++) v[i] += weight * sin(0.3 * ((double)w + 1.0) * (i + 1.0));
        }
        for (int i = 0; i < D; i++)
            pixels[n * D + (uint64_t)i] = (uint8_t)fmax(0, fmin(255, 128 + v[i]));
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    codec_backend_close(&be);
    return 0;
}

static train_nested_shape shape_of(int binary, int deep) {
    train_nested_shape s = {.inputs = D,
                            .layers = deep ? 2 : 1,
                            .hidden = CODEC_RELU,
                            .tied = 1,
                            .binary = binary,
                            .centre = binary ? 0.5f : 0.0f};
    if (deep) s.width[0] = 16;
    s.width[s.layers - 1] = K;
    return s;
}

static void make(train_nested_network *net, train_nested_shape shape) {
    float mean[D], scale;
    train_nested_statistics(&data, mean, &scale);
    assert_int_equal(train_nested_create(net, &shape, &be, mean, scale, 7), TAPER_OK);
}

static train_nested_options quick(const train_truncation *t) {
    train_nested_options o = train_nested_defaults();
    o.truncation = t;
    o.epochs = 6;
    o.batch = 60;
    o.rate = 0.02f;
    o.max_validation = 60;
    return o;
}

static train_truncation geometric(double rho) {
    train_truncation t;
    char spec[32];
    snprintf(spec, sizeof spec, "geometric:%g", rho);
    assert_int_equal(train_truncation_make(&t, spec, K, NULL), TAPER_OK);
    return t;
}

/* --- sweeping -------------------------------------------------------------------------- */

static void sweep_keeps_its_budget(void **state) {
    (void)state;
    float weights[K * 3] = {0}, looked[3];
    train_sweep s;
    train_sweep_options o = {1, 10, 0.0, 0.25, 0.75};
    train_sweep_begin(&s, &o, 1200, K, 3, looked);
    uint32_t before = 0;
    for (uint64_t step = 1; step <= 1200; step++) {
        uint32_t frozen = train_sweep_after_step(&s, step, weights);
        assert_true(frozen >= before && frozen <= before + 1);
        /* 75 steps a unit, after 300 */
        uint32_t due = step < 300 ? 0 : (uint32_t)((step - 300) / 75);
        assert_int_equal(frozen, due < K - 1 ? due : K - 1);
        before = frozen;
    }
    o.fraction = 0.0001; /* several units a step: all but the last */
    train_sweep_begin(&s, &o, 1200, K, 3, looked);
    assert_int_equal(train_sweep_after_step(&s, 301, weights), K - 1);
    o.on = 0;
    train_sweep_begin(&s, &o, 1200, K, 3, looked);
    assert_int_equal(train_sweep_after_step(&s, 1200, weights), 0);
}

/* A row that stands still is frozen at the second look; one that moves stays for its budget. */
static void sweep_sees_convergence(void **state) {
    (void)state;
    float weights[K * 2], looked[2];
    for (int i = 0; i < K * 2; i++) weights[i] = 1.0f;
    train_sweep s;
    train_sweep_options o = {1, 10, 1e-2, 0.0, 1.0};
    train_sweep_begin(&s, &o, 12000, K, 2, looked);
    uint64_t at[K] = {0};
    for (uint64_t step = 1; step <= 3000; step++) {
        weights[3] = step / 10 % 2 ? 1.5f : 1.0f; /* unit 1 moves */
        uint32_t frozen = train_sweep_after_step(&s, step, weights);
        for (uint32_t k = 0; k < frozen; k++)
            if (!at[k]) at[k] = step;
    }
    assert_int_equal(at[0], 11);
    assert_int_equal(at[1], 11 + 1000); /* its budget */
    assert_in_range(at[2], 1012, 1024);
}

/* --- training -------------------------------------------------------------------------- */

typedef struct watch {
    double full[64], multiply_adds[64];
    uint32_t frozen[64], epochs;
    uint64_t stop_at;
} watch;

static int on_step(void *user, uint64_t step, uint64_t steps, uint32_t frozen, double loss,
                   double seconds_left) {
    (void)steps, (void)frozen, (void)loss, (void)seconds_left;
    return ((watch *)user)->stop_at && step == ((watch *)user)->stop_at;
}

static void on_epoch(void *user, uint32_t epoch, const train_nested_epoch *e) {
    watch *w = user;
    assert_in_range(epoch, 1, 64);
    w->full[epoch - 1] = e->full_mse;
    w->multiply_adds[epoch - 1] = e->multiply_adds;
    w->frozen[epoch - 1] = e->frozen;
    w->epochs = epoch;
}

static void train(const train_nested_options *o, train_nested_network *net, watch *w) {
    train_nested_callbacks callbacks = {w, on_step, on_epoch};
    taper_error error = {0};
    if (train_nested(o, &data, net, w ? &callbacks : NULL, NULL, &error) != TAPER_OK)
        fail_msg("%s", error.text);
}

static double error_of(train_nested_network *net, uint32_t length) {
    double mse;
    assert_int_equal(train_nested_errors(net, &data, NULL, N, &length, 1, &mse), TAPER_OK);
    return mse;
}

/* Nested dropout orders the units: short codes are far better than a standard network's, all units
 * not much worse. */
static void nesting_orders_units(void **state) {
    (void)state;
    train_truncation t;
    assert_int_equal(train_truncation_make(&t, "uniform", K, NULL), TAPER_OK);
    train_nested_network nested, standard;
    make(&nested, shape_of(0, 0)), make(&standard, shape_of(0, 0));
    train_nested_options o = quick(&t);
    o.epochs = 40;
    train(&o, &nested, NULL);
    o.truncation = NULL;
    train(&o, &standard, NULL);
    assert_true(error_of(&nested, 2) < 0.6 * error_of(&standard, 2));
    assert_true(error_of(&nested, K) < error_of(&nested, 4));
    train_nested_free(&nested), train_nested_free(&standard), train_truncation_free(&t);
}

/* Under a steep geometric distribution the last units learn only when swept to; and each step of
 * a swept run costs less. */
static void sweeping_reaches_late_units(void **state) {
    (void)state;
    train_truncation t = geometric(0.5);
    train_nested_options o = quick(&t);
    train_nested_network with, without;
    watch w = {0}, wo = {0};
    o.epochs = 30;
    make(&with, shape_of(0, 0)), make(&without, shape_of(0, 0));
    train(&o, &without, &wo);
    o.sweep.on = 1;
    train(&o, &with, &w);
    assert_int_equal(w.epochs, 30);
    assert_int_equal(w.frozen[29], K - 1);
    assert_int_equal(wo.frozen[29], 0);
    assert_true(error_of(&with, K) < 0.8 * error_of(&without, K));
    assert_true(w.multiply_adds[29] < 0.8 * wo.multiply_adds[29]);
    train_nested_free(&with), train_nested_free(&without), train_truncation_free(&t);
}

/* Every unit of a binary network is 1 in half of the training rows, within a row's share. */
static void thresholds_are_exact(void **state) {
    (void)state;
    train_truncation t = geometric(0.8);
    train_nested_options o = quick(&t);
    train_nested_network net;
    float *x = malloc((size_t)N * K * sizeof *x);
    assert_non_null(x);
    make(&net, shape_of(1, 0));
    o.max_validation = 0;
    o.beta = 0.25;
    train(&o, &net, NULL);
    assert_int_equal(train_nested_codes(&net, &data, NULL, N, 0, x), TAPER_OK);
    for (int k = 0; k < K; k++) {
        int ones = 0;
        for (int i = 0; i < N; i++) ones += x[i * K + k] > 0.0f;
        assert_in_range(ones, N / 4 - 1, N / 4 + 1);
    }
    free(x), train_nested_free(&net), train_truncation_free(&t);
}

/* --- repetition and resuming ----------------------------------------------------------- */

static void same_weights(const train_nested_network *a, const train_nested_network *b) {
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->parameter, b->parameter, a->n * sizeof(float));
}

/* Stopped in the middle of an epoch and taken up again: the same bits as a run without a stop, and
 * as one with three threads. */
static void resumed_runs_are_equal(void **state) {
    (void)state;
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    scratch_make(folder);
    scratch_join(path, folder, "run.check");
    for (int variant = 0; variant < 4; variant++) {
        train_truncation t = geometric(0.8);
        train_nested_options o = quick(&t);
        train_nested_shape shape = shape_of(variant != 2, variant & 1);
        o.optimiser = variant >= 2 ? TRAIN_CG : TRAIN_ADAM;
        o.sweep.on = 1;
        o.corruption = 0.1f, o.dropout = 0.2f;
        o.invariance = variant == 1 ? 0.1f : 0.0f;
        o.regulariser = (train_regulariser){TRAIN_PENALTY_L1, 1, 0.1};
        train_nested_network whole, parts, spread;
        make(&whole, shape), make(&parts, shape), make(&spread, shape);
        train(&o, &whole, NULL);
        o.saving.path = path;
        o.saving.resume = 1;
        watch stop = {.stop_at = 23}, rest = {0};
        train(&o, &parts, &stop);
        train_nested_free(&parts), make(&parts, shape);
        train(&o, &parts, &rest);
        assert_int_equal(rest.epochs, 6);
        same_weights(&whole, &parts);
        /* finished: taken up once more, nothing changes */
        train_nested_free(&parts), make(&parts, shape);
        train(&o, &parts, NULL);
        same_weights(&whole, &parts);
        o.saving.path = NULL;
        assert_int_equal(codec_backend_set_threads(&be, 3), TAPER_OK);
        train(&o, &spread, NULL);
        same_weights(&whole, &spread);
        assert_int_equal(codec_backend_set_threads(&be, 1), TAPER_OK);
        train_nested_free(&whole), train_nested_free(&parts), train_nested_free(&spread);
        train_truncation_free(&t);
        unlink(path);
    }
    rmdir(folder);
}

/* --- refusals -------------------------------------------------------------------------- */

static void refused(const train_nested_options *o, train_nested_network *net, const char *words) {
    taper_error error = {0};
    assert_int_equal(train_nested(o, &data, net, NULL, NULL, &error), TAPER_ERR_ARG);
    if (!strstr(error.text, words)) fail_msg("\"%s\" lacks \"%s\"", error.text, words);
}

static void options_are_checked(void **state) {
    (void)state;
    train_truncation t = geometric(0.8), other;
    train_nested_network net;
    assert_int_equal(train_truncation_make(&other, "uniform", K + 1, NULL), TAPER_OK);
    make(&net, shape_of(1, 0));
    train_nested_options good = quick(&t), o = good;
    o.epochs = 0, refused(&o, &net, "epochs");
    o = good, o.rate = 0.0f, refused(&o, &net, "rate");
    o = good, o.rate = NAN, refused(&o, &net, "rate");
    o = good, o.corruption = 1.0f, refused(&o, &net, "corruption");
    o = good, o.dropout = -0.1f, refused(&o, &net, "dropout");
    o = good, o.invariance = INFINITY, refused(&o, &net, "invariance");
    o = good, o.beta = 1.0, refused(&o, &net, "beta");
    o = good, o.sweep = (train_sweep_options){1, 10, 0, 0.6, 0.6}, refused(&o, &net, "together");
    o = good, o.truncation = &other, refused(&o, &net, "13 units for a code of 12");
    train_nested_free(&net), train_truncation_free(&t), train_truncation_free(&other);
}

/* A checkpoint of another run is not taken up. */
static void other_checkpoints_are_refused(void **state) {
    (void)state;
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    scratch_make(folder);
    train_truncation t = geometric(0.8);
    train_nested_options o = quick(&t);
    train_nested_network net;
    o.saving.path = scratch_join(path, folder, "run.check");
    make(&net, shape_of(1, 0));
    train(&o, &net, NULL);
    train_nested_free(&net), make(&net, shape_of(1, 0));
    o.saving.resume = 1;
    o.beta = 0.4;
    refused(&o, &net, "");
    train_nested_free(&net), train_truncation_free(&t);
    unlink(path), rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_keeps_its_budget), cmocka_unit_test(sweep_sees_convergence),
        cmocka_unit_test(nesting_orders_units),   cmocka_unit_test(sweeping_reaches_late_units),
        cmocka_unit_test(thresholds_are_exact),   cmocka_unit_test(resumed_runs_are_equal),
        cmocka_unit_test(options_are_checked),    cmocka_unit_test(other_checkpoints_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
