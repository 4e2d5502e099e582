/* test_nested_trainer.c -- runs of nested dropout, on the processor and on its shadow: sweeping,
 * what it saves, repetition, resuming after a stop with either optimiser, runs that diverge,
 * devices that fail, exact thresholds at the end, options that are refused. */
#include "on_device.h"
#include "scratch.h"
#include "train/nested/nested_errors.h"
#include "train/nested/nested_trainer.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { D = 24, K = 12, N = 600 };
static uint8_t pixels[N * D];
static uint32_t label[N]; /* whether the fourth wave rises; some have none */
static const train_pixels data = {.pixels = pixels, .n = N, .inputs = D, .label = label};
static on_device place[2], *at = &place[0]; /* processor, shadow; the one in use */

/* Mixtures of a few smooth waves whose weights fall. */
static int set_up(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) on_device_open(&place[i], i ? TRAIN_SHADOW : TRAIN_PROCESSOR);
    for (uint64_t n = 0; n < N; n++) {
        double v[D] = {0};
        for (uint64_t w = 0; w < 10; w++) {
            uint32_t word[4];
            train_philox(3, n * 10 + w, 900, word);
            double weight = 60.0 / (1.0 + (double)w) * (train_philox_uniform(word[0]) - 0.5f);
            for (int i = 0; i < D; i++) v[i] += weight * sin(0.3 * ((double)w + 1.0) * (i + 1.0));
            if (w == 3) label[n] = n % 9 == 8 ? UINT32_MAX : (uint32_t)(weight > 0.0);
        }
        for (int i = 0; i < D; i++)
            pixels[n * D + (uint64_t)i] = (uint8_t)fmax(0, fmin(255, 128 + v[i]));
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) on_device_close(&place[i]);
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
    assert_int_equal(train_nested_create(net, &shape, &at->device, mean, scale, 7), TAPER_OK);
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

typedef struct swept {
    train_sweep sweep;
    float *weights; /* on the device */
    size_t bytes;
} swept;

/* A sweep over K units of `inputs` weights. */
static swept begin_sweep(const train_sweep_options *o, uint64_t steps, const float *weights,
                         size_t inputs) {
    swept s = {.bytes = K * inputs * sizeof *weights};
    s.weights = on_device_give(at, weights, s.bytes);
    train_sweep_begin(&s.sweep, o, steps, K, inputs, &at->stream,
                      on_device_give(at, NULL, 3 * inputs * sizeof *weights),
                      on_device_give(at, NULL, 3 * sizeof(double)));
    return s;
}

static uint32_t frozen_after(swept *s, uint64_t step, const float *weights) {
    assert_int_equal(train_upload(&at->stream, s->weights, weights, s->bytes), TAPER_OK);
    assert_int_equal(train_sweep_after_step(&s->sweep, step, s->weights), TAPER_OK);
    return (uint32_t)s->sweep.state.frozen;
}

static void sweep_keeps_its_budget(void **state) {
    (void)state;
    float weights[K * 3] = {0};
    train_sweep_options o = {1, 10, -1.0, 0.25, 0.75};
    swept s = begin_sweep(&o, 1200, weights, 3);
    uint32_t before = 0;
    for (uint64_t step = 1; step <= 1200; step++) {
        uint32_t frozen = frozen_after(&s, step, weights);
        assert_true(frozen >= before && frozen <= before + 1);
        /* 75 steps a unit, after 300 */
        uint32_t due = step < 300 ? 0 : (uint32_t)((step - 300) / 75);
        assert_int_equal(frozen, due < K - 1 ? due : K - 1);
        before = frozen;
    }
    o.fraction = 0.0001; /* several units a step: all but the last */
    s = begin_sweep(&o, 1200, weights, 3);
    assert_int_equal(frozen_after(&s, 301, weights), K - 1);
    o.on = 0;
    s = begin_sweep(&o, 1200, weights, 3);
    assert_int_equal(frozen_after(&s, 1200, weights), 0);
}

/* A row that stands still is frozen at the second look, one that goes to and fro at the third; one
 * that moves on stays for its share of the time, whatever its length. Time that is not used is for
 * those after it. */
static void sweep_sees_convergence(void **state) {
    (void)state;
    enum { STEPS = 12000 };
    for (int scale = 1; scale <= 1000; scale *= 1000) {
        float weights[K * 2];
        uint64_t when[K] = {0};
        train_sweep_options o = {1, 10, 0.1, 0.0, 1.0};
        for (int i = 0; i < K * 2; i++) weights[i] = (float)scale;
        swept s = begin_sweep(&o, STEPS, weights, 2);
        for (uint64_t step = 1; step <= STEPS; step++) {
            weights[3] += 1e-4f * (float)scale; /* units 1 and 3 move on, unit 2 turns back */
            weights[5] = (float)scale * (step / 10 % 2 ? 1.5f : 1.0f);
            weights[7] += 1e-4f * (float)scale;
            uint32_t frozen = frozen_after(&s, step, weights);
            for (uint32_t k = 0; k < frozen; k++)
                if (!when[k]) when[k] = step;
        }
        const uint64_t share = (STEPS - 11) / (K - 1) + 1;
        assert_int_equal(when[0], 11);
        assert_in_range(when[1], 11 + share - 1, 11 + share + 1);
        assert_int_equal(when[2] - when[1], 20);
        assert_in_range(when[3] - when[2], share, 2 * share); /* what unit 2 left is shared */
        assert_int_equal(when[4] - when[3], 10);
    }
}

/* --- training -------------------------------------------------------------------------- */

typedef struct watch {
    double full[64], multiply_adds[64];
    uint32_t frozen[64], epochs;
    uint32_t swept; /* when it was stopped */
    uint64_t stop_at;
} watch;

static int on_step(void *user, uint64_t step, uint64_t steps, uint32_t frozen, double loss,
                   double seconds_left) {
    watch *w = user;
    (void)steps, (void)loss, (void)seconds_left;
    if (!w->stop_at || step != w->stop_at) return 0;
    w->swept = frozen;
    return 1;
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
    train_nested_callbacks callbacks = {.user = w, .step = on_step, .epoch = on_epoch};
    taper_error error = {0};
    if (train_nested(o, &data, net, w ? &callbacks : NULL, NULL, &error) != TAPER_OK)
        fail_msg("%s", error.text);
}

static double error_of(train_nested_network *net, uint32_t length) {
    double mse;
    train_nested_source source;
    assert_int_equal(train_nested_source_open(&source, net, &data, NULL, N), TAPER_OK);
    assert_int_equal(train_nested_errors(net, &source.data, &length, 1, &mse), TAPER_OK);
    train_nested_source_close(&source);
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

/* Under a steep geometric distribution the last units learn only when swept to. Where most
 * truncations are long, leaving frozen units out makes steps cheaper. */
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

static float *run(const train_nested_options *o, train_nested_shape shape, watch *w);

/* Under Adam some units converge before their time is over. */
static void units_converge_under_adam(void **state) {
    (void)state;
    train_truncation t = geometric(0.7);
    for (int binary = 0; binary < 2; binary++)
        for (float rate = 0.01f; rate < 0.1f; rate *= 5.0f) {
            train_nested_options o = quick(&t);
            watch converged = {0}, timed = {0};
            o.epochs = 40, o.batch = 20, o.rate = rate, o.sweep.on = 1;
            free(run(&o, shape_of(binary, 0), &converged));
            o.sweep.tolerance = -1.0;
            free(run(&o, shape_of(binary, 0), &timed));
            printf("binary %d, rate %g: %u units frozen at half time, %u by time alone\n", binary,
                   (double)rate, (unsigned)converged.frozen[19], (unsigned)timed.frozen[19]);
            assert_true(converged.frozen[19] > timed.frozen[19]);
        }
    train_truncation_free(&t);
}

/* Every unit of a binary network is 1 in half of the training rows, within a row's share. */
static void thresholds_are_exact(void **state) {
    (void)state;
    train_truncation t = geometric(0.8);
    train_nested_options o = quick(&t);
    train_nested_network net;
    train_nested_source source;
    static float x[N * K];
    o.max_validation = 0;
    o.beta = 0.25;
    for (int feedback = 0; feedback < 2; feedback++) {
        train_nested_shape shape = shape_of(1, 0);
        shape.feedback = feedback;
        make(&net, shape);
        train(&o, &net, NULL);
        assert_int_equal(train_nested_source_open(&source, &net, &data, NULL, N), TAPER_OK);
        assert_int_equal(train_nested_codes(&net, &source.data, 0, x), TAPER_OK);
        train_nested_source_close(&source);
        for (int k = 0; k < K; k++) {
            int ones = 0;
            for (int i = 0; i < N; i++) ones += x[i * K + k] > 0.0f;
            assert_in_range(ones, N / 4 - 1, N / 4 + 1);
        }
        train_nested_free(&net);
    }
    train_truncation_free(&t);
}

/* --- repetition and resuming ----------------------------------------------------------- */

/* A network's numbers after a run, the caller's to free. */
static float *weights_of(train_nested_network *net) {
    size_t bytes = net->weights.n * sizeof(float);
    float *w = malloc(bytes);
    assert_non_null(w);
    on_device_take(at, w, net->weights.parameter, bytes);
    return w;
}

/* Of a run from scratch; what the epochs say is kept in *w. */
static float *run(const train_nested_options *o, train_nested_shape shape, watch *w) {
    train_nested_network net;
    make(&net, shape);
    train(o, &net, w);
    float *weights = weights_of(&net);
    train_nested_free(&net);
    return weights;
}

static size_t count(train_nested_shape shape) {
    train_nested_network net;
    make(&net, shape);
    size_t n = net.weights.n;
    train_nested_free(&net);
    return n;
}

/* The same as `whole`, which is freed with them. */
static void compare_and_free(const float *whole, float *other, size_t n) {
    assert_memory_equal(whole, other, n * sizeof *whole);
    free(other);
}

/* Units that have been swept are as they were then, whatever the optimiser remembers of them. */
static void swept_units_stay(void **state) {
    (void)state;
    for (int cg = 0; cg < 2; cg++) {
        train_truncation t = geometric(0.8);
        train_nested_options o = quick(&t);
        train_nested_shape shape = shape_of(0, 0);
        watch stop = {.stop_at = 17};
        o.optimiser = cg ? TRAIN_CG : TRAIN_ADAM;
        o.epochs = 3, o.batch = 54; /* ten steps each */
        o.sweep = (train_sweep_options){1, 10, -1.0, 0.1, 0.8};
        float *then = run(&o, shape, &stop), *end = run(&o, shape, NULL);
        assert_in_range(stop.swept, 3, K - 3);
        assert_memory_equal(then, end, stop.swept * D * sizeof *then);
        assert_memory_not_equal(then + stop.swept * D, end + stop.swept * D, D * sizeof *then);
        free(then), free(end);
        train_truncation_free(&t);
    }
}

/* Stopped anywhere between two looks at the unit in front, a sweep goes on as it would have. */
static void sweeps_resume(void **state) {
    (void)state;
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    train_truncation t = geometric(0.8);
    train_nested_options o = quick(&t);
    train_nested_shape shape = shape_of(0, 0);
    scratch_make(folder);
    scratch_join(path, folder, "run.check");
    o.epochs = 4, o.batch = 20;                           /* 27 steps each */
    o.sweep = (train_sweep_options){1, 3, 0.9, 0.0, 1.0}; /* most converge */
    o.saving.resume = 1;
    float *whole = run(&o, shape, NULL);
    for (uint64_t at_step = 30; at_step < 40; at_step++) {
        watch stop = {.stop_at = at_step};
        o.saving.path = path;
        free(run(&o, shape, &stop));
        compare_and_free(whole, run(&o, shape, NULL), count(shape));
        unlink(path);
    }
    free(whole);
    train_truncation_free(&t);
    rmdir(folder);
}

/* Every kind of learner there is. */
enum { VARIANTS = 11 }; /* the last four have feedback, tied and refitted, and then labels */
static train_nested_shape variant_of(int variant, train_nested_options *o) {
    const int feedback = variant >= 7;
    train_nested_shape shape =
        shape_of(variant != 2 && (variant < 5 || feedback), !feedback && variant & 1);
    o->optimiser = variant == 2 || variant == 3 ? TRAIN_CG : TRAIN_ADAM;
    o->sweep.on = variant < 4 || variant == 7;
    o->corruption = 0.1f, o->dropout = 0.2f;
    o->invariance = variant & 1 && !feedback ? 0.1f : 0.0f;
    o->straight_through = variant != 4;
    o->regulariser = (train_regulariser){variant & 1 ? TRAIN_PENALTY_L1 : TRAIN_PENALTY_L2, 1, 0.1};
    o->orthonormal = variant == 6;
    if (variant == 5) shape.tied = 0, shape.code = CODEC_LOGISTIC;
    shape.feedback = feedback;
    if (variant == 8 || variant == 10) shape.tied = 0;
    if (variant >= 9) o->class_units = 5, shape.alone = variant == 10 ? 5 : 0;
    if (variant == 10) o->class_lengths = (train_prefix_list){{2, 5}, 2};
    return shape;
}

/* Stopped in the middle of an epoch and taken up again, on either device: the same bits as a run
 * without a stop, and as one with three threads. */
static void resumed_runs_are_equal(void **state) {
    (void)state;
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    scratch_make(folder);
    scratch_join(path, folder, "run.check");
    place[1].device.look_every = 3;
    for (int variant = 0; variant < VARIANTS; variant++) {
        train_truncation t = geometric(0.8);
        train_nested_options o = quick(&t);
        train_nested_shape shape = variant_of(variant, &o);
        o.epochs = 3, o.batch = 108; /* five steps each */
        watch all = {0};
        float *whole = run(&o, shape, &all);
        size_t n = count(shape);
        for (int i = 0; i < 2; i++) {
            at = &place[i];
            watch unbroken = {0}, stop = {.stop_at = 7}, rest = {0};
            compare_and_free(whole, run(&o, shape, &unbroken), n);
            assert_memory_equal(&unbroken, &all, sizeof all);
            o.saving.path = path;
            o.saving.resume = 1;
            free(run(&o, shape, &stop));
            assert_int_equal(stop.epochs, 1);
            compare_and_free(whole, run(&o, shape, &rest), n);
            assert_int_equal(rest.epochs, 3);
            /* finished: taken up once more, nothing changes; on the other device, too */
            at = &place[!i];
            compare_and_free(whole, run(&o, shape, NULL), n);
            o.saving.path = NULL;
            unlink(path);
        }
        at = &place[0];
        assert_int_equal(codec_backend_set_threads(&at->be, 3), TAPER_OK);
        compare_and_free(whole, run(&o, shape, NULL), n);
        assert_int_equal(codec_backend_set_threads(&at->be, 1), TAPER_OK);
        free(whole);
        train_truncation_free(&t);
    }
    place[1].device.look_every = 5;
    rmdir(folder);
}

/* However many rows go through at once: the same steps but for the order of sums, and thresholds
 * that follow the same rows. */
static void rows_at_once_change_sums_alone(void **state) {
    (void)state;
    for (int binary = 0; binary < 2; binary++) {
        train_truncation t = geometric(0.8);
        train_nested_options o = quick(&t);
        train_nested_shape shape = shape_of(binary, 0);
        size_t n = count(shape);
        float *weights[2];
        o.epochs = 3, o.batch = 530, o.straight_through = 0;
        for (int many = 0; many < 2; many++) {
            train_nested_network net;
            at->device.block_rows = (size_t)(many ? 4 : 1) * TRAIN_LEAST_ROWS;
            make(&net, shape);
            assert_int_equal(net.act.block, 512);
            train(&o, &net, NULL);
            assert_int_equal(net.act.block, many ? 1024 : 512);
            weights[many] = weights_of(&net);
            train_nested_free(&net);
        }
        at->device.block_rows = TRAIN_LEAST_ROWS;
        for (size_t i = 0; i < n; i++)
            if (!(fabsf(weights[0][i] - weights[1][i]) <= 1e-5f))
                fail_msg("%d, weight %zu: %g, %g", binary, i, (double)weights[0][i],
                         (double)weights[1][i]);
        free(weights[0]), free(weights[1]);
        train_truncation_free(&t);
    }
}

/* --- runs that leave the finite numbers, devices that fail ------------------------------ */

/* Deep, linear, with far too high a rate. */
static train_nested_shape wild_shape(int binary) {
    train_nested_shape s = shape_of(binary, 0);
    s.layers = TRAIN_NESTED_MAX_LAYERS;
    s.hidden = CODEC_LINEAR;
    for (uint32_t l = 0; l < s.layers; l++) s.width[l] = 40;
    s.width[s.layers - 1] = K;
    return s;
}

/* However seldom losses are looked at: weights and thresholds are those before the step that
 * diverged, and the text says which. */
static void diverged_steps_move_nothing(void **state) {
    (void)state;
    for (int binary = 0; binary < 2; binary++) {
        float *first = NULL;
        taper_error said = {0};
        for (uint32_t every = 1; every <= 64; every *= 8) {
            train_truncation t = geometric(0.8);
            train_nested_options o = quick(&t);
            train_nested_network net;
            train_nested_result result;
            taper_error error = {0};
            o.rate = 1.0f, o.epochs = 60, o.batch = 20;
            at = &place[every > 1];
            at->device.look_every = every;
            make(&net, wild_shape(binary));
            assert_int_equal(train_nested(&o, &data, &net, NULL, &result, &error), TAPER_ERR_ARG);
            assert_non_null(strstr(error.text, "diverged in step "));
            assert_non_null(strstr(error.text, "no checkpoint was written"));
            float *weights = weights_of(&net);
            for (size_t i = 0; i < net.weights.n; i++) assert_true(isfinite(weights[i]));
            if (!first) first = weights, said = error;
            assert_memory_equal(first, weights, net.weights.n * sizeof *first);
            assert_string_equal(said.text, error.text);
            if (weights != first) free(weights);
            train_nested_free(&net), train_truncation_free(&t);
        }
        free(first);
    }
    place[0].device.look_every = 1, place[1].device.look_every = 5;
    at = &place[0];
}

static taper_status failing_run(const train_nested_options *o, train_nested_shape shape) {
    train_nested_network net;
    float mean[D], scale;
    taper_error error = {0};
    train_nested_statistics(&data, mean, &scale);
    taper_status status = train_nested_create(&net, &shape, &at->device, mean, scale, 7);
    if (status != TAPER_OK) return status;
    status = train_nested(o, &data, &net, NULL, NULL, &error);
    assert_true((status == TAPER_OK) == !error.text[0]);
    train_nested_free(&net);
    return status;
}

/* But for that of the rows, which are streamed then (test_feed.c). */
static void every_device_allocation_may_fail(void **state) {
    (void)state;
    train_truncation t = geometric(0.8);
    at = &place[1];
    for (int variant = 0; variant < VARIANTS; variant++) {
        train_nested_options o = quick(&t);
        train_nested_shape shape = variant_of(variant, &o);
        uint64_t allocations, operations, streamed = 0;
        o.epochs = 1, o.batch = 200;
        train_processor_fail(&at->device, 0, 0);
        assert_int_equal(failing_run(&o, shape), TAPER_OK);
        train_processor_count(&at->device, &allocations, &operations);
        assert_true(allocations >= 6);
        for (uint64_t k = 1; k <= allocations; k++) {
            train_processor_fail(&at->device, k, 0);
            taper_status status = failing_run(&o, shape);
            if (status == TAPER_OK)
                streamed++;
            else
                assert_int_equal(status, TAPER_ERR_NOMEM);
        }
        assert_int_equal(streamed, 1);
        train_processor_fail(&at->device, 0, 0);
    }
    train_truncation_free(&t);
    at = &place[0];
}

/* The device is lost at operation k, for many k of a short run; the checkpoint it has left by then
 * leads to the same network. */
static void a_lost_device_loses_nothing(void **state) {
    (void)state;
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    train_truncation t = geometric(0.8);
    scratch_make(folder);
    scratch_join(path, folder, "run.check");
    for (int variant = 0; variant < VARIANTS; variant++) {
        train_nested_options o = quick(&t);
        train_nested_shape shape = variant_of(variant, &o);
        uint64_t allocations, operations, taken_up = 0;
        size_t n = count(shape);
        o.epochs = 1, o.batch = 200; /* two steps */
        o.saving.path = path;
        o.checkpoint_seconds = 0.0; /* after every step */
        float *whole = run(&o, shape, NULL);
        unlink(path);
        train_processor_fail(&at->device, 0, 0);
        assert_int_equal(failing_run(&o, shape), TAPER_OK);
        train_processor_count(&at->device, &allocations, &operations);
        unlink(path);
        /* nearly every one of Adam's; line searches have thousands of the same kinds */
        uint64_t step = 1 + operations / 250;
        for (uint64_t k = 1; k <= operations; k += step) {
            struct stat there;
            o.saving.resume = 0;
            train_processor_fail(&at->device, 0, k);
            assert_int_equal(failing_run(&o, shape), TAPER_ERR_DEVICE);
            train_processor_fail(&at->device, 0, 0);
            if (stat(path, &there) != 0) continue;
            taken_up++;
            o.saving.resume = 1;
            if (k % 5 == 0) compare_and_free(whole, run(&o, shape, NULL), n);
            unlink(path);
        }
        assert_true(taken_up > 20);
        free(whole);
    }
    train_truncation_free(&t);
    scratch_remove(folder);
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
    o = good, o.orthonormal = 1, refused(&o, &net, "orthonormal decoders are for linear");
    o = good, o.truncation = &other, refused(&o, &net, "13 units for a code of 12");
    o = good, o.class_units = K + 1, refused(&o, &net, "13 class units of a code of 12");
    o = good, o.class_units = 3, o.sweep.on = 1, refused(&o, &net, "leave --sweep out");
    o.sweep.on = 0, o.class_weight = -1.0f, refused(&o, &net, "weight");
    o.class_weight = NAN, refused(&o, &net, "weight");
    o = good, o.class_units = 3, o.straight_through = 0, refused(&o, &net, "--gradient through");
    o = good, o.class_units = 3, o.class_lengths = (train_prefix_list){{1, 1, 3}, 3};
    refused(&o, &net, "rise from 1 to all 3 class units");
    o.class_lengths = (train_prefix_list){{1, 2}, 2}, refused(&o, &net, "rise from 1 to all 3");
    o.class_lengths = (train_prefix_list){{0, 3}, 2}, refused(&o, &net, "rise from 1 to all 3");
    train_nested_free(&net), make(&net, shape_of(0, 0));
    o = good, o.class_units = 3, refused(&o, &net, "--code binary");
    train_nested_free(&net), train_truncation_free(&t), train_truncation_free(&other);
}

/* Labels that say nothing. */
static void labels_are_checked(void **state) {
    (void)state;
    train_truncation t = geometric(0.8);
    train_nested_network net;
    taper_error error = {0};
    train_nested_options o = quick(&t);
    uint32_t *one = calloc(N, sizeof *one);
    train_pixels some = data;
    o.class_units = 3;
    make(&net, shape_of(1, 0));
    some.label = NULL;
    assert_int_equal(train_nested(&o, &some, &net, NULL, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "no image has one"));
    some.label = one;
    one[3] = UINT32_MAX;
    assert_int_equal(train_nested(&o, &some, &net, NULL, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "of one class"));
    for (int i = 0; i < N; i++) one[i] = UINT32_MAX;
    assert_int_equal(train_nested(&o, &some, &net, NULL, NULL, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "no image has one"));
    train_nested_free(&net), train_truncation_free(&t), free(one);
}

/* Rows whose bits are nearest to row i's among the others, by the first `units`, of another label:
 * the share of them. */
static double wrong_neighbours(train_nested_network *net, uint32_t units) {
    float *code = calloc(N * K, sizeof *code);
    train_nested_source source;
    double wrong = 0.0, all = 0.0;
    assert_int_equal(train_nested_source_open(&source, net, &data, NULL, N), TAPER_OK);
    assert_int_equal(train_nested_codes(net, &source.data, 0, code), TAPER_OK);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            if (i == j || label[i] == UINT32_MAX || label[j] == UINT32_MAX) continue;
            if (memcmp(code + i * K, code + j * K, units * sizeof *code) != 0) continue;
            wrong += label[i] != label[j], all += 1.0;
        }
    train_nested_source_close(&source), free(code);
    assert_true(all > 0.0);
    return wrong / all;
}

/* Units in front come to tell classes apart, without and with units that see each other. */
static void class_units_tell_classes_apart(void **state) {
    (void)state;
    train_truncation t = geometric(0.8);
    for (int feedback = 0; feedback < 2; feedback++) {
        train_nested_options o = quick(&t);
        train_nested_shape shape = shape_of(1, 0);
        double share[2];
        shape.feedback = feedback, shape.alone = feedback ? 3 : 0, shape.tied = 0;
        o.epochs = 20, o.class_weight = 2.0f;
        for (int labels = 0; labels < 2; labels++) {
            train_nested_network net;
            o.class_units = labels ? 3 : 0;
            make(&net, shape);
            train(&o, &net, NULL);
            share[labels] = wrong_neighbours(&net, 3);
            train_nested_free(&net);
        }
        printf("feedback %d: of rows with the same three bits %.3f have another label, %.3f "
               "without labels\n",
               feedback, share[1], share[0]);
        assert_true(share[1] < 0.5 * share[0]);
    }
    train_truncation_free(&t);
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
        cmocka_unit_test(sweep_keeps_its_budget),
        cmocka_unit_test(sweep_sees_convergence),
        cmocka_unit_test(nesting_orders_units),
        cmocka_unit_test(sweeping_reaches_late_units),
        cmocka_unit_test(units_converge_under_adam),
        cmocka_unit_test(thresholds_are_exact),
        cmocka_unit_test(resumed_runs_are_equal),
        cmocka_unit_test(swept_units_stay),
        cmocka_unit_test(sweeps_resume),
        cmocka_unit_test(rows_at_once_change_sums_alone),
        cmocka_unit_test(diverged_steps_move_nothing),
        cmocka_unit_test(every_device_allocation_may_fail),
        cmocka_unit_test(a_lost_device_loses_nothing),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(labels_are_checked),
        cmocka_unit_test(class_units_tell_classes_apart),
        cmocka_unit_test(other_checkpoints_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
