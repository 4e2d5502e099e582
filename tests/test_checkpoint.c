/* test_checkpoint.c -- what is read from a checkpoint is in the ranges that a run keeps: a file
 * whose checksum holds and whose numbers do not is refused, and no number becomes an integer that
 * cannot hold it. */
#include "cmocka_all.h"
#include "scratch.h"
#include "train/optimise/checkpoint.h"
#include "train/sampling/numbers.h"
#include <math.h>

enum { N = 20000 }; /* beyond one piece of the file */

/* A checkpoint of one part. */
static train_checkpoint checkpoint_of(const train_checkpoint_part *part) {
    return (train_checkpoint){
        .fingerprint = 9, .best_loss = INFINITY, .start_loss = INFINITY, .part = part, .parts = 1};
}

/* Write it and read it back. */
static taper_status go_through(const train_checkpoint *written, taper_error *error) {
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    scratch_make(folder);
    scratch_join(path, folder, "checkpoint");
    train_checkpoint read = checkpoint_of(written->part);
    assert_int_equal(train_checkpoint_write(path, written, NULL, NULL), TAPER_OK);
    const taper_status status = train_checkpoint_read(path, &read, error);
    free(read.history);
    scratch_remove(folder);
    return status;
}

static void refuses(const train_checkpoint *c) {
    taper_error error = {0};
    assert_int_equal(go_through(c, &error), TAPER_ERR_CORRUPT);
    assert_non_null(strstr(error.text, "not finite"));
    assert_non_null(strstr(error.text, "--resume"));
}

static void weights_are_finite(void **state) {
    static const float illegal[] = {NAN, INFINITY, -INFINITY};
    static const size_t at[] = {0, 16383, 16384, N - 1};
    float *weights = calloc(N, sizeof *weights);
    train_checkpoint_part part = {weights, N, sizeof *weights, 0, 1};
    const train_checkpoint c = checkpoint_of(&part);
    (void)state;
    assert_non_null(weights);
    assert_int_equal(go_through(&c, NULL), TAPER_OK);
    for (int i = 0; i < 3; i++)
        for (int place = 0; place < 4; place++) {
            memset(weights, 0, N * sizeof *weights);
            weights[at[place]] = illegal[i];
            refuses(&c);
        }
    part.is_real = 0; /* integers with the same bits */
    weights[3] = NAN;
    assert_int_equal(go_through(&c, NULL), TAPER_OK);
    free(weights);
}

static void losses_are_numbers(void **state) {
    float weight = 1;
    const train_checkpoint_part part = {&weight, 1, sizeof weight, 0, 1};
    (void)state;
    for (int field = 0; field < 2 + TRAIN_LOSSES; field++) {
        train_checkpoint c = checkpoint_of(&part);
        double *const loss[] = {&c.best_loss, &c.start_loss};
        *(field < 2 ? loss[field] : &c.sum[field - 2]) = NAN;
        refuses(&c);
    }
}

static void what_is_no_number_is_rounded_to_0(void **state) {
    (void)state;
    assert_int_equal(train_rounded(NAN, 127), 0);
    assert_int_equal(train_rounded(INFINITY, 127), 127);
    assert_int_equal(train_rounded(-INFINITY, 127), -127);
    assert_int_equal(train_rounded(-3.6f, 127), -4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_finite),
        cmocka_unit_test(losses_are_numbers),
        cmocka_unit_test(what_is_no_number_is_rounded_to_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
