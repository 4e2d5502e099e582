/* test_rbm.c -- stacks: they learn; layers of a stack are the same bits learned at once or one by
 * one, for any number of threads, on the shadow, and whether their data are kept; the network that
 * a stack becomes; what is refused, and what happens when memory or the device fails. */
#include "on_device.h"
#include "train/rbm/rbm_trainer.h"
#include "train/rbm/rbm_unroll.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>

enum { D = 20, N = 230, KINDS = 4, LAYERS = 3 };
static const uint32_t widths[LAYERS] = {14, 9, 5};
static uint8_t images[N * D];
static train_pixels data = {images, N, D, NULL};

static uint32_t word_of(uint64_t i) {
    uint32_t word[4];
    train_philox(3, i, 0, word);
    return word[0];
}

/* Four kinds of images, a tenth of whose pixels are turned. */
static int draw_images(void **state) {
    (void)state;
    for (size_t i = 0; i < (size_t)N * D; i++) {
        const uint32_t kind = (uint32_t)(i / D % KINDS),
                       on = word_of(1000000 + kind * D + i % D) & 1;
        images[i] = (word_of(i) % 10 ? on : !on) ? 250 : 5;
    }
    return 0;
}

static train_rbm_options quick(void) {
    train_rbm_options o = train_rbm_defaults();
    o.epochs = 6, o.batch = 20, o.top = TRAIN_GAUSSIAN;
    return o;
}

typedef struct seen {
    uint32_t calls, stop_at; /* stop_at 0: never */
    double first[LAYERS], last[LAYERS], left;
} seen;

static int look(void *user, const train_rbm_progress *at) {
    seen *to = user;
    to->calls++;
    if (at->epoch == 1) to->first[at->layer - 1] = at->error;
    to->last[at->layer - 1] = at->error;
    to->left = at->seconds_left;
    assert_true(at->epoch >= 1 && at->epoch <= at->epochs && at->layer <= at->layers);
    return to->calls == to->stop_at;
}

static taper_status learn(on_device *d, train_rbm_stack *stack, const train_rbm_options *o,
                          uint32_t layers, seen *to, taper_error *error) {
    const train_rbm_callbacks callbacks = {look, to};
    return train_rbm_stack_learn(stack, o, &data, widths, layers, &d->device,
                                 to ? &callbacks : NULL, error);
}

/* On the processor; it must do. */
static train_rbm_stack learned(const train_rbm_options *o, uint32_t layers, seen *to) {
    on_device d;
    train_rbm_stack stack = {0};
    taper_error error = {0};
    on_device_open(&d, TRAIN_PROCESSOR);
    if (learn(&d, &stack, o, layers, to, &error) != TAPER_OK) fail_msg("%s", error.text);
    on_device_close(&d);
    return stack;
}

static void same_stacks(const train_rbm_stack *a, const train_rbm_stack *b) {
    assert_int_equal(a->layers, b->layers);
    for (uint32_t i = 0; i < a->layers; i++) {
        const train_rbm *x = &a->rbm[i], *y = &b->rbm[i];
        assert_int_equal(train_rbm_numbers(x), train_rbm_numbers(y));
        assert_memory_equal(x->weight, y->weight, train_rbm_numbers(x) * sizeof *x->weight);
    }
}

/* --- learning ----------------------------------------------------------------------------- */

static void reconstructions_become_better(void **state) {
    (void)state;
    train_rbm_options o = quick();
    o.epochs = 30;
    for (int kind = 0; kind < 4; kind++) {
        seen to = {0};
        o.method = kind / 2 ? TRAIN_DENOISE : TRAIN_CONTRASTIVE;
        o.visible = kind % 2 ? TRAIN_GAUSSIAN : TRAIN_BERNOULLI;
        o.gaussian_rate = 0.02f;
        train_rbm_stack stack = learned(&o, LAYERS, &to);
        for (int i = 0; i < LAYERS; i++) {
            printf("%s: layer %d, %.3f to %.3f\n", kind / 2 ? "denoising" : "contrastive", i + 1,
                   to.first[i], to.last[i]);
            assert_true(to.last[i] < (i ? 0.95 : 0.8) * to.first[i]);
        }
        assert_int_equal(to.calls, LAYERS * o.epochs);
        assert_true(to.left == 0.0);
        train_rbm_stack_free(&stack);
    }
}

static void layers_may_be_learned_later(void **state) {
    (void)state;
    train_rbm_options o = quick();
    for (int method = 0; method < 2; method++) {
        on_device d;
        o.method = (train_pretraining)method;
        o.top = TRAIN_GAUSSIAN;
        train_rbm_stack whole = learned(&o, LAYERS, NULL), parts = {0};
        seen to = {0};
        on_device_open(&d, TRAIN_PROCESSOR);
        o.top = TRAIN_BERNOULLI;
        assert_int_equal(learn(&d, &parts, &o, 2, NULL, NULL), TAPER_OK);
        o.top = TRAIN_GAUSSIAN;
        assert_int_equal(learn(&d, &parts, &o, LAYERS, &to, NULL), TAPER_OK);
        assert_int_equal(to.calls, o.epochs); /* of the third alone */
        same_stacks(&whole, &parts);
        assert_int_equal(learn(&d, &parts, &o, LAYERS, &to, NULL), TAPER_OK);
        assert_int_equal(to.calls, o.epochs);
        on_device_close(&d);
        train_rbm_stack_free(&whole), train_rbm_stack_free(&parts);
    }
}

static void every_way_gives_the_same_bits(void **state) {
    (void)state;
    train_rbm_options o = quick();
    train_rbm_stack first = learned(&o, LAYERS, NULL);
    for (int way = 0; way < 5; way++) {
        on_device d;
        train_rbm_stack stack = {0};
        on_device_open_threads(&d, way % 2 ? TRAIN_SHADOW : TRAIN_PROCESSOR, way ? 3 : 2);
        o.most_kept = way < 3 ? 0 : (size_t)N * widths[0] * sizeof(float) - (way == 3);
        d.device.most_kept = way == 4 ? 0 : 1; /* pixels are streamed to the shadow */
        assert_int_equal(learn(&d, &stack, &o, LAYERS, NULL, NULL), TAPER_OK);
        same_stacks(&first, &stack);
        train_rbm_stack_free(&stack);
        on_device_close(&d);
    }
    train_rbm_options other = quick();
    other.seed = 2;
    train_rbm_stack second = learned(&other, LAYERS, NULL);
    for (int i = 0; i < LAYERS; i++)
        assert_memory_not_equal(first.rbm[i].weight, second.rbm[i].weight, sizeof(float) * 8);
    train_rbm_stack_free(&first), train_rbm_stack_free(&second);
}

/* --- as a network ------------------------------------------------------------------------- */

/* Means through the stack in double: codes, and what comes down from them: of the first machine's
 * visible units what goes into them. */
static void through(const train_rbm_stack *stack, const uint8_t *image, double *code,
                    double *again) {
    double now[D], next[D];
    for (int i = 0; i < D; i++) now[i] = image[i] / 255.0;
    for (uint32_t l = 0; l < stack->layers; l++) {
        const train_rbm *m = &stack->rbm[l];
        for (uint32_t j = 0; j < m->hidden; j++) {
            double a = m->hidden_bias[j];
            for (uint32_t i = 0; i < m->visible; i++) a += m->weight[j * m->visible + i] * now[i];
            next[j] = m->hidden_states == TRAIN_GAUSSIAN ? a : 1.0 / (1.0 + exp(-a));
        }
        memcpy(now, next, sizeof now);
    }
    memcpy(code, now, stack->rbm[stack->layers - 1].hidden * sizeof *code);
    for (uint32_t l = stack->layers; l--;) {
        const train_rbm *m = &stack->rbm[l];
        for (uint32_t i = 0; i < m->visible; i++) {
            double a = m->visible_bias[i];
            for (uint32_t j = 0; j < m->hidden; j++) a += m->weight[j * m->visible + i] * now[j];
            next[i] = l ? 1.0 / (1.0 + exp(-a)) : a;
        }
        memcpy(now, next, sizeof now);
    }
    memcpy(again, now, D * sizeof *again);
}

static void check_network(const train_rbm_stack *stack, codec_network *net) {
    enum { K = 5 };
    const int gaussian = stack->rbm[0].visible_states == TRAIN_GAUSSIAN;
    codec_backend be;
    codec_backend_cpu(&be);
    for (size_t r = 0; r < 20; r++) {
        float pixels[D], code[K], again[D];
        double want_code[K], want[D];
        for (int i = 0; i < D; i++) pixels[i] = images[r * D + i];
        through(stack, images + r * D, want_code, want);
        assert_int_equal(codec_network_encode(net, &be, pixels, 1, code), TAPER_OK);
        for (int k = 0; k < K; k++) assert_true(fabs(code[k] - want_code[k]) < 1e-5);
        if (!net->decoder.depth) continue;
        assert_int_equal(codec_network_decode(net, &be, code, 1, again), TAPER_OK);
        for (int i = 0; i < D; i++) {
            const double pixel = 255.0 * (gaussian ? want[i] : 0.5 + want[i] / 4.0);
            assert_true(fabs(again[i] - pixel) < 1e-3);
        }
    }
    codec_backend_close(&be);
}

static void a_stack_becomes_a_network(void **state) {
    (void)state;
    const uint32_t outside_in[] = {14, 9}, inside_out[] = {9, 14}, wrong[] = {14, 8};
    train_rbm_options o = quick();
    for (int kind = 0; kind < 4; kind++) {
        codec_network net;
        taper_error error = {0};
        o.visible = kind % 2 ? TRAIN_GAUSSIAN : TRAIN_BERNOULLI;
        o.top = kind / 2 ? TRAIN_GAUSSIAN : TRAIN_BERNOULLI;
        train_rbm_stack stack = learned(&o, LAYERS, NULL);
        assert_int_equal(
            codec_network_alloc(&net, D, 5, CODEC_DIRECT, outside_in, 2, inside_out, 2), TAPER_OK);
        net.mean[3] = 7.0f;
        assert_int_equal(train_rbm_unroll(&stack, &net, &error), TAPER_OK);
        assert_int_equal(net.code, kind / 2 ? CODEC_LINEAR : CODEC_LOGISTIC);
        check_network(&stack, &net);
        assert_int_equal(codec_network_tie(&net, 1.0f), TAPER_OK);
        assert_int_equal(train_rbm_unroll(&stack, &net, &error), TAPER_OK);
        check_network(&stack, &net);
        const uint32_t depth = net.decoder.depth; /* an encoder alone */
        net.decoder.depth = 0, net.tied_gain = 0.0f;
        assert_int_equal(train_rbm_unroll(&stack, &net, &error), TAPER_OK);
        check_network(&stack, &net);
        net.decoder.depth = depth;
        codec_network_free(&net);
        assert_int_equal(codec_network_alloc(&net, D, 5, CODEC_DIRECT, wrong, 2, inside_out, 2),
                         TAPER_OK);
        assert_int_equal(train_rbm_unroll(&stack, &net, &error), TAPER_ERR_ARG);
        assert_non_null(strstr(error.text, "same widths"));
        codec_network_free(&net);
        train_rbm_stack_free(&stack);
    }
}

/* --- what goes wrong ---------------------------------------------------------------------- */

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
    refused(&none, &o, &(train_pixels){images, 0, D, NULL}, 3, "images");
    refused(&none, &o, &data, 0, "1 to 8 layers"), refused(&none, &o, &data, 9, "1 to 8 layers");
    train_rbm_stack stack = learned(&o, 1, NULL); /* Gaussian */
    refused(&stack, &o, &data, 2, "only the top may be Gaussian");
    stack.rbm[0].hidden_states = TRAIN_BERNOULLI;
    stack.rbm[0].hidden = 13;
    refused(&stack, &o, &data, 2, "layer 1 of the stack has 13 units, not 14");
    stack.rbm[0].hidden = 14;
    refused(&stack, &o, &(train_pixels){images, N / 2, D / 2, NULL}, 2, "20 values");
    train_rbm_stack_free(&stack);
}

static void a_layer_that_diverges_is_dropped(void **state) {
    (void)state;
    train_rbm_options o = quick();
    on_device d;
    train_rbm_stack stack = {0};
    taper_error error = {0};
    o.gaussian_rate = 10.0f, o.epochs = 50, o.momentum = 0.99f;
    on_device_open(&d, TRAIN_PROCESSOR);
    assert_int_equal(learn(&d, &stack, &o, LAYERS, NULL, &error), TAPER_ERR_ARG);
    assert_int_equal(stack.layers, 2);
    assert_non_null(strstr(error.text, "layer 3 of the stack diverged in epoch"));
    assert_non_null(strstr(error.text, "smaller rate than 10"));
    train_rbm_stack_free(&stack);
    on_device_close(&d);
}

static void progress_may_stop_it(void **state) {
    (void)state;
    const train_rbm_options o = quick();
    seen to = {.stop_at = o.epochs + 2};
    train_rbm_stack whole = learned(&o, LAYERS, NULL), stack = learned(&o, LAYERS, &to);
    assert_int_equal(to.calls, to.stop_at);
    assert_int_equal(stack.layers, 1);
    whole.layers = 1;
    same_stacks(&whole, &stack);
    whole.layers = LAYERS;
    train_rbm_stack_free(&whole), train_rbm_stack_free(&stack);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(reconstructions_become_better),
                                       cmocka_unit_test(layers_may_be_learned_later),
                                       cmocka_unit_test(every_way_gives_the_same_bits),
                                       cmocka_unit_test(a_stack_becomes_a_network),
                                       cmocka_unit_test(bad_options_are_refused),
                                       cmocka_unit_test(a_layer_that_diverges_is_dropped),
                                       cmocka_unit_test(progress_may_stop_it),
                                       cmocka_unit_test(failures_are_told)};
    return cmocka_run_group_tests(tests, draw_images, NULL);
}
