/* test_checkpoint.c -- what is read from a checkpoint is in the ranges that a run keeps: a file
 * whose checksum holds and whose numbers do not is refused, and no number becomes an integer that
 * cannot hold it. */
#include "cmocka_all.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include "on_device.h"
#include "scratch.h"
#include "train/nested/nested_trainer.h"
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

/* --- the nested learner's state --------------------------------------------------------- */

enum { INPUTS = 6, UNITS = 4, ROWS = 200, HEAD = 12, WORD = 8 };

static uint64_t stop_step; /* 0: none */
static int stop(void *user, uint64_t step, uint64_t steps, uint32_t frozen, double loss,
                double seconds_left) {
    (void)user, (void)steps, (void)frozen, (void)loss, (void)seconds_left;
    return stop_step && step >= stop_step;
}

/* A small run of four epochs, taken up where `path` is there; saved and ended after step stop_at.
 */
static taper_status train_small(train_optimiser optimiser, int binary, const char *path,
                                uint64_t stop_at, taper_error *error) {
    static uint8_t pixels[ROWS * INPUTS];
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * i * 31 + i / 7 * 13);
    const train_pixels data = {.pixels = pixels, .n = ROWS, .inputs = INPUTS};
    const train_nested_shape shape = {.inputs = INPUTS,
                                      .layers = 1,
                                      .hidden = CODEC_RELU,
                                      .tied = 1,
                                      .binary = binary,
                                      .centre = binary ? 0.5f : 0.0f,
                                      .width = {UNITS}};
    float mean[INPUTS], scale;
    train_truncation t;
    train_nested_network net;
    on_device device;
    on_device_open(&device, TRAIN_PROCESSOR);
    assert_int_equal(train_truncation_make(&t, "geometric:0.7", UNITS, NULL), TAPER_OK);
    train_nested_statistics(&data, mean, &scale);
    assert_int_equal(train_nested_create(&net, &shape, &device.device, mean, scale, 7), TAPER_OK);
    train_nested_options o = train_nested_defaults();
    o.truncation = &t;
    o.optimiser = optimiser;
    o.epochs = 4, o.batch = 20, o.max_validation = 20;
    o.sweep = (train_sweep_options){1, 3, 0.9, 0.0, 1.0};
    o.saving = (train_saving){.path = path, .resume = 1};
    stop_step = stop_at;
    const taper_status status =
        train_nested(&o, &data, &net, &(train_nested_callbacks){.step = stop}, NULL, error);
    train_nested_free(&net);
    train_truncation_free(&t);
    on_device_close(&device);
    return status;
}

/* Where the first part of so many elements of `of` bytes begins, its head aside. */
static size_t find_part(const uint8_t *bytes, size_t size, uint32_t of, uint64_t elements) {
    for (size_t at = 0; at + HEAD <= size; at++)
        if (formats_get_u32le(bytes + at) == of && formats_get_u64le(bytes + at + 4) == elements)
            return at + HEAD;
    fail_msg("no part of %u elements", (unsigned)elements);
    return 0;
}

/* Resume from these bytes with `value` in place of those at `at`, and a checksum that holds. */
static taper_status resume_with(train_optimiser optimiser, int binary, const char *path,
                                const uint8_t *bytes, size_t size, size_t at, const void *value,
                                size_t n) {
    uint8_t *changed = malloc(size);
    taper_error error = {0};
    assert_non_null(changed);
    memcpy(changed, bytes, size);
    memcpy(changed + at, value, n);
    formats_set_u32le(changed + size - 4, formats_crc32c(0, changed, size - 4));
    assert_int_equal(formats_file_write(path, changed, size, FORMATS_ATOMIC_OVERWRITE, NULL, NULL),
                     TAPER_OK);
    free(changed);
    const taper_status status = train_small(optimiser, binary, path, 0, &error);
    if (status != TAPER_OK) assert_non_null(strstr(error.text, "start without --resume"));
    return status;
}

/* A field of 8 bytes, and values beyond its range. */
typedef struct field {
    size_t word;
    int is_real;
    uint64_t whole[2];
    double real[3];
} field;

static void try_fields(train_optimiser optimiser, const field *f, size_t n, uint64_t words) {
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    uint8_t *bytes;
    size_t size;
    scratch_make(folder);
    scratch_join(path, folder, "checkpoint");
    assert_int_equal(train_small(optimiser, 0, path, 5, NULL), TAPER_OK);
    assert_int_equal(formats_file_read(path, 1 << 20, &bytes, &size, NULL), TAPER_OK);
    const size_t at = find_part(bytes, size, WORD, words);
    assert_int_equal(resume_with(optimiser, 0, path, bytes, size, at, bytes + at, 1), TAPER_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < (f[i].is_real ? 3u : 2u); v++) {
            const void *value = f[i].is_real ? (const void *)&f[i].real[v] : &f[i].whole[v];
            assert_int_equal(
                resume_with(optimiser, 0, path, bytes, size, at + WORD * f[i].word, value, WORD),
                TAPER_ERR_CORRUPT);
        }
    free(bytes);
    scratch_remove(folder);
}

static void sweeps_are_in_range(void **state) {
    static const field fields[] = {{0, 0, {UNITS, UINT64_MAX}, {0}},
                                   {1, 1, {0}, {NAN, -1.0, INFINITY}},
                                   {2, 0, {7, UINT64_MAX}, {0}},
                                   {3, 0, {6, UINT64_MAX}, {0}}};
    (void)state;
    try_fields(TRAIN_ADAM, fields, 4, 4);
}

static void conjugate_gradients_are_in_range(void **state) {
    static const field fields[] = {{0, 1, {0}, {NAN, INFINITY, -INFINITY}},
                                   {1, 1, {0}, {NAN, INFINITY, -1.0}},
                                   {2, 1, {0}, {NAN, -INFINITY, 1.0}},
                                   {4, 0, {1000, UINT64_MAX}, {0}}};
    (void)state;
    try_fields(TRAIN_CG, fields, 4, 5);
}

/* The spread of a binary network's units is finite, as weights are. */
static void spreads_are_finite(void **state) {
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    const float none = NAN;
    uint8_t *bytes;
    size_t size;
    (void)state;
    scratch_make(folder);
    scratch_join(path, folder, "checkpoint");
    assert_int_equal(train_small(TRAIN_ADAM, 1, path, 5, NULL), TAPER_OK);
    assert_int_equal(formats_file_read(path, 1 << 20, &bytes, &size, NULL), TAPER_OK);
    const size_t at = find_part(bytes, size, sizeof none, UNITS);
    assert_int_equal(resume_with(TRAIN_ADAM, 1, path, bytes, size, at, bytes + at, 1), TAPER_OK);
    assert_int_equal(resume_with(TRAIN_ADAM, 1, path, bytes, size, at, &none, sizeof none),
                     TAPER_ERR_CORRUPT);
    free(bytes);
    scratch_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_finite),
        cmocka_unit_test(losses_are_numbers),
        cmocka_unit_test(what_is_no_number_is_rounded_to_0),
        cmocka_unit_test(sweeps_are_in_range),
        cmocka_unit_test(conjugate_gradients_are_in_range),
        cmocka_unit_test(spreads_are_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
