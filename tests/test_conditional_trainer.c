/* test_conditional_trainer.c -- learning to predict bits and to reconstruct: it pays on images that
 * have something to predict, it repeats on any device and any number of threads, and it can be
 * interrupted, also by a device that fails. */
#include "later_stage.h"
#include <math.h>

static train_options usual(void) {
    train_options o = {.conditional = train_conditional_defaults()};
    o.conditional.hidden = 16;
    o.conditional.epochs = 20;
    o.conditional.windows = 128;
    o.conditional.rate = 5e-3f;
    o.head = o.conditional;
    o.head.epochs = 30;
    return o;
}

/* At the same quality, the second of two models takes less than `part` of the first's bytes. */
static void saves(const train_rd_curve *one, const train_rd_curve *other, double low, double part,
                  const char *what) {
    for (double psnr = low; psnr <= low + 8; psnr += 4) {
        double a = train_bytes_at(one, psnr), b = train_bytes_at(other, psnr);
        print_message("%g dB: %.2f B an image, %.2f %s\n", psnr, a, b, what);
        assert_true(b < part * a);
    }
}

static void predicting_saves_bytes(void **unused) {
    (void)unused;
    train_options o = usual();
    o.head.hidden = 0;
    later_outcome plain = later_learn(NULL, &o, TRAIN_PROCESSOR, 2, NULL),
                  with = later_learn(train_add_conditional, &o, TRAIN_PROCESSOR, 2, NULL);
    saves(&plain.curve, &with.curve, 24, 0.96, "with a conditional model");
    later_drop(&plain), later_drop(&with);
}

static void heads_raise_quality(void **unused) {
    (void)unused;
    train_options o = usual();
    o.conditional.hidden = 0;
    later_outcome plain = later_learn(NULL, &o, TRAIN_PROCESSOR, 2, NULL),
                  with = later_learn(train_add_conditional, &o, TRAIN_PROCESSOR, 2, NULL);
    saves(&plain.curve, &with.curve, 20, 0.97, "with a head");
    for (uint32_t l = 1; l < with.curve.n; l++) /* P2 */
        assert_true(with.curve.point[l].psnr_db > with.curve.point[l - 1].psnr_db - 0.05);
    later_drop(&plain), later_drop(&with);
}

static void bad_options_are_refused(void **unused) {
    (void)unused;
    later_host h;
    later_open(&h, TRAIN_PROCESSOR, 1);
    for (int i = 0; i < 4; i++) {
        train_options o = usual();
        static const train_hooks none;
        taper_error error = {0};
        if (i == 0) o.conditional.hidden = 12;
        if (i == 1) o.conditional.stages = 256;
        if (i == 2) o.conditional.rate = 0;
        if (i == 3) o.conditional.hidden = 0, o.head.hidden = 300;
        train_job j = {o, &later_data, &h.be, &h.device, &none, NULL};
        taper_model *m = later_load(&j);
        assert_int_equal(train_add_conditional(m, &j, &error), TAPER_ERR_ARG);
        assert_true(strlen(error.text) > 20);
        taper_model_free(m);
    }
    later_close(&h);
}

/* --- on any device, also such that fail ------------------------------------------------------ */

static void repeats_on_every_device(void **unused) {
    (void)unused;
    later_repeats(later_predict);
    later_repeats(later_refine);
}

static void survives_kills(void **unused) {
    (void)unused;
    for (int kind = TRAIN_PROCESSOR; kind <= TRAIN_SHADOW; kind++) {
        later_survives_kills(later_predict, (train_processor_kind)kind);
        later_survives_kills(later_refine, (train_processor_kind)kind);
    }
}

static void every_seed_gives_another_model(void **unused) {
    (void)unused;
    later_lesson l;
    formats_buffer one, other;
    later_prepare(&l, TRAIN_PROCESSOR, 1);
    assert_int_equal(later_take(&l, later_predict, NULL, NULL, &one), TAPER_OK);
    later_length.seed = 2;
    assert_int_equal(later_take(&l, later_predict, NULL, NULL, &other), TAPER_OK);
    later_length.seed = 1;
    assert_true(later_differs(&one, &other));
    formats_buffer_free(&one), formats_buffer_free(&other);
    later_put_away(&l);
}

static void every_device_allocation_may_fail(void **unused) {
    (void)unused;
    for (int kind = TRAIN_PROCESSOR; kind <= TRAIN_SHADOW; kind++) {
        later_without_memory(later_predict, (train_processor_kind)kind);
        later_without_memory(later_refine, (train_processor_kind)kind);
    }
}

static void lost_devices_lose_nothing(void **unused) {
    (void)unused;
    for (int kind = TRAIN_PROCESSOR; kind <= TRAIN_SHADOW; kind++) {
        later_on_lost_devices(later_predict, (train_processor_kind)kind, 7);
        later_on_lost_devices(later_refine, (train_processor_kind)kind, 11);
    }
}

/* A rate that is nonsense ends the run with a sentence. */
static void divergence_is_told(void **unused) {
    (void)unused;
    for (int kind = TRAIN_PROCESSOR; kind <= TRAIN_SHADOW; kind++) {
        later_lesson l;
        taper_error error = {0};
        later_prepare(&l, (train_processor_kind)kind, 1);
        taper_model *m = later_load(&l.j);
        train_conditional_options o = train_conditional_defaults();
        o.hidden = 8, o.windows = 32, o.epochs = 2, o.rate = 3e38f;
        assert_int_equal(
            train_conditional(m, &o, &l.data, &l.sample.codes, &l.h.be, &l.h.device, NULL, &error),
            TAPER_ERR_ARG);
        print_message("%s\n", error.text);
        assert_non_null(strstr(error.text, "diverged in step"));
        assert_null(m->tables.conditional);
        taper_model_free(m);
        later_put_away(&l);
    }
}

/* --- learning on ---------------------------------------------------------------------------- */

/* Adapted to images of another kind, a model predicts these better, and costs minutes less. */
static void models_learn_on_from_others(void **unused) {
    (void)unused;
    train_options o = usual();
    o.conditional.epochs = o.head.epochs = 10;
    later_host h;
    later_open(&h, TRAIN_PROCESSOR, 2);
    later_outcome first = later_learn(train_add_conditional, &o, TRAIN_PROCESSOR, 2, NULL);
    taper_model *m;
    assert_int_equal(taper_model_load(&m, first.file.data, first.file.size, NULL, NULL), TAPER_OK);
    train_dataset other = waves_make(LATER_SEED + 1000);
    for (size_t i = 0; i < other.n; i++) /* the other way up, and softer */
        for (int p = 0; p < WAVES_SIDE * WAVES_SIDE; p++) {
            uint8_t *pixel = (uint8_t *)other.image[i].pixels + p;
            *pixel = (uint8_t)(200 - *pixel / 2);
        }
    train_rd_curve before;
    train_selection s;
    assert_int_equal(train_select(&s, &other, m->window, TRAIN_PART_VALIDATION, 1 << 20), TAPER_OK);
    assert_int_equal(train_evaluate(m, &h.be, &other, &s, &before, NULL), TAPER_OK);
    o.from = &first.file;
    formats_buffer file = formats_buffer_make(1 << 24);
    train_report report;
    taper_error error = {0};
    if (train_model(&o, &other, &h.be, &h.device, NULL, &file, &report, &error) != TAPER_OK)
        fail_msg("%s", error.text);
    saves(&before, &report.validation, 24, 0.97, "adapted");
    /* a model for grey images is refused where there is colour */
    other.channels = 3;
    assert_int_equal(train_model(&o, &other, &h.be, &h.device, NULL, &file, &report, &error),
                     TAPER_ERR_ARG);
    later_close(&h);
    train_selection_free(&s);
    taper_model_free(m);
    waves_drop(&other);
    formats_buffer_free(&file);
    later_drop(&first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_learn_on_from_others),
        cmocka_unit_test(predicting_saves_bytes),
        cmocka_unit_test(heads_raise_quality),
        cmocka_unit_test(repeats_on_every_device),
        cmocka_unit_test(survives_kills),
        cmocka_unit_test(every_seed_gives_another_model),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(every_device_allocation_may_fail),
        cmocka_unit_test(lost_devices_lose_nothing),
        cmocka_unit_test(divergence_is_told),
    };
    return cmocka_run_group_tests(tests, later_begin, later_end);
}
