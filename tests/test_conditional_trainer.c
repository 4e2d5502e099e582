/* test_conditional_trainer.c -- learning to predict bits and to reconstruct: it pays on images that
 * have something to predict, it repeats, and it can be interrupted. */
#include "cmocka_all.h"
#include "train/train.h"
#include "waves.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEED = 81 };

typedef struct outcome {
    formats_buffer file;
    train_rd_curve curve;
} outcome;

typedef struct stop_at {
    uint64_t step; /* 0: never */
    uint64_t first, steps;
    double now, before;
} stop_at;

static int watch(void *user, const train_steps_progress *p) {
    stop_at *s = user;
    if (!s->first) s->first = p->step;
    s->steps = p->steps, s->now = p->now, s->before = p->before;
    return s->step && p->step >= s->step;
}

static train_options usual(void) {
    train_options o = {
        .family = TAPER_FAMILY_PCA, .window = 4, .conditional = train_conditional_defaults()};
    o.conditional.hidden = 16;
    o.conditional.epochs = 40;
    o.conditional.windows = 256;
    o.conditional.rate = 5e-3f;
    o.head = o.conditional;
    return o;
}

static outcome learn(const train_options *o, unsigned threads, stop_at *stop) {
    train_dataset data = waves_make(SEED);
    outcome out = {.file = formats_buffer_make(1 << 24)};
    train_report report;
    taper_error error = {0};
    train_hooks hooks = {
        .user = stop, .conditional = stop ? watch : NULL, .head = stop ? watch : NULL};
    codec_backend be;
    codec_backend_cpu(&be);
    codec_backend_set_threads(&be, threads);
    if (train_model(o, &data, &be, &hooks, &out.file, &report, &error) != TAPER_OK)
        fail_msg("%s", error.text);
    codec_backend_close(&be);
    out.curve = report.validation;
    waves_drop(&data);
    return out;
}

static void assert_same_file(const outcome *a, const outcome *b) {
    assert_int_equal(a->file.size, b->file.size);
    assert_memory_equal(a->file.data, b->file.data, a->file.size);
}

static void predicting_saves_bytes(void **unused) {
    (void)unused;
    train_options o = usual(), none = o;
    none.conditional.hidden = none.head.hidden = o.head.hidden = 0;
    outcome plain = learn(&none, 2, NULL), with = learn(&o, 2, NULL);
    for (double psnr = 24; psnr <= 32; psnr += 4) {
        double a = train_bytes_at(&plain.curve, psnr), b = train_bytes_at(&with.curve, psnr);
        print_message("%g dB: %.2f B an image, %.2f with a conditional model\n", psnr, a, b);
        assert_true(b < 0.96 * a);
    }
    formats_buffer_free(&plain.file);
    formats_buffer_free(&with.file);
}

static void heads_raise_quality(void **unused) {
    (void)unused;
    train_options o = usual(), none = o;
    none.conditional.hidden = none.head.hidden = o.conditional.hidden = 0;
    outcome plain = learn(&none, 2, NULL), with = learn(&o, 2, NULL);
    for (double psnr = 20; psnr <= 28; psnr += 4) {
        double a = train_bytes_at(&plain.curve, psnr), b = train_bytes_at(&with.curve, psnr);
        print_message("%g dB: %.2f B an image, %.2f with a head\n", psnr, a, b);
        assert_true(b < 0.97 * a);
    }
    for (uint32_t l = 1; l < with.curve.n; l++) /* P2 */
        assert_true(with.curve.point[l].psnr_db > with.curve.point[l - 1].psnr_db - 0.05);
    formats_buffer_free(&plain.file);
    formats_buffer_free(&with.file);
}

static void repeats_with_any_number_of_threads(void **unused) {
    (void)unused;
    train_options o = usual();
    o.conditional.epochs = o.head.epochs = 4;
    outcome one = learn(&o, 1, NULL), three = learn(&o, 3, NULL);
    assert_same_file(&one, &three);
    o.conditional.seed = 2;
    outcome other = learn(&o, 1, NULL);
    assert_true(other.file.size != one.file.size ||
                memcmp(other.file.data, one.file.data, one.file.size) != 0);
    formats_buffer_free(&one.file);
    formats_buffer_free(&three.file);
    formats_buffer_free(&other.file);
}

static void resumed_runs_equal_whole_ones(void **unused) {
    (void)unused;
    char path[64], head[80];
    snprintf(path, sizeof path, "/tmp/taper-conditional-%ld", (long)getpid());
    snprintf(head, sizeof head, "%s.head", path);
    train_options o = usual();
    o.conditional.epochs = o.head.epochs = 4;
    outcome whole = learn(&o, 2, NULL);
    o.conditional.saving.path = o.head.saving.path = path;
    o.conditional.saving.resume = o.head.saving.resume = 1;
    stop_at stop = {.step = 7}, go_on = {0};
    outcome broken = learn(&o, 2, &stop), resumed = learn(&o, 2, &go_on);
    assert_true(go_on.first == 8 && go_on.steps > 8);
    assert_same_file(&whole, &resumed);
    remove(path), remove(head);
    formats_buffer_free(&whole.file);
    formats_buffer_free(&broken.file);
    formats_buffer_free(&resumed.file);
}

static void bad_options_are_refused(void **unused) {
    (void)unused;
    train_dataset data = waves_make(SEED);
    codec_backend be;
    codec_backend_cpu(&be);
    for (int i = 0; i < 4; i++) {
        train_options o = usual();
        taper_error error = {0};
        formats_buffer file = formats_buffer_make(1 << 24);
        train_report report;
        if (i == 0) o.conditional.hidden = 12;
        if (i == 1) o.conditional.stages = 256;
        if (i == 2) o.conditional.rate = 0;
        if (i == 3) o.conditional.hidden = 0, o.head.hidden = 300;
        assert_int_equal(train_model(&o, &data, &be, NULL, &file, &report, &error), TAPER_ERR_ARG);
        assert_true(strlen(error.text) > 20);
        formats_buffer_free(&file);
    }
    waves_drop(&data);
}

static taper_status no_room(codec_backend *be, size_t n, const float *x, double *sum) {
    (void)be, (void)n, (void)x, (void)sum;
    return TAPER_ERR_NOMEM;
}

/* A step that fails ends the run, and says why. */
static void failed_steps_are_told(void **unused) {
    (void)unused;
    train_dataset data = waves_make(SEED);
    codec_backend be;
    codec_backend_cpu(&be);
    codec_backend_ops ops = *be.ops;
    ops.sum_squares = no_room; /* which only the networks' steps ask for */
    be.ops = &ops;
    train_options o = usual();
    taper_error error = {0};
    formats_buffer file = formats_buffer_make(1 << 24);
    train_report report;
    assert_int_equal(train_model(&o, &data, &be, NULL, &file, &report, &error), TAPER_ERR_NOMEM);
    assert_non_null(strstr(error.text, "training step"));
    formats_buffer_free(&file);
    waves_drop(&data);
}

/* Adapted to images of another kind, a model predicts these better, and costs minutes less. */
static void models_learn_on_from_others(void **unused) {
    (void)unused;
    train_options o = usual();
    outcome first = learn(&o, 2, NULL);
    taper_model *m;
    assert_int_equal(taper_model_load(&m, first.file.data, first.file.size, NULL, NULL), TAPER_OK);
    train_dataset other = waves_make(SEED + 1000);
    for (size_t i = 0; i < other.n; i++) /* the other way up, and softer */
        for (int p = 0; p < WAVES_SIDE * WAVES_SIDE; p++) {
            uint8_t *pixel = (uint8_t *)other.image[i].pixels + p;
            *pixel = (uint8_t)(200 - *pixel / 2);
        }
    codec_backend be;
    codec_backend_cpu(&be);
    train_rd_curve before;
    train_selection s;
    assert_int_equal(train_select(&s, &other, m->window, TRAIN_PART_VALIDATION, 1 << 20), TAPER_OK);
    assert_int_equal(train_evaluate(m, &be, &other, &s, &before, NULL), TAPER_OK);
    o.from = &first.file;
    o.conditional.epochs = o.head.epochs = 10;
    formats_buffer file = formats_buffer_make(1 << 24);
    train_report report;
    taper_error error = {0};
    if (train_model(&o, &other, &be, NULL, &file, &report, &error) != TAPER_OK)
        fail_msg("%s", error.text);
    for (double psnr = 24; psnr <= 32; psnr += 4) {
        double a = train_bytes_at(&before, psnr), b = train_bytes_at(&report.validation, psnr);
        print_message("%g dB: %.2f B an image, %.2f adapted\n", psnr, a, b);
        assert_true(b < 0.97 * a);
    }
    /* a model for grey images is refused where there is colour */
    other.channels = 3;
    assert_int_equal(train_model(&o, &other, &be, NULL, &file, &report, &error), TAPER_ERR_ARG);
    codec_backend_close(&be);
    train_selection_free(&s);
    taper_model_free(m);
    waves_drop(&other);
    formats_buffer_free(&file);
    formats_buffer_free(&first.file);
}

int main(void) {
    print_message("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_learn_on_from_others),
        cmocka_unit_test(predicting_saves_bytes),
        cmocka_unit_test(heads_raise_quality),
        cmocka_unit_test(repeats_with_any_number_of_threads),
        cmocka_unit_test(resumed_runs_equal_whole_ones),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(failed_steps_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
