/* test_kernels_failures.c -- GPUs that are not there, too old, busy, without memory, or lost: on
 * the execution model, which fails where it is told. */
#define EVERY_DEVICE_KERNELS 1
#include "on_device.h"
#include "train/nested/nested_trainer.h"
#include "train/sampling/philox.h"
#include <stdio.h>

enum { D = 12, K = 6, N = 80, MANY = 560, BATCH = 520 };
static uint8_t pixels[2 * MANY];

static const cuda_model_machine healthy = {.devices = 1, .capability = 90, .driver = 13000};

static int set_up(void **state) {
    (void)state;
    for (uint64_t i = 0; i < sizeof pixels; i++) {
        uint32_t word[4];
        train_philox(3, i, 900, word);
        pixels[i] = (uint8_t)(word[0] >> 24);
    }
    return 0;
}

static int be_healthy(void **state) {
    (void)state;
    cuda_model_set_machine(healthy);
    cuda_model_fail(0, 0);
    return 0;
}

/* --- devices that cannot be used -------------------------------------------------------- */

static void refused(cuda_model_machine machine, int ordinal, taper_status status,
                    const char *words) {
    train_device device;
    taper_error error = {0};
    cuda_model_set_machine(machine);
    assert_int_equal(train_cuda_open(&device, ordinal, TRAIN_FLOAT32, &error), status);
    if (strcmp(error.text, words) != 0) fail_msg("\"%s\" is not \"%s\"", error.text, words);
    assert_null(device.state);
}

static void what_cannot_be_used_is_named(void **state) {
    (void)state;
    cuda_model_machine m = healthy;
    refused(m, 9, TAPER_ERR_ARG, "there is no cuda:9; the last is cuda:0");
    refused(m, -1, TAPER_ERR_ARG, "there is no cuda:-1; the last is cuda:0");
    m.driver = 0;
    refused(m, 0, TAPER_ERR_DEVICE, "no NVIDIA driver is installed");
    m.driver = 11080;
    refused(m, 0, TAPER_ERR_DEVICE,
            "the NVIDIA driver is too old: it has CUDA 11.8, this build needs a newer one");
    m = healthy, m.devices = 0;
    refused(m, 0, TAPER_ERR_DEVICE, "no GPU: no CUDA-capable device is detected");
    m = healthy, m.capability = 70;
    refused(m, 0, TAPER_ERR_DEVICE,
            "cuda:0, execution model, has compute capability 7.0: 7.5 is the least");
    m = healthy, m.busy = 1;
    refused(m, 0, TAPER_ERR_DEVICE, "cuda:0: all CUDA-capable devices are busy or unavailable");
    cuda_model_set_machine(healthy);
    cuda_model_fail(1, 0);
    refused(healthy, 0, TAPER_ERR_NOMEM, "cuda:0: out of memory");
}

/* An operation on what is not the device's is not begun, and named. */
static void foreign_arrays_are_refused(void **state) {
    (void)state;
    on_device d;
    float mine[4] = {0};
    on_device_open_cuda(&d);
    float *there = on_device_give(&d, mine, sizeof mine);
    assert_int_equal(d.stream.ops->scale(&d.stream, 4, 2.0f, there, there), TAPER_OK);
    assert_string_equal(train_cuda_fault(&d.device), "");
    assert_int_equal(d.stream.ops->scale(&d.stream, 4, 2.0f, mine, there), TAPER_ERR_DEVICE);
    assert_string_equal(train_cuda_fault(&d.device),
                        "cuda:0: scale: an array that is not in the device's memory");
    assert_int_equal(d.stream.ops->scale(&d.stream, 5, 2.0f, there, there), TAPER_ERR_DEVICE);
    assert_int_equal(train_upload(&d.stream, there, mine, 17), TAPER_ERR_DEVICE);
    on_device_close(&d);
}

/* --- in the middle of a run ------------------------------------------------------------- */

/* What is told of rows at a time. */
typedef struct told {
    size_t rows, wanted;
    char device[16];
} told;

static void on_fewer_rows(void *user, const char *device, size_t rows, size_t wanted) {
    told *t = user;
    *t = (told){.rows = rows, .wanted = wanted};
    snprintf(t->device, sizeof t->device, "%s", device);
}

static int beside_others; /* they learn on the device, too */

/* A short run of binary units; *fault is what the device says of it. */
static taper_status run_rows(size_t n, uint32_t batch, told *of_rows, taper_error *error,
                             char fault[192]) {
    const int many = n > N; /* which take their time: of two numbers */
    const train_pixels data = {.pixels = pixels, .n = n, .inputs = many ? 2 : D};
    const train_nested_callbacks callbacks = {.user = of_rows, .fewer_rows = on_fewer_rows};
    const train_nested_shape shape = {.inputs = data.inputs,
                                      .layers = 1,
                                      .width = {many ? 2 : K},
                                      .binary = 1,
                                      .feedback = !many,
                                      .centre = 0.5f};
    train_nested_options o = train_nested_defaults();
    train_device device;
    train_nested_network net;
    float mean[D] = {0};
    *fault = 0, *of_rows = (told){0}, *error = (taper_error){0};
    taper_status status = train_cuda_open(&device, 0, TRAIN_FLOAT32, error);
    if (status != TAPER_OK) return status;
    device.shared = beside_others;
    o.epochs = 1, o.batch = batch, o.max_validation = 10;
    status = train_nested_create(&net, &shape, &device, mean, 60.0f, 7);
    if (status == TAPER_OK) {
        status = train_nested(&o, &data, &net, &callbacks, NULL, error);
        assert_true((status == TAPER_OK) == !error->text[0]);
        train_nested_free(&net);
    }
    snprintf(fault, 192, "%s", train_cuda_fault(&device));
    train_cuda_close(&device);
    return status;
}

static taper_status run(char fault[192]) {
    taper_error error;
    told of_rows;
    taper_status status = run_rows(N, 40, &of_rows, &error, fault);
    assert_int_equal(of_rows.rows, 0);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char fault[192];
    uint64_t allocations, launches, streamed = 0;
    cuda_model_orders(1);
    assert_int_equal(run(fault), TAPER_OK);
    cuda_model_count(&allocations, &launches);
    assert_true(allocations > 5 && launches > 50);
    for (uint64_t k = 1; k <= allocations; k++) {
        cuda_model_fail(k, 0);
        taper_status status = run(fault);
        if (status == TAPER_OK)
            streamed++; /* its rows, which are not kept then (test_feed.c) */
        else
            assert_int_equal(status, TAPER_ERR_NOMEM);
        assert_string_equal(fault, "");
    }
    assert_int_equal(streamed, 1);
}

/* With 1,024 rows at a time, and with 512, a run fits into ever less memory. */
static void little_memory_means_fewer_rows(void **state) {
    (void)state;
    char fault[192];
    told of_rows;
    taper_error error;
    cuda_model_machine small = healthy;
    size_t seen = 0;
    cuda_model_orders(1);
    assert_int_equal(run_rows(MANY, BATCH, &of_rows, &error, fault), TAPER_OK);
    assert_int_equal(of_rows.rows, 0);
    for (small.bytes = (5u << 18) - (8u << 10); small.bytes; small.bytes -= 16u << 10) {
        cuda_model_set_machine(small);
        taper_status status = run_rows(MANY, BATCH, &of_rows, &error, fault);
        if (status != TAPER_OK) break;
        if (!of_rows.rows) continue;
        assert_int_equal(of_rows.wanted, BATCH);
        assert_string_equal(of_rows.device, "cuda:0");
        assert_int_equal(of_rows.rows, 512);
        seen = of_rows.rows;
    }
    assert_int_equal(seen, 512);
    assert_int_equal(run_rows(MANY, BATCH, &of_rows, &error, fault), TAPER_ERR_NOMEM);
    assert_string_equal(fault, "");
}

/* One allocation that fails costs rows, where it was for them, or the run. */
static void every_allocation_of_many_rows_may_fail(void **state) {
    (void)state;
    char fault[192];
    told of_rows;
    taper_error error;
    uint64_t allocations, launches, told_of = 0, quiet = 0;
    cuda_model_orders(1);
    assert_int_equal(run_rows(MANY, BATCH, &of_rows, &error, fault), TAPER_OK);
    cuda_model_count(&allocations, &launches);
    for (uint64_t k = 1; k <= allocations; k++) {
        cuda_model_fail(k, 0);
        taper_status status = run_rows(MANY, BATCH, &of_rows, &error, fault);
        assert_true(status == TAPER_OK || status == TAPER_ERR_NOMEM);
        assert_string_equal(fault, "");
        if (status != TAPER_OK) continue;
        told_of += of_rows.rows == 512;
        quiet += !of_rows.rows;
    }
    assert_int_equal(told_of, 2); /* its own arrays; the first product's */
    assert_int_equal(quiet, 2);   /* the rows' own; when the decoder is refitted, in the end */
    assert_true(allocations > 5);
}

/* Beside others neither rows at a time nor those that are kept are fewer: there will be memory. */
static void beside_others_nothing_is_made_smaller(void **state) {
    (void)state;
    char fault[192];
    told of_rows;
    taper_error error;
    uint64_t allocations, launches;
    cuda_model_machine small = healthy;
    taper_status status = TAPER_OK;
    cuda_model_orders(1);
    beside_others = 1;
    assert_int_equal(run_rows(MANY, BATCH, &of_rows, &error, fault), TAPER_OK);
    cuda_model_count(&allocations, &launches);
    for (uint64_t k = 2; k <= allocations; k++) { /* the first is opening the device */
        cuda_model_fail(k, 0);
        assert_int_equal(run_rows(MANY, BATCH, &of_rows, &error, fault), TAPER_ERR_NOMEM);
        assert_int_equal(of_rows.rows, 0);
        assert_string_equal(fault, "");
    }
    cuda_model_fail(0, 0);
    for (small.bytes = 5u << 18; status == TAPER_OK; small.bytes -= 64u << 10) {
        cuda_model_set_machine(small);
        status = run_rows(MANY, BATCH, &of_rows, &error, fault);
        assert_int_equal(of_rows.rows, 0);
    }
    assert_int_equal(status, TAPER_ERR_NOMEM);
    beside_others = 0;
}

static void every_launch_may_lose_the_device(void **state) {
    (void)state;
    char fault[192];
    uint64_t allocations, launches;
    cuda_model_orders(1);
    assert_int_equal(run(fault), TAPER_OK);
    cuda_model_count(&allocations, &launches);
    for (uint64_t k = 1; k <= launches; k++) {
        cuda_model_fail(0, k);
        assert_int_equal(run(fault), TAPER_ERR_DEVICE);
        if (strncmp(fault, "cuda:0: ", 8) != 0 || !strstr(fault, ": unspecified launch failure"))
            fail_msg("launch %u: \"%s\"", (unsigned)k, fault);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_cannot_be_used_is_named, be_healthy),
        cmocka_unit_test_setup(foreign_arrays_are_refused, be_healthy),
        cmocka_unit_test_setup(every_allocation_may_fail, be_healthy),
        cmocka_unit_test_setup(little_memory_means_fewer_rows, be_healthy),
        cmocka_unit_test_setup(every_allocation_of_many_rows_may_fail, be_healthy),
        cmocka_unit_test_setup(beside_others_nothing_is_made_smaller, be_healthy),
        cmocka_unit_test_setup(every_launch_may_lose_the_device, be_healthy),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
