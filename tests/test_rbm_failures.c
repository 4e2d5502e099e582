/* test_rbm_failures.c -- stacks that do not learn: what is refused and why, layers that diverge,
 * and what happens when memory or the device fails. */
#include "rbm_stacks.h"
#include <math.h>

static void refused(const train_rbm_stack *stack, const train_rbm_options *o,
                    const train_pixels *of, uint32_t layers, const char *why) {
    taper_error error = {0};
    assert_int_equal(train_rbm_check(stack, o, of, widths, layers, &error), TAPER_ERR_ARG);
    if (!strstr(error.text, why)) fail_msg("\"%s\" does not say \"%s\"", error.text, why);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    const train_rbm_stack none = {0};
    train_rbm_options o = quick();
#define REFUSED(field, value, why)           \
    do {                                     \
        train_rbm_options bad = o;           \
        bad.field = value;                   \
        refused(&none, &bad, &data, 3, why); \
    } while (0)
    REFUSED(epochs, 0, "epochs");
    REFUSED(batch, 0, "batch");
    REFUSED(rate, 0.0f, "rates");
    REFUSED(rate, NAN, "rates");
    REFUSED(gaussian_rate, 11.0f, "rates");
    REFUSED(momentum, 1.0f, "momentum");
    REFUSED(first_momentum, -0.1f, "momentum");
    REFUSED(corruption, 1.0f, "corruption");
    REFUSED(decay, -1.0f, "decay");
    REFUSED(deviation, INFINITY, "deviation");
    refused(&none, &o, &(train_pixels){.pixels = images, .inputs = D}, 3, "images");
    refused(&none, &o, &data, 0, "1 to 8 layers"), refused(&none, &o, &data, 9, "1 to 8 layers");
    train_rbm_stack stack = learned(&o, 1, NULL); /* Gaussian */
    refused(&stack, &o, &data, 2, "only the top may be Gaussian");
    stack.rbm[0].hidden_states = TRAIN_BERNOULLI;
    stack.rbm[0].hidden = 13;
    refused(&stack, &o, &data, 2, "layer 1 of the stack has 13 units, not 14");
    stack.rbm[0].hidden = 14;
    refused(&stack, &o, &(train_pixels){.pixels = images, .n = N / 2, .inputs = D / 2}, 2,
            "20 values");
    train_rbm_stack_free(&stack);
}

static void a_layer_that_diverges_is_dropped(void **state) {
    (void)state;
    train_rbm_options o = quick();
    on_device d;
    train_rbm_stack stack = {0};
    taper_error error = {0};
    seen to = {0};
    o.gaussian_rate = 10.0f, o.epochs = 50, o.momentum = 0.99f;
    on_device_open(&d, TRAIN_PROCESSOR);
    assert_int_equal(learn(&d, &stack, &o, LAYERS, &to, &error), TAPER_ERR_ARG);
    assert_int_equal(stack.layers, 2);
    assert_true(to.calls < 3 * o.epochs - 10 && isfinite(to.last[2])); /* at once */
    assert_non_null(strstr(error.text, "layer 3 of the stack diverged in epoch"));
    assert_non_null(strstr(error.text, "smaller rate than 10"));
    train_rbm_stack_free(&stack);
    on_device_close(&d);
}

/* Even by the very last batch. */
static void no_stack_has_numbers_that_are_not_finite(void **state) {
    (void)state;
    train_rbm_options o = quick();
    on_device d;
    int diverged = 0;
    o.epochs = 1, o.batch = 5, o.gaussian_rate = 10.0f, o.visible = TRAIN_GAUSSIAN;
    on_device_open(&d, TRAIN_PROCESSOR);
    for (size_t batches = 1; batches < 20; batches++) {
        const train_pixels some = {.pixels = images, .n = o.batch * batches, .inputs = D};
        train_rbm_stack stack = {0};
        const taper_status status =
            train_rbm_stack_learn(&stack, &o, &some, widths, 1, &d.device, NULL, NULL);
        diverged += status == TAPER_ERR_ARG;
        assert_int_equal(stack.layers, status == TAPER_OK);
        for (size_t k = 0; k < stack.layers * train_rbm_numbers(&stack.rbm[0]); k++)
            assert_true(isfinite(stack.rbm[0].weight[k]));
        train_rbm_stack_free(&stack);
    }
    assert_true(diverged > 5 && diverged < 19);
    on_device_close(&d);
}

static void failures_are_told(void **state) {
    (void)state;
    train_rbm_options o = quick();
    uint64_t allocations, operations, step = 0;
    on_device d;
    taper_error error = {0};
    o.epochs = 1, o.batch = 100;
    on_device_open(&d, TRAIN_PROCESSOR);
    train_rbm_stack stack = {0};
    train_processor_fail(&d.device, 0, 0);
    assert_int_equal(learn(&d, &stack, &o, 2, NULL, NULL), TAPER_OK);
    train_processor_count(&d.device, &allocations, &operations);
    train_rbm_stack_free(&stack);
    for (uint64_t at = 1; at <= allocations; at++) {
        train_processor_fail(&d.device, at, 0);
        assert_int_equal(learn(&d, &stack, &o, 2, NULL, &error), TAPER_ERR_NOMEM);
        assert_non_null(strstr(error.text, "of the stack: out of memory"));
        train_rbm_stack_free(&stack);
    }
    for (uint64_t at = 1; at <= operations; at += 1 + step++ % 3) {
        train_processor_fail(&d.device, 0, at);
        assert_int_equal(learn(&d, &stack, &o, 2, NULL, &error), TAPER_ERR_DEVICE);
        train_rbm_stack_free(&stack);
    }
    train_processor_fail(&d.device, 0, 0);
    on_device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_options_are_refused),
                                       cmocka_unit_test(a_layer_that_diverges_is_dropped),
                                       cmocka_unit_test(no_stack_has_numbers_that_are_not_finite),
                                       cmocka_unit_test(failures_are_told)};
    return cmocka_run_group_tests(tests, draw_images, NULL);
}
