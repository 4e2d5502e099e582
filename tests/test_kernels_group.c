/* test_kernels_group.c -- GPUs of several ranks that add up by NCCL: the bits of sums by the host.
 * On GPUs it needs as many as ranks. */
#define EVERY_DEVICE_KERNELS 1
#include "on_device.h"
#include "forked_ranks.h"
#include "train/device/group.h"
#include "train/optimise/rank_sums.h"

#ifdef EVERY_DEVICE_GPU
enum { TIMINGS = 1 };
#define SET_TIMING(timing) ((void)(timing))
#else
enum { TIMINGS = 3 }; /* when the model does what is on streams */
#define SET_TIMING(timing) cuda_model_set_timing((cuda_model_timing)(timing))
#endif

/* The device `number` of a machine that has `count`. Returns 0 if there are not as many. */
static int open_device(on_device *d, int number, int count) {
    taper_error error = {0};
#ifdef EVERY_DEVICE_GPU
    int found = 0;
    if (train_cuda_devices(NULL, 0, &found, &error) != TAPER_OK || found < count) return 0;
#else
    cuda_model_set_machine(
        (cuda_model_machine){.devices = count, .capability = 90, .driver = 13000});
#endif
    *d = (on_device){.cuda = 1, .guarded = ON_DEVICE_GUARDED};
    return train_cuda_open(&d->device, number, TRAIN_FLOAT32, &error) == TAPER_OK &&
           train_stream_open(&d->stream, &d->device) == TAPER_OK;
}

/* Of a rank: numbers whose sum depends on its order. */
static double number(uint32_t rank, size_t i) {
    return (double)(i % 97 + 1) * (rank % 2 ? 1.0e-4 / 3.0 : 3.0 / 7.0) * (rank + 1.0);
}

static void sum_floats(on_device *d, train_stream *s, train_ranks *ranks, size_t n) {
    float *x = malloc(n * sizeof *x), *expected = malloc(n * sizeof *x);
    FORKED_CHECK(x && expected);
    for (size_t i = 0; i < n; i++) x[i] = (float)number(ranks->rank, i);
    memcpy(expected, x, n * sizeof *x);
    FORKED_CHECK(train_sum_floats(ranks, expected, n, NULL) == TAPER_OK);
    float *there = on_device_give(d, x, n * sizeof *x);
    FORKED_CHECK(train_sum_floats_there(s, ranks, there, n, NULL) == TAPER_OK);
    FORKED_CHECK(train_download(s, x, there, n * sizeof *x) == TAPER_OK);
    FORKED_CHECK(memcmp(x, expected, n * sizeof *x) == 0);
    on_device_forget(d);
    free(x), free(expected);
}

static void sum_doubles(on_device *d, train_ranks *ranks, size_t n) {
    double *x = malloc(n * sizeof *x), *expected = malloc(n * sizeof *x);
    FORKED_CHECK(x && expected);
    for (size_t i = 0; i < n; i++) x[i] = number(ranks->rank, i);
    memcpy(expected, x, n * sizeof *x);
    FORKED_CHECK(train_sum_doubles(ranks, expected, n, NULL) == TAPER_OK);
    double *there = on_device_give(d, x, n * sizeof *x);
    FORKED_CHECK(train_sum_doubles_there(&d->stream, ranks, there, n, NULL) == TAPER_OK);
    on_device_take(d, x, there, n * sizeof *x);
    FORKED_CHECK(memcmp(x, expected, n * sizeof *x) == 0);
    on_device_forget(d);
    free(x), free(expected);
}

/* Sums that follow each other at once, on two streams; between them the array changes. */
static void sum_in_turn(on_device *d, train_ranks *ranks) {
    enum { N = 5000 };
    static float x[N], y[N];
    train_stream other;
    FORKED_CHECK(train_stream_open(&other, &d->device) == TAPER_OK);
    for (size_t i = 0; i < N; i++) x[i] = y[i] = 1.0f + (float)ranks->rank;
    float *a = on_device_give(d, x, sizeof x), *b = on_device_give(d, y, sizeof y);
    for (int k = 0; k < 3; k++) {
        FORKED_CHECK(train_sum_floats_there(&d->stream, ranks, a, N, NULL) == TAPER_OK);
        FORKED_CHECK(train_sum_floats_there(&other, ranks, b, N, NULL) == TAPER_OK);
    }
    FORKED_CHECK(train_download(&other, y, b, sizeof y) == TAPER_OK);
    on_device_take(d, x, a, sizeof x);
    const uint32_t n = ranks->size;
    for (size_t i = 0; i < N; i++)
        FORKED_CHECK(x[i] == (float)(n * (n + 1) / 2 * n * n) && y[i] == x[i]);
    on_device_forget(d);
    train_stream_close(&other);
}

static int add_up(train_ranks *ranks, void *context) {
    static const size_t sizes[] = {1, 2, 3, 1000, 16383, 16384, 16387, 40001};
    char why[TRAIN_GROUP_WHY];
    on_device d;
    (void)context;
    ranks->patience = 300;
    if (!open_device(&d, (int)ranks->rank, (int)ranks->size)) return FORKED_SKIPPED;
    FORKED_CHECK(train_group_join(&d.device, ranks, why, NULL) == TAPER_OK);
    if (why[0]) fprintf(stderr, "%s\n", why);
    FORKED_CHECK(d.device.joined && !why[0]);
    for (int timing = 0; timing < TIMINGS; timing++) {
        SET_TIMING(timing);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            sum_floats(&d, &d.stream, ranks, sizes[i]);
        sum_doubles(&d, ranks, 5);
        sum_doubles(&d, ranks, 9001);
        sum_in_turn(&d, ranks);
    }
    FORKED_CHECK(train_sum_floats_there(&d.stream, ranks, NULL, 0, NULL) == TAPER_OK);
    on_device_close(&d);
    train_ranks_free(ranks);
#ifndef EVERY_DEVICE_GPU
    FORKED_CHECK(cuda_model_nccl_alive() == 0);
#endif
    return 0;
}

static void two_gpus_add_up_as_the_host_does(void **state) {
    (void)state;
    forked_run(2, add_up, NULL);
}

static void three_gpus_add_up_as_the_host_does(void **state) {
    (void)state;
    forked_run(3, add_up, NULL);
}

static int share(train_ranks *ranks, void *context) {
    char why[TRAIN_GROUP_WHY];
    on_device d;
    (void)context;
    if (!open_device(&d, 0, 1)) return FORKED_SKIPPED;
    FORKED_CHECK(train_group_join(&d.device, ranks, why, NULL) == TAPER_OK);
    FORKED_CHECK(!d.device.joined && !strcmp(why, "processes 0 and 1 share a GPU"));
    sum_floats(&d, &d.stream, ranks, 1000);
    on_device_close(&d);
    train_ranks_free(ranks);
    return 0;
}

static void ranks_that_share_a_gpu_add_up_through_the_host(void **state) {
    (void)state;
    forked_run(2, share, NULL);
}

static void one_rank_joins_nothing(void **state) {
    train_device none = {0};
    char why[TRAIN_GROUP_WHY] = "?";
    (void)state;
    assert_int_equal(train_group_join(&none, NULL, why, NULL), TAPER_OK);
    assert_true(!none.joined && !why[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_gpus_add_up_as_the_host_does),
        cmocka_unit_test(three_gpus_add_up_as_the_host_does),
        cmocka_unit_test(ranks_that_share_a_gpu_add_up_through_the_host),
        cmocka_unit_test(one_rank_joins_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
