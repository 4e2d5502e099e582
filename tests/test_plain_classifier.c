/* test_plain_classifier.c -- the classifier that is a yardstick for trials: it learns what can be
 * learned, from training rows alone, errs by chance where labels are chance, and can be stopped. */
#include "train/supervised/plain_classifier.h"
#include "on_device.h"
#include "train/sampling/philox.h"

enum { N = 240, HELD_OUT = 60, INPUTS = 20, CLASSES = 3 };
static uint8_t pixels[N * INPUTS];
static uint32_t order[N], label[N];
static const train_embedding_hooks quiet;
static double seconds = 2.0;

static uint32_t draw(uint64_t i, uint64_t stream, uint32_t below) {
    uint32_t word[4];
    train_philox(7, i, stream, word);
    return word[0] % below;
}

/* Class c has c bright values among faint ones; rows are used in a random order. */
static int fill(void **state) {
    (void)state;
    for (uint32_t n = 0; n < N; n++) {
        label[n] = n % CLASSES;
        order[n] = n * 77 % N;
        for (uint32_t i = 0; i < INPUTS; i++)
            pixels[n * INPUTS + i] =
                (uint8_t)(draw(n * INPUTS + i, 1, 60) + (i / 5 == label[n] ? 150 : 0));
    }
    return 0;
}

static taper_status judge(const train_embedding_hooks *hooks, taper_error_rate *rate,
                          uint8_t *wrong, train_plain_run *run) {
    const train_pixels data = {.pixels = pixels, .n = N, .inputs = INPUTS, .label = label};
    const train_embedding_rows rows = {
        .all = order, .n = N, .n_training = N - HELD_OUT, .classes = CLASSES};
    taper_error error = {0};
    on_device d;
    on_device_open_threads(&d, TRAIN_PROCESSOR, 1);
    train_embedding_stage stage = {
        .be = &d.be, .device = &d.device, .hooks = hooks, .pixels = &data};
    const taper_status status =
        train_plain_classifier_judge(&stage, &rows, 1, seconds, wrong, rate, run, &error);
    on_device_close(&d);
    return status;
}

static void what_can_be_learned_is(void **state) {
    (void)state;
    uint8_t wrong[HELD_OUT];
    taper_error_rate rate = {0};
    train_plain_run run;
    assert_int_equal(judge(&quiet, &rate, wrong, &run), TAPER_OK);
    assert_true(!run.stopped && run.epochs > 1 && rate.tested == HELD_OUT && rate.wrong == 0);
}

/* Another label of a held-out row changes the error of that row and nothing else. */
static void held_out_labels_are_not_learned(void **state) {
    (void)state;
    uint8_t wrong[HELD_OUT];
    taper_error_rate rate = {0};
    train_plain_run run;
    const uint32_t row = order[N - 1], own = label[row];
    label[row] = (own + 1) % CLASSES;
    assert_int_equal(judge(&quiet, &rate, wrong, &run), TAPER_OK);
    label[row] = own;
    assert_true(rate.wrong == 1 && wrong[HELD_OUT - 1] == 1);
}

static void chance_is_chance(void **state) {
    (void)state;
    uint8_t wrong[HELD_OUT];
    taper_error_rate rate = {0};
    train_plain_run run;
    for (uint32_t n = 0; n < N; n++) label[n] = draw(n, 2, CLASSES);
    assert_int_equal(judge(&quiet, &rate, wrong, &run), TAPER_OK);
    assert_in_range(rate.wrong, HELD_OUT / 3, HELD_OUT);
    fill(NULL);
}

static int stop(void *user, uint64_t step, uint64_t steps, double loss, double left) {
    (void)user, (void)step, (void)steps, (void)loss, (void)left;
    return 1;
}

static void it_stops(void **state) {
    (void)state;
    const train_embedding_hooks hooks = {.training = {.step = stop}};
    uint8_t wrong[HELD_OUT];
    taper_error_rate rate = {0};
    train_plain_run run;
    assert_int_equal(judge(&hooks, &rate, wrong, &run), TAPER_OK);
    assert_true(run.stopped && rate.tested == 0);
}

/* What takes much longer than it may is left. */
static void it_does_not_take_long(void **state) {
    (void)state;
    uint8_t wrong[HELD_OUT];
    taper_error_rate rate = {0};
    train_plain_run run;
    seconds = 1e-6;
    assert_int_equal(judge(&quiet, &rate, wrong, &run), TAPER_ERR_LIMIT);
    assert_true(!run.stopped && run.epochs == 0 && rate.tested == 0);
    seconds = 2.0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_be_learned_is), cmocka_unit_test(held_out_labels_are_not_learned),
        cmocka_unit_test(chance_is_chance), cmocka_unit_test(it_stops),
        cmocka_unit_test(it_does_not_take_long)};
    return cmocka_run_group_tests(tests, fill, NULL);
}
