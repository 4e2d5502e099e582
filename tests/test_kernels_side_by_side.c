/* test_kernels_side_by_side.c -- models that learn at once on the GPU's kernels, each on a stream
 * of its own: the same bytes as one after the other, also where there is memory for few. */
#define EVERY_DEVICE_KERNELS 1
#include "side_by_side.h"

static on_device *const gpu = &device[DEVICES - 1];

static void same_as_one_after_the_other(void **unused) {
    (void)unused;
    one_order();
    for (int code = TRAIN_CODE_UNITS; code <= TRAIN_CODE_BINARY; code++) {
        const train_options options = quick((train_code)code);
        outcome *alone = learn(&options, gpu, 1);
        set_timing(code % TIMINGS); /* what is on streams is done late */
        assert_the_same(alone, &options, gpu, 4);
        set_timing(0);
        drop(alone);
    }
}

#ifndef EVERY_DEVICE_GPU
static void without_memory_fewer_learn_at_once(void **unused) {
    (void)unused;
    const train_options options = quick(TRAIN_CODE_UNITS);
    uint64_t allocations, launches;
    one_order();
    cuda_model_fail(0, 0);
    outcome *alone = learn(&options, gpu, 1);
    cuda_model_count(&allocations, &launches);
    for (uint64_t k = 1; k <= allocations; k += 1 + allocations / 3) {
        cuda_model_fail(k, 0);
        outcome *together = learn(&options, gpu, 4);
        assert_true(together->least == 1 || together->least == 2);
        assert_same(alone, together);
        drop(together);
    }
    drop(alone);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_one_after_the_other),
#ifndef EVERY_DEVICE_GPU
        cmocka_unit_test(without_memory_fewer_learn_at_once),
#endif
    };
    return cmocka_run_group_tests_name("kernels_side_by_side", tests, set_up, tear_down);
}
