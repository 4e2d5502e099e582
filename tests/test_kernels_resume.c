/* test_kernels_resume.c -- small networks that have begun on one device go on on another, processor
 * or kernels, where they stopped: they learn what they would have learned on one alone. */
#define EVERY_DEVICE_KERNELS 1
#include "every_device.h"
#include "later_stage.h"
#include "train/conditional/conditional_trainer.h"
#include "train/restoration/restoration_trainer.h"

static taper_status restore(later_lesson *l, taper_model *m, const char *checkpoint,
                            later_stop *stop, taper_error *error) {
    train_restoration_options o = train_restoration_defaults();
    o.hidden = 8, o.layers = 3, o.stages = 3, o.steps = 24, o.pixels = 400, o.rate = 4e-3f;
    o.saving = (train_saving){.path = checkpoint, .resume = 1};
    return train_restoration(m, &o, &l->data, &l->sample.codes, &l->h.be, &l->h.device, later_watch,
                             stop, NULL, error);
}

static taper_status run_of(int head, later_lesson *l, taper_model *m, const char *checkpoint,
                           later_stop *stop, taper_error *error) {
    train_conditional_options o = train_conditional_defaults();
    o.head = head, o.hidden = 8, o.stages = 4, o.windows = 32, o.epochs = 4, o.rate = 5e-3f;
    o.saving = (train_saving){.path = checkpoint, .resume = 1};
    return train_conditional(m, &o, &l->data, &l->sample.codes, m->tables.n_passes, &l->h.be,
                             &l->h.device, later_watch, stop, NULL, error);
}

static taper_status predict(later_lesson *l, taper_model *m, const char *checkpoint,
                            later_stop *stop, taper_error *error) {
    return run_of(0, l, m, checkpoint, stop, error);
}

static taper_status refine(later_lesson *l, taper_model *m, const char *checkpoint,
                           later_stop *stop, taper_error *error) {
    return run_of(1, l, m, checkpoint, stop, error);
}

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
    goes_on(restore);
}
static void what_predicts_goes_on_elsewhere(void **unused) {
    (void)unused;
    goes_on(predict);
}
static void what_refines_goes_on_elsewhere(void **unused) {
    (void)unused;
    goes_on(refine);
}

static int begin(void **state) {
    one_order();
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
