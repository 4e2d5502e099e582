/* test_side_by_side.c -- models that learn at once: the same bytes and the same words as one after
 * the other, also where memory is short; one failure ends them all, and checkpoints go on. */
#include "side_by_side.h"
#include "scratch.h"

static void same_as_one_after_the_other(void **unused) {
    (void)unused;
    for (int code = TRAIN_CODE_PLANES; code <= TRAIN_CODE_BINARY; code++) {
        const train_options options = quick((train_code)code);
        for (int i = 0; i < DEVICES; i++) {
            outcome *alone = learn(&options, &device[i], 1);
            assert_int_equal(alone->at_once, 0);
            assert_non_null(strstr(alone->words, "window 8, "));
            assert_non_null(strstr(alone->words, "window 24, "));
            for (uint32_t at_once = 2; at_once <= 4; at_once += 2)
                assert_the_same(alone, &options, &device[i], at_once);
            drop(alone);
        }
    }
}

/* A device that gains nothing is asked for one model at a time; so is a single window. */
static void one_model_is_alone(void **unused) {
    (void)unused;
    train_options options = quick(TRAIN_CODE_UNITS);
    options.window = 8;
    outcome *one = learn(&options, &device[2], 2);
    assert_int_equal(one->status, TAPER_OK);
    assert_int_equal(one->at_once, 0);
    drop(one);
    options = quick(TRAIN_CODE_PLANES), options.family = TAPER_FAMILY_PCA;
    one = learn(&options, &device[2], 2);
    assert_int_equal(one->status, TAPER_OK);
    assert_int_equal(one->at_once, 0);
    drop(one);
}

/* --- memory ----------------------------------------------------------------------------- */

/* Whichever allocation fails, models are fewer at once, and the same. */
static void without_memory_fewer_learn_at_once(void **unused) {
    (void)unused;
    on_device *d = &device[2];
    for (int code = TRAIN_CODE_UNITS; code <= TRAIN_CODE_BINARY; code++) {
        const train_options options = quick((train_code)code);
        uint64_t allocations, operations;
        outcome *alone = learn(&options, d, 1);
        train_processor_fail(&d->device, 0, 0);
        drop(learn(&options, d, 3));
        train_processor_count(&d->device, &allocations, &operations);
        assert_true(allocations > 10);
        for (uint64_t k = 1; k <= allocations; k++) {
            train_processor_fail(&d->device, k, 0);
            outcome *together = learn(&options, d, 3);
            assert_true(together->least == 1 || together->least == 2);
            assert_same(alone, together);
            drop(together);
        }
        train_processor_fail(&d->device, 0, 0);
        drop(alone);
    }
}

/* A set that is streamed when it is learned alone is streamed beside others. */
static void rows_that_do_not_fit(void **unused) {
    (void)unused;
    on_device *d = &device[2];
    const train_options options = quick(TRAIN_CODE_UNITS);
    d->device.most_kept = 1;
    outcome *alone = learn(&options, d, 1), *together = learn(&options, d, 2);
    d->device.most_kept = 0;
    assert_non_null(strstr(alone->words, "streamed"));
    assert_int_equal(together->least, 0);
    assert_same(alone, together);
    drop(alone), drop(together);
}

/* --- failures --------------------------------------------------------------------------- */

static void a_lost_device_ends_all(void **unused) {
    (void)unused;
    const train_options options = quick(TRAIN_CODE_UNITS);
    on_device lost;
    uint64_t allocations, all;
    train_processor_fail(&device[2].device, 0, 0);
    drop(learn(&options, &device[2], 2));
    train_processor_count(&device[2].device, &allocations, &all);
    for (uint64_t k = 1; k <= all; k += 1 + all / 12) {
        on_device_open_threads(&lost, TRAIN_SHADOW, 2);
        train_processor_fail(&lost.device, 0, k);
        outcome *o = learn(&options, &lost, 2);
        if (o->status != TAPER_ERR_DEVICE) fail_msg("operation %u: %d", (unsigned)k, o->status);
        assert_int_equal(o->file.size, 0);
        train_processor_fail(&lost.device, 0, 0);
        on_device_close(&lost);
        drop(o);
    }
}

/* The one whose checkpoint cannot be written ends the others, which would take days. Theirs are
 * there. */
static void one_failure_ends_the_others(void **unused) {
    (void)unused;
    char folder[SCRATCH_PATH], path[SCRATCH_PATH], other[SCRATCH_PATH];
    scratch_make(folder);
    train_options options = quick(TRAIN_CODE_UNITS);
    options.nested.training.epochs = 1000000;
    options.nested.training.saving.path = scratch_join(path, folder, "run");
    assert_int_equal(mkdir(scratch_join(other, folder, "run.16x16"), 0777), 0);
    for (uint32_t at_once = 2; at_once <= 3; at_once++) {
        outcome *o = learn(&options, &device[2], at_once);
        assert_int_equal(o->status, TAPER_ERR_IO);
        assert_true(o->error.text[0]);
        assert_null(strstr(o->words, "window"));
        assert_int_equal(access(scratch_join(other, folder, "run.8x8"), F_OK), 0);
        drop(o);
    }
    scratch_remove(folder);
}

/* What such a failure has left goes on to the same bytes. */
static void checkpoints_go_on(void **unused) {
    (void)unused;
    char folder[SCRATCH_PATH], path[SCRATCH_PATH], other[SCRATCH_PATH];
    scratch_make(folder);
    train_options options = quick(TRAIN_CODE_UNITS);
    options.nested.training.epochs = 6;
    outcome *alone = learn(&options, &device[2], 1);
    options.nested.training.saving.path = scratch_join(path, folder, "run");
    assert_int_equal(mkdir(scratch_join(other, folder, "run.24x24"), 0777), 0);
    outcome *failed = learn(&options, &device[2], 3);
    assert_int_equal(failed->status, TAPER_ERR_IO);
    assert_int_equal(rmdir(other), 0);
    options.nested.training.saving.resume = 1;
    outcome *resumed = learn(&options, &device[2], 3);
    assert_int_equal(resumed->status, TAPER_OK);
    assert_int_equal(resumed->file.size, alone->file.size);
    assert_memory_equal(resumed->file.data, alone->file.data, alone->file.size);
    drop(alone), drop(failed), drop(resumed);
    scratch_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_one_after_the_other),
                                       cmocka_unit_test(one_model_is_alone),
                                       cmocka_unit_test(without_memory_fewer_learn_at_once),
                                       cmocka_unit_test(rows_that_do_not_fit),
                                       cmocka_unit_test(a_lost_device_ends_all),
                                       cmocka_unit_test(one_failure_ends_the_others),
                                       cmocka_unit_test(checkpoints_go_on)};
    return cmocka_run_group_tests_name("side_by_side", tests, set_up, tear_down);
}
