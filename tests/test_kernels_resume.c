/* test_kernels_resume.c -- small networks that have begun on one device go on on another, processor
 * or kernels, where they stopped: they learn what they would have learned on one alone. */
#define EVERY_DEVICE_KERNELS 1
#include "every_device.h"
#include "later_stage.h"

/* What a run has lost in the end: its first part on one device, up to a step, the rest on
 * another. step 0: all of it on the first. */
static double learn(later_run *run, train_device *first, train_device *then, uint64_t step) {
    later_lesson l;
    later_stop stop = {.step = step}, rest = {0};
    formats_buffer file;
    char path[64];
    snprintf(path, sizeof path, "/tmp/taper-resume-%ld", (long)getpid());
    later_prepare(&l, TRAIN_PROCESSOR, 1);
    train_device own = l.h.device;
    l.h.device = *first;
    assert_int_equal(later_take(&l, run, path, &stop, &file), TAPER_OK);
    formats_buffer_free(&file);
    l.h.device = *then;
    if (step) {
        assert_int_equal(later_take(&l, run, path, &rest, &file), TAPER_OK);
        assert_int_equal(rest.first, 1 + (first->look_every > step ? first->look_every : step));
        assert_true(rest.first < rest.steps);
        formats_buffer_free(&file);
    }
    l.h.device = own;
    remove(path);
    later_put_away(&l);
    return step ? rest.now : stop.now;
}

static void goes_on(later_run *run) {
    train_device *processor = &device[0].device, *kernels = &device[PROCESSORS].device;
    double whole = learn(run, processor, processor, 0), there = learn(run, processor, kernels, 20),
           back = learn(run, kernels, processor, 3);
    print_message("%.7g; on to the kernels %.7g, and back %.7g\n", whole, there, back);
    assert_true(is_near(whole, there, 1e-5) && is_near(whole, back, 1e-5));
}

static void what_restores_goes_on_elsewhere(void **unused) {
    (void)unused;
    goes_on(later_restore);
}
static void what_predicts_goes_on_elsewhere(void **unused) {
    (void)unused;
    goes_on(later_predict);
}
static void what_refines_goes_on_elsewhere(void **unused) {
    (void)unused;
    goes_on(later_refine);
}

static int begin(void **state) {
    one_order();
    later_length.windows = 32, later_length.epochs = 4;
    later_length.steps = 24, later_length.pixels = 400;
    return later_begin(state) || open_every_device(state);
}
static int end(void **state) { return close_every_device(state) || later_end(state); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_restores_goes_on_elsewhere),
        cmocka_unit_test(what_predicts_goes_on_elsewhere),
        cmocka_unit_test(what_refines_goes_on_elsewhere),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
