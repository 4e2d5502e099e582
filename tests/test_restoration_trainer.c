/* test_restoration_trainer.c -- family conv: restoring pays on images that have something to
 * restore, repeats on any device and any number of threads, can be interrupted, also by a device
 * that fails, and learns on from another model. */
#include "infos.h"
#include "later_stage.h"

static train_options usual(void) {
    train_options o = {.family = TAPER_FAMILY_CONV, .restoration = train_restoration_defaults()};
    o.restoration.hidden = 8;
    o.restoration.layers = 3;
    o.restoration.stages = 4;
    o.restoration.steps = 100;
    o.restoration.pixels = 4096;
    o.restoration.rate = 4e-3f;
    return o;
}

static taper_family family_of(const formats_buffer *file) {
    taper_model *m;
    assert_int_equal(taper_model_load(&m, file->data, file->size, NULL, NULL), TAPER_OK);
    taper_family family = info_of_model(m).family;
    taper_model_free(m);
    return family;
}

/* It pays; and a model that restores waves learns on. */
static void restoring_saves_bytes(void **unused) {
    (void)unused;
    train_options o = usual();
    later_host h;
    train_report report;
    taper_error error = {0};
    later_outcome plain = later_learn(NULL, &o, TRAIN_PROCESSOR, 2, NULL),
                  with = later_learn(train_add_restoration, &o, TRAIN_PROCESSOR, 2, NULL);
    assert_int_equal(family_of(&plain.file), TAPER_FAMILY_PCA);
    assert_int_equal(family_of(&with.file), TAPER_FAMILY_CONV);
    for (double psnr = 20; psnr <= 28; psnr += 4) {
        double a = train_bytes_at(&plain.curve, psnr), b = train_bytes_at(&with.curve, psnr);
        print_message("%g dB: %.2f B an image, %.2f restored\n", psnr, a, b);
        assert_true(b < 0.97 * a);
    }
    for (uint32_t l = 1; l < with.curve.n; l++) /* P2 */
        assert_true(with.curve.point[l].psnr_db > with.curve.point[l - 1].psnr_db - 0.05);
    formats_buffer file = formats_buffer_make(1 << 24);
    o.from = &with.file;
    o.restoration.steps = 20;
    later_open(&h, TRAIN_PROCESSOR, 2);
    if (train_model(&o, &later_data, &h.be, &h.device, NULL, &file, &report, &error) != TAPER_OK)
        fail_msg("%s", error.text);
    assert_int_equal(family_of(&file), TAPER_FAMILY_CONV);
    double a = train_bytes_at(&with.curve, 24), b = train_bytes_at(&report.validation, 24);
    print_message("24 dB: %.2f B an image, then %.2f\n", a, b);
    assert_true(b < 1.02 * a && !report.restoration_left_out);
    formats_buffer_clear(&file);
    o.restoration.steps = 1;
    o.restoration.rate = 1e4f; /* nonsense: what it had is gone, and that is told */
    if (train_model(&o, &later_data, &h.be, &h.device, NULL, &file, &report, &error) != TAPER_OK)
        fail_msg("%s", error.text);
    assert_int_equal(family_of(&file), TAPER_FAMILY_PCA);
    assert_true(report.restoration_left_out);
    later_close(&h);
    formats_buffer_free(&file);
    later_drop(&plain), later_drop(&with);
}

static void what_gains_nothing_is_left_out(void **unused) {
    (void)unused;
    train_options o = usual();
    o.restoration.steps = 1;
    o.restoration.rate = 100; /* nonsense, to be noticed by validation */
    later_outcome out = later_learn(train_add_restoration, &o, TRAIN_PROCESSOR, 2, NULL);
    assert_int_equal(family_of(&out.file), TAPER_FAMILY_PCA);
    later_same(&out.file, &later_plain);
    later_drop(&out);
}

static void bad_options_are_refused(void **unused) {
    (void)unused;
    for (int i = 0; i < 7; i++) {
        train_restoration_options o = usual().restoration;
        codec_window window = {4, 4, 1, NULL};
        taper_error error = {0};
        assert_int_equal(train_restoration_check(&o, window, &error), TAPER_OK);
        if (i == 0) o.hidden = 12;
        if (i == 1) o.layers = 1;
        if (i == 2) o.stages = CODEC_RESTORATION_MOST_STAGES + 1;
        if (i == 3) o.rate = 0;
        if (i == 4) o.steps = 0;
        if (i == 5) o.pixels = 0;
        if (i == 6) window.width = 5;
        assert_int_equal(train_restoration_check(&o, window, &error), TAPER_ERR_ARG);
        assert_true(strlen(error.text) > 20);
    }
}

/* --- on any device, also such that fail ------------------------------------------------------ */

static void repeats_on_every_device(void **unused) {
    (void)unused;
    later_repeats(later_restore);
}

static void survives_kills(void **unused) {
    (void)unused;
    for (int kind = TRAIN_PROCESSOR; kind <= TRAIN_SHADOW; kind++)
        later_survives_kills(later_restore, (train_processor_kind)kind);
}

static void every_seed_gives_another_model(void **unused) {
    (void)unused;
    later_lesson l;
    formats_buffer made[2];
    later_prepare(&l, TRAIN_PROCESSOR, 1);
    for (int i = 0; i < 2; i++, later_length.seed++)
        assert_int_equal(later_take(&l, later_restore, NULL, NULL, &made[i]), TAPER_OK);
    assert_true(later_differs(&made[0], &made[1]));
    formats_buffer_free(&made[0]), formats_buffer_free(&made[1]);
    later_put_away(&l);
    later_length.seed = 1;
}

static void every_device_allocation_may_fail(void **unused) {
    (void)unused;
    for (int kind = TRAIN_PROCESSOR; kind <= TRAIN_SHADOW; kind++)
        later_without_memory(later_restore, (train_processor_kind)kind);
}

static void lost_devices_lose_nothing(void **unused) {
    (void)unused;
    for (int kind = TRAIN_PROCESSOR; kind <= TRAIN_SHADOW; kind++)
        later_on_lost_devices(later_restore, (train_processor_kind)kind, 23);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restoring_saves_bytes),
        cmocka_unit_test(what_gains_nothing_is_left_out),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(repeats_on_every_device),
        cmocka_unit_test(survives_kills),
        cmocka_unit_test(every_seed_gives_another_model),
        cmocka_unit_test(every_device_allocation_may_fail),
        cmocka_unit_test(lost_devices_lose_nothing),
    };
    later_lap = TRAIN_LAP_AUTO;
    return cmocka_run_group_tests(tests, later_begin, later_end);
}
