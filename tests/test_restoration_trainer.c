/* test_restoration_trainer.c -- family conv as train_model makes it: restoring pays on images that
 * have something to restore, repeats, can be interrupted, and learns on from another model. */
#include "cmocka_all.h"
#include "train/train.h"
#include "waves.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SEED = 31 };

typedef struct outcome {
    formats_buffer file;
    train_report report;
} outcome;

typedef struct stop_at {
    uint64_t step; /* 0: never */
    uint64_t first, steps;
} stop_at;

static int watch(void *user, const train_steps_progress *p) {
    stop_at *s = user;
    if (!s->first) s->first = p->step;
    s->steps = p->steps;
    return s->step && p->step >= s->step;
}

static train_options usual(void) {
    train_options o = {.family = TAPER_FAMILY_CONV,
                       .window = 4,
                       .lap = TRAIN_LAP_AUTO,
                       .restoration = train_restoration_defaults()};
    o.restoration.hidden = 16;
    o.restoration.steps = 100;
    o.restoration.rate = 3e-3f;
    return o;
}

static outcome learn(const train_options *o, unsigned threads, stop_at *stop) {
    train_dataset data = waves_make(SEED);
    outcome out = {.file = formats_buffer_make(1 << 24)};
    taper_error error = {0};
    train_hooks hooks = {.user = stop, .restoration = stop ? watch : NULL};
    codec_backend be;
    codec_backend_cpu(&be);
    codec_backend_set_threads(&be, threads);
    if (train_model(o, &data, &be, &hooks, &out.file, &out.report, &error) != TAPER_OK)
        fail_msg("%s", error.text);
    codec_backend_close(&be);
    waves_drop(&data);
    return out;
}

static taper_family family_of(const formats_buffer *file) {
    taper_model *m;
    assert_int_equal(taper_model_load(&m, file->data, file->size, NULL, NULL), TAPER_OK);
    taper_family family = taper_model_get_info(m).family;
    taper_model_free(m);
    return family;
}

static void assert_same_file(const formats_buffer *a, const formats_buffer *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static void restoring_saves_bytes(void **unused) {
    (void)unused;
    train_options o = usual(), none = o;
    none.family = TAPER_FAMILY_PCA;
    outcome plain = learn(&none, 2, NULL), with = learn(&o, 2, NULL);
    assert_int_equal(family_of(&plain.file), TAPER_FAMILY_PCA);
    assert_int_equal(family_of(&with.file), TAPER_FAMILY_CONV);
    assert_true(!with.report.restoration_left_out);
    const train_rd_curve *curve = &with.report.validation;
    for (double psnr = 20; psnr <= 28; psnr += 4) {
        double a = train_bytes_at(&plain.report.validation, psnr), b = train_bytes_at(curve, psnr);
        print_message("%g dB: %.2f B an image, %.2f restored\n", psnr, a, b);
        assert_true(b < 0.97 * a);
    }
    for (uint32_t l = 1; l < curve->n; l++) /* P2 */
        assert_true(curve->point[l].psnr_db > curve->point[l - 1].psnr_db - 0.05);
    formats_buffer_free(&plain.file);
    formats_buffer_free(&with.file);
}

static void repeats_with_any_number_of_threads(void **unused) {
    (void)unused;
    train_options o = usual();
    o.restoration.steps = 12;
    outcome one = learn(&o, 1, NULL), three = learn(&o, 3, NULL);
    assert_same_file(&one.file, &three.file);
    o.restoration.seed = 2;
    outcome other = learn(&o, 1, NULL);
    assert_true(other.file.size != one.file.size ||
                memcmp(other.file.data, one.file.data, one.file.size) != 0);
    formats_buffer_free(&one.file);
    formats_buffer_free(&three.file);
    formats_buffer_free(&other.file);
}

static void resumed_runs_equal_whole_ones(void **unused) {
    (void)unused;
    char path[64], own[80];
    snprintf(path, sizeof path, "/tmp/taper-restoration-%ld", (long)getpid());
    snprintf(own, sizeof own, "%s.conv", path);
    train_options o = usual();
    o.restoration.steps = 20;
    outcome whole = learn(&o, 2, NULL);
    o.restoration.saving.path = path;
    o.restoration.saving.resume = 1;
    stop_at stop = {.step = 7}, go_on = {0};
    outcome broken = learn(&o, 2, &stop), resumed = learn(&o, 2, &go_on);
    assert_true(go_on.first == 8 && go_on.steps == 20);
    assert_same_file(&whole.file, &resumed.file);
    remove(own);
    formats_buffer_free(&whole.file);
    formats_buffer_free(&broken.file);
    formats_buffer_free(&resumed.file);
}

/* A model that restores waves learns on. */
static void models_learn_on_from_others(void **unused) {
    (void)unused;
    train_options o = usual();
    outcome first = learn(&o, 2, NULL);
    o.from = &first.file;
    o.restoration.steps = 30;
    outcome second = learn(&o, 2, NULL);
    assert_int_equal(family_of(&second.file), TAPER_FAMILY_CONV);
    double a = train_bytes_at(&first.report.validation, 24),
           b = train_bytes_at(&second.report.validation, 24);
    print_message("24 dB: %.2f B an image, then %.2f\n", a, b);
    assert_true(b < 1.02 * a);
    formats_buffer_free(&first.file);
    formats_buffer_free(&second.file);
}

static void what_gains_nothing_is_left_out(void **unused) {
    (void)unused;
    train_options o = usual();
    o.restoration.steps = 1;
    o.restoration.rate = 100; /* nonsense, to be noticed by validation */
    outcome out = learn(&o, 2, NULL);
    assert_true(out.report.restoration_left_out);
    assert_int_equal(family_of(&out.file), TAPER_FAMILY_PCA);
    formats_buffer_free(&out.file);
}

static void bad_options_are_refused(void **unused) {
    (void)unused;
    train_dataset data = waves_make(SEED);
    codec_backend be;
    codec_backend_cpu(&be);
    for (int i = 0; i < 6; i++) {
        train_options o = usual();
        taper_error error = {0};
        formats_buffer file = formats_buffer_make(1 << 24);
        train_report report;
        if (i == 0) o.restoration.hidden = 12;
        if (i == 1) o.restoration.layers = 1;
        if (i == 2) o.restoration.stages = CODEC_RESTORATION_MOST_STAGES + 1;
        if (i == 3) o.restoration.rate = 0;
        if (i == 4) o.restoration.steps = 0;
        if (i == 5) o.window = 5;
        assert_int_equal(train_model(&o, &data, &be, NULL, &file, &report, &error), TAPER_ERR_ARG);
        assert_true(strlen(error.text) > 20);
        formats_buffer_free(&file);
    }
    codec_backend_close(&be);
    waves_drop(&data);
}

int main(void) {
    print_message("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restoring_saves_bytes),
        cmocka_unit_test(repeats_with_any_number_of_threads),
        cmocka_unit_test(resumed_runs_equal_whole_ones),
        cmocka_unit_test(models_learn_on_from_others),
        cmocka_unit_test(what_gains_nothing_is_left_out),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
