/* test_kernels_group_failures.c -- GPUs that cannot join, and sums that fail: on the execution
 * model. */
#define EVERY_DEVICE_KERNELS 1
#include "on_device.h"
#include "forked_ranks.h"
#include "train/device/group.h"
#include "train/optimise/rank_sums.h"

static const char silence[] =
    "cuda:0: sums over the processes: the other processes did not answer within 2 s: one has ended "
    "or hangs; see the messages of the others";

/* The second rank has what is wrong. */
static int is_second(const train_ranks *ranks) { return ranks->rank == 1; }

static void open_gpu(on_device *d, train_ranks *ranks) {
    taper_error error = {0};
    cuda_model_set_machine((cuda_model_machine){.devices = 2, .capability = 90, .driver = 13000});
    *d = (on_device){.cuda = 1, .guarded = ON_DEVICE_GUARDED};
    FORKED_CHECK(train_cuda_open(&d->device, (int)ranks->rank, TRAIN_FLOAT32, &error) == TAPER_OK);
    FORKED_CHECK(train_stream_open(&d->stream, &d->device) == TAPER_OK);
}

/* None has joined, all say the same reason, and sums go through the host. */
static void none_joins(on_device *d, train_ranks *ranks, const char *reason) {
    char why[TRAIN_GROUP_WHY];
    float x = 1.0f + (float)ranks->rank;
    FORKED_CHECK(train_group_join(&d->device, ranks, why, NULL) == TAPER_OK);
    if (strcmp(why, reason) != 0) fprintf(stderr, "%s\n", why);
    FORKED_CHECK(!d->device.joined && !strcmp(why, reason));
    float *there = on_device_give(d, &x, sizeof x);
    FORKED_CHECK(train_sum_floats_there(&d->stream, ranks, there, 1, NULL) == TAPER_OK);
    on_device_take(d, &x, there, sizeof x);
    FORKED_CHECK(x == 3.0f && cuda_model_nccl_alive() == 0);
    on_device_close(d);
    train_ranks_free(ranks);
}

/* --- joining ----------------------------------------------------------------------------- */

static int without_library(train_ranks *ranks, void *context) {
    on_device d;
    if (is_second(ranks)) cuda_model_set_nccl(*(cuda_model_nccl *)context);
    open_gpu(&d, ranks);
    none_joins(&d, ranks, "process 1: libnccl.so.2 of NCCL 2.14 or later cannot be loaded");
    return 0;
}

static void a_missing_or_old_library_is_named(void **state) {
    (void)state;
    for (cuda_model_nccl nccl = CUDA_MODEL_NCCL_MISSING; nccl <= CUDA_MODEL_NCCL_OLD; nccl++)
        forked_run(2, without_library, &nccl);
}

static int with_a_processor(train_ranks *ranks, void *context) {
    const int processors = *(int *)context;
    on_device d;
    if (processors == 2 || is_second(ranks))
        on_device_open(&d, TRAIN_SHADOW);
    else
        open_gpu(&d, ranks);
    none_joins(&d, ranks, processors == 2 ? "" : "process 1 has no GPU");
    return 0;
}

static void a_processor_among_them_is_named(void **state) {
    (void)state;
    for (int processors = 1; processors <= 2; processors++)
        forked_run(2, with_a_processor, &processors);
}

static int without_key(train_ranks *ranks, void *context) {
    on_device d;
    (void)context;
    open_gpu(&d, ranks);
    if (!is_second(ranks)) cuda_model_fail_nccl(1, 2);
    none_joins(&d, ranks, "process 0: NCCL: unhandled system error");
    return 0;
}

static int without_answer(train_ranks *ranks, void *context) {
    on_device d;
    (void)context;
    open_gpu(&d, ranks);
    if (is_second(ranks)) cuda_model_fail_nccl(1, 2);
    none_joins(&d, ranks,
               "process 0: the other processes did not answer within 2 s: one has ended or hangs; "
               "see the messages of the others");
    return 0;
}

static int without_memory(train_ranks *ranks, void *context) {
    on_device d;
    (void)context;
    open_gpu(&d, ranks);
    cuda_model_fail(1, 0);
    none_joins(&d, ranks, "process 0: cuda:0 has no memory left to add up");
    return 0;
}

static void those_that_fail_to_join_are_named(void **state) {
    (void)state;
    forked_run(2, without_key, NULL);
    forked_run(2, without_answer, NULL);
    forked_run(2, without_memory, NULL);
}

/* --- sums -------------------------------------------------------------------------------- */

enum { LARGE = 300000, SMALL = 100000 }; /* bytes of uploads, above and below CUDA_SMALL_BYTES */
static char bytes[LARGE];

/* Returns three floats; beside them are LARGE bytes. */
static float *join(on_device *d, train_ranks *ranks) {
    static const float ones[3] = {1, 1, 1};
    char why[TRAIN_GROUP_WHY];
    open_gpu(d, ranks);
    FORKED_CHECK(train_group_join(&d->device, ranks, why, NULL) == TAPER_OK && d->device.joined);
    float *x = on_device_give(d, ones, sizeof ones);
    on_device_give(d, bytes, LARGE);
    return x;
}

/* The device has failed, says so, and can be closed. */
static void has_failed(on_device *d, train_ranks *ranks, const char *fault) {
    float x[3];
    if (strcmp(train_cuda_fault(&d->device), fault) != 0)
        fprintf(stderr, "%s\n", train_cuda_fault(&d->device));
    FORKED_CHECK(!strcmp(train_cuda_fault(&d->device), fault));
    FORKED_CHECK(train_download(&d->stream, x, d->given[0].memory, sizeof x) == TAPER_ERR_DEVICE);
    FORKED_CHECK(train_sum_floats_there(&d->stream, ranks, d->given[0].memory, 3, NULL) ==
                 TAPER_ERR_DEVICE);
    FORKED_CHECK(d->device.memory->sync(&d->stream) == TAPER_ERR_DEVICE);
    on_device_close(d);
    FORKED_CHECK(cuda_model_nccl_alive() == 0);
}

/* How the host meets a rank that has ended. */
typedef enum meeting { BY_DOWNLOAD, BY_SYNC, BY_UPLOAD, BY_STAGE, BY_SMALL, MEETINGS } meeting;

static taper_status meet(on_device *d, meeting how) {
    const train_memory *memory = d->device.memory;
    void *large = d->given[1].memory, *host;
    taper_status status = TAPER_OK;
    if (how == BY_DOWNLOAD) return train_download(&d->stream, bytes, large, 1);
    if (how == BY_SYNC) return memory->sync(&d->stream);
    if (how == BY_UPLOAD) return train_upload(&d->stream, large, bytes, LARGE);
    for (int i = 0; i < 6 && status == TAPER_OK; i++) {
        if (how == BY_SMALL) status = train_upload(&d->stream, large, bytes, SMALL);
        if (how == BY_STAGE) status = memory->stage(&d->stream, SMALL, &host);
        if (how == BY_STAGE && status == TAPER_OK) status = memory->send(&d->stream, large, SMALL);
    }
    return status;
}

static int other_ends(train_ranks *ranks, void *context) {
    on_device d;
    float *x = join(&d, ranks);
    if (is_second(ranks)) _exit(0);
    FORKED_CHECK(train_sum_floats_there(&d.stream, ranks, x, 3, NULL) == TAPER_OK);
    FORKED_CHECK(meet(&d, *(meeting *)context) == TAPER_ERR_DEVICE);
    has_failed(&d, ranks, silence);
    return 0;
}

static void a_rank_that_ends_is_noticed(void **state) {
    (void)state;
    for (meeting how = BY_DOWNLOAD; how < MEETINGS; how++) forked_run(2, other_ends, &how);
}

/* Closing does not wait for ever either. */
static int other_ends_at_the_end(train_ranks *ranks, void *context) {
    on_device d;
    float *x = join(&d, ranks);
    (void)context;
    if (is_second(ranks)) _exit(0);
    FORKED_CHECK(train_sum_floats_there(&d.stream, ranks, x, 3, NULL) == TAPER_OK);
    train_stream_close(&d.stream);
    on_device_forget(&d);
    FORKED_CHECK(!strcmp(train_cuda_fault(&d.device), silence));
    train_cuda_close(&d.device);
    return 0;
}

static int never_sums(train_ranks *ranks, void *context) {
    on_device d;
    (void)context;
    join(&d, ranks);
    if (is_second(ranks)) _exit(0);
    on_device_close(&d);
    FORKED_CHECK(cuda_model_nccl_alive() == 0);
    return 0;
}

static void closing_gives_up_too(void **state) {
    (void)state;
    forked_run(2, other_ends_at_the_end, NULL);
    forked_run(2, never_sums, NULL);
}

/* Call number *context of a sum fails on the second rank. */
static int call_fails(train_ranks *ranks, void *context) {
    on_device d;
    float *x = join(&d, ranks);
    if (!is_second(ranks)) {
        const taper_status status = train_sum_floats_there(&d.stream, ranks, x, 3, NULL);
        FORKED_CHECK(status != TAPER_OK || meet(&d, BY_DOWNLOAD) == TAPER_ERR_DEVICE);
        has_failed(&d, ranks, silence);
        return 0;
    }
    cuda_model_fail_nccl(*(uint64_t *)context, 2);
    FORKED_CHECK(train_sum_floats_there(&d.stream, ranks, x, 3, NULL) == TAPER_ERR_DEVICE);
    has_failed(&d, ranks, "cuda:1: sums over the processes: NCCL: unhandled system error");
    return 0;
}

static void any_call_may_fail(void **state) {
    (void)state;
    for (uint64_t call = 1; call <= 8; call++) forked_run(2, call_fails, &call);
}

static int network_fails(train_ranks *ranks, void *context) {
    on_device d;
    ranks->patience = 60;
    float *x = join(&d, ranks);
    (void)context;
    if (is_second(ranks)) _exit(0);
    FORKED_CHECK(train_sum_floats_there(&d.stream, ranks, x, 3, NULL) == TAPER_OK);
    cuda_model_nccl_error(6);
    FORKED_CHECK(meet(&d, BY_DOWNLOAD) == TAPER_ERR_DEVICE);
    has_failed(
        &d, ranks,
        "cuda:0: sums over the processes: NCCL: remote process exited or there was a network "
        "error");
    return 0;
}

/* The device is lost to a kernel on another stream. */
static int device_fails(train_ranks *ranks, void *context) {
    on_device d;
    train_stream other;
    ranks->patience = 60;
    float *x = join(&d, ranks);
    (void)context;
    if (is_second(ranks)) _exit(0);
    FORKED_CHECK(train_stream_open(&other, &d.device) == TAPER_OK);
    FORKED_CHECK(train_sum_floats_there(&d.stream, ranks, x, 3, NULL) == TAPER_OK);
    cuda_model_fail(0, 1);
    d.stream.ops->scale(&other, 1, 2.0f, x, d.given[1].memory);
    FORKED_CHECK(meet(&d, BY_DOWNLOAD) == TAPER_ERR_DEVICE);
    FORKED_CHECK(strstr(train_cuda_fault(&d.device), "unspecified launch failure"));
    train_stream_close(&other);
    on_device_close(&d);
    return 0;
}

static void errors_after_the_call_are_noticed(void **state) {
    (void)state;
    forked_run(2, network_fails, NULL);
    forked_run(2, device_fails, NULL);
}

static int sum_without_group(train_ranks *ranks, void *context) {
    on_device d;
    const float one = 1;
    (void)context;
    open_gpu(&d, ranks);
    float *x = on_device_give(&d, &one, sizeof one);
    FORKED_CHECK(d.device.group->sum_floats(&d.stream, x, 1) == TAPER_ERR_DEVICE);
    FORKED_CHECK(!strcmp(train_cuda_fault(&d.device),
                         "cuda:0: sums over the processes: the device is in no group"));
    FORKED_CHECK(d.device.group->sum_floats(&d.stream, (float *)&one, 1) == TAPER_ERR_DEVICE);
    on_device_close(&d);
    return 0;
}

static void a_sum_without_a_group_is_refused(void **state) {
    (void)state;
    forked_run(1, sum_without_group, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_missing_or_old_library_is_named),
                                       cmocka_unit_test(a_processor_among_them_is_named),
                                       cmocka_unit_test(those_that_fail_to_join_are_named),
                                       cmocka_unit_test(a_rank_that_ends_is_noticed),
                                       cmocka_unit_test(closing_gives_up_too),
                                       cmocka_unit_test(any_call_may_fail),
                                       cmocka_unit_test(errors_after_the_call_are_noticed),
                                       cmocka_unit_test(a_sum_without_a_group_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
