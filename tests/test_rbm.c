/* test_rbm.c -- stacks: they learn; layers of a stack are the same bits learned at once or one by
 * one, for any number of threads, on the shadow, and whether their data are kept; the network that
 * a stack becomes. */
#include "rbm_stacks.h"
#include "train/optimise/run.h"
#include "train/rbm/contrastive.h"
#include "train/rbm/rbm_unroll.h"
#include <math.h>
#include <stdio.h>

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

/* The first layer, by hand: order, momentum and draws of every step. */
static void a_layer_is_its_batches(void **state) {
    (void)state;
    train_rbm_options o = quick();
    on_device d;
    train_rbm_layer layer = {0};
    train_rbm rbm;
    uint32_t order[N];
    uint64_t step = 0;
    o.first_epochs = 2;
    train_rbm_stack stack = learned(&o, LAYERS, NULL);
    on_device_open(&d, TRAIN_PROCESSOR);
    assert_int_equal(train_rbm_alloc(&rbm, D, widths[0], TRAIN_BERNOULLI, TRAIN_BERNOULLI),
                     TAPER_OK);
    train_philox_weights(rbm.weight, (size_t)D * widths[0], 0.1f, o.seed, 0);
    assert_int_equal(train_rbm_layer_open(&layer, &d.stream, &rbm, o.batch), TAPER_OK);
    for (uint32_t epoch = 0; epoch < o.epochs; epoch++) {
        for (uint32_t i = 0; i < N; i++) order[i] = i;
        train_shuffle(order, N, o.seed, TRAIN_STREAM_SHUFFLE + (epoch << 8));
        for (uint32_t i = 0; i < N; i += o.batch) {
            const train_rbm_batch batch = {.rows = N - i < o.batch ? N - i : o.batch,
                                           .rate = 0.1f,
                                           .momentum = epoch < 2 ? 0.5f : 0.9f,
                                           .noise = {o.seed, step++, 0},
                                           .options = &o};
            float rows[20 * D];
            for (size_t k = 0; k < batch.rows * D; k++)
                rows[k] = (float)images[order[i + k / D] * D + k % D] * (1.0f / 255.0f);
            assert_int_equal(
                train_upload(&d.stream, layer.below, rows, batch.rows * D * sizeof *rows),
                TAPER_OK);
            assert_int_equal(
                train_rbm_layer_learn(&layer, &batch, train_contrastive_gradient, NULL), TAPER_OK);
        }
    }
    assert_int_equal(train_rbm_layer_fetch(&layer, &rbm), TAPER_OK);
    assert_memory_equal(rbm.weight, stack.rbm[0].weight, train_rbm_numbers(&rbm) * sizeof(float));
    train_rbm_layer_close(&layer);
    on_device_close(&d);
    train_rbm_free(&rbm), train_rbm_stack_free(&stack);
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reconstructions_become_better),
                                       cmocka_unit_test(a_layer_is_its_batches),
                                       cmocka_unit_test(layers_may_be_learned_later),
                                       cmocka_unit_test(every_way_gives_the_same_bits),
                                       cmocka_unit_test(a_stack_becomes_a_network),
                                       cmocka_unit_test(progress_may_stop_it)};
    return cmocka_run_group_tests(tests, draw_images, NULL);
}
