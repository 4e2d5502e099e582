/* test_network.c -- both directions against a plain double computation; independence of batching
 * and threads. */
#include "codec/backend/backend.h"
#include "codec/transform/network.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SEED = 7 };

static void fill(float *x, size_t n, uint64_t stream, float scale) {
    for (size_t i = 0; i < n; i++) {
        uint32_t word[4];
        train_philox(SEED, i, stream, word);
        x[i] = scale * (2.0f * train_philox_uniform(word[0]) - 1.0f);
    }
}

static void fill_stack(codec_stack *stack, uint64_t stream) {
    for (uint32_t i = 0; i < stack->depth; i++) {
        codec_layer *layer = &stack->layer[i];
        fill(layer->weight, (size_t)layer->inputs * layer->outputs, stream + i, 0.3f);
        fill(layer->bias, layer->outputs, stream + 50 + i, 1.0f);
    }
}

static void random_network(codec_network *net, uint32_t inputs, uint32_t units, int tied,
                           int deep) {
    static const uint32_t encoder[] = {37, 20}, decoder[] = {21};
    assert_int_equal(
        codec_network_alloc(net, inputs, units, tied, encoder, deep ? 2 : 0, decoder, deep ? 1 : 0),
        TAPER_OK);
    fill(net->mean, inputs, 1, 128.0f);
    fill(net->analysis, (size_t)inputs * units, 2, 0.2f);
    if (!tied) fill(net->synthesis, (size_t)inputs * units, 3, 0.2f);
    fill_stack(&net->encoder, 100);
    fill_stack(&net->decoder, 200);
}

/* Direct networks of depth 1 to 3, with all activations. */
enum { DIRECTS = 9 };
static void random_direct(codec_network *net, uint32_t inputs, uint32_t units, int variant) {
    static const uint32_t encoder[] = {37, 20}, decoder[] = {21, 40};
    uint32_t n = (uint32_t)variant % 3, m = (uint32_t)(variant + variant / 3) % 3;
    assert_int_equal(codec_network_alloc(net, inputs, units, CODEC_DIRECT, encoder, n, decoder, m),
                     TAPER_OK);
    assert_true(net->hidden == CODEC_RELU && net->code == CODEC_LINEAR);
    net->hidden = (codec_activation)(variant / 3);
    net->code = (codec_activation)((variant + 1) % 3);
    assert_true(net->encoder.depth == n + 1 && net->decoder.depth == m + 1);
    assert_true(codec_network_is_direct(net) && !net->analysis);
    fill(net->mean, inputs, 1, 128.0f);
    fill_stack(&net->encoder, 100);
    fill_stack(&net->decoder, 200);
    float *first = net->encoder.layer[0].weight; /* so that activations do not saturate */
    for (size_t i = 0; i < (size_t)inputs * net->encoder.layer[0].outputs; i++) first[i] /= 300;
}

/* A direct network whose units know those before them. */
static void random_with_feedback(codec_network *net, uint32_t inputs, uint32_t units, int variant) {
    random_direct(net, inputs, units, variant);
    net->code = CODEC_LINEAR;
    assert_int_equal(codec_network_add_feedback(net), TAPER_OK);
    fill(net->feedback, (size_t)units * units, 300, 0.2f);
    fill(net->mixing, (size_t)units * units, 301, 0.2f);
}

static double act(codec_activation activation, double x) {
    return activation == CODEC_RELU       ? fmax(x, 0.0)
           : activation == CODEC_LOGISTIC ? 1.0 / (1.0 + exp(-x))
                                          : x;
}

/* y += stack(x) in double, straight from the definition in network.h. */
static void stack_in_double(const codec_stack *stack, codec_activation hidden, const double *x,
                            double *y) {
    double a[128], b[128];
    const double *in = x;
    for (uint32_t l = 0; l < stack->depth; l++) {
        const codec_layer *layer = &stack->layer[l];
        double *out = l & 1 ? b : a;
        for (uint32_t o = 0; o < layer->outputs; o++) {
            double sum = layer->bias[o];
            for (uint32_t i = 0; i < layer->inputs; i++)
                sum += (double)layer->weight[o * layer->inputs + i] * in[i];
            if (l + 1 == stack->depth)
                y[o] += sum;
            else
                out[o] = act(hidden, sum);
        }
        in = out;
    }
}

static void encode_in_double(const codec_network *net, const float *pixels, double *codes) {
    double centred[128];
    for (uint32_t i = 0; i < net->inputs; i++) centred[i] = (double)pixels[i] - net->mean[i];
    for (uint32_t u = 0; u < net->units; u++) {
        codes[u] = 0.0;
        for (uint32_t i = 0; net->analysis && i < net->inputs; i++)
            codes[u] += net->analysis[u * net->inputs + i] * centred[i];
    }
    stack_in_double(&net->encoder, net->hidden, centred, codes);
    for (uint32_t u = 0; u < net->units; u++) codes[u] = act(net->code, codes[u]);
    for (uint32_t u = 0; net->feedback && u < net->units; u++)
        for (uint32_t j = 0; j < u; j++)
            codes[u] -= codes[j] > 0 ? net->feedback[u * net->units + j] : 0;
}

/* Units from `sent` on are not. */
static void decode_in_double(const codec_network *net, const float *codes, uint32_t sent,
                             double *pixels) {
    double x[128];
    for (uint32_t u = 0; u < net->units; u++) {
        x[u] = codes[u];
        for (uint32_t j = 0; net->mixing && u < sent && j < u; j++)
            x[u] += (double)net->mixing[u * net->units + j] * codes[j];
    }
    for (uint32_t i = 0; i < net->inputs; i++) {
        pixels[i] = net->mean[i];
        for (uint32_t u = 0; net->synthesis && u < net->units; u++)
            pixels[i] += net->synthesis[u * net->inputs + i] * x[u];
    }
    stack_in_double(&net->decoder, net->hidden, x, pixels);
}

static void both_directions_equal_double(void **state) {
    (void)state;
    codec_backend be;
    codec_backend_cpu(&be);
    for (int variant = 0; variant < 4 + DIRECTS; variant++) {
        enum { D = 48, K = 19, N = 131 };
        codec_network net;
        if (variant < 4)
            random_network(&net, D, K, variant & 1, variant >> 1);
        else
            random_direct(&net, D, K, variant - 4);
        float *pixels = malloc(N * D * sizeof *pixels), *codes = malloc(N * K * sizeof *codes);
        fill(pixels, N * D, 9, 128.0f);
        memset(codes, 0xff, N * K * sizeof *codes); /* NaN */
        assert_int_equal(codec_network_encode(&net, &be, pixels, N, codes), TAPER_OK);
        double want[128];
        for (int i = 0; i < N; i++) {
            encode_in_double(&net, pixels + i * D, want);
            for (int u = 0; u < K; u++) assert_true(fabs(codes[i * K + u] - want[u]) <= 2e-3);
        }
        memset(pixels, 0xff, N * D * sizeof *pixels);
        assert_int_equal(codec_network_decode(&net, &be, codes, N, pixels), TAPER_OK);
        for (int i = 0; i < N; i++) {
            decode_in_double(&net, codes + i * K, K, want);
            for (int j = 0; j < D; j++) assert_true(fabs(pixels[i * D + j] - want[j]) <= 1e-2);
        }
        free(pixels), free(codes);
        codec_network_free(&net);
    }
}

/* P5: a row gives the same bits alone, in any batch, at any place, on any number of threads. */
static void batches_are_independent(int variant) {
    enum { D = 192, K = 150, N = 300 };
    codec_network net;
    if (variant < 0)
        random_network(&net, D, K, 0, 1);
    else
        (variant & 1 ? random_with_feedback : random_direct)(&net, D, K, variant / 2);
    codec_backend be, pooled;
    codec_backend_cpu(&be);
    codec_backend_cpu(&pooled);
    assert_int_equal(codec_backend_set_threads(&pooled, 3), TAPER_OK);
    float *pixels = malloc(N * D * sizeof *pixels), *codes = malloc(N * K * sizeof *codes);
    float *some = malloc(N * D * sizeof *some), *all = malloc(N * D * sizeof *all);
    fill(pixels, N * D, 9, 128.0f);
    assert_int_equal(codec_network_encode(&net, &be, pixels, N, codes), TAPER_OK);
    assert_int_equal(codec_network_decode(&net, &be, codes, N, all), TAPER_OK);
    static const size_t batch[] = {1, 2, 7, 16, 64, 127, 128, 129, 256, 300};
    for (size_t b = 0; b < sizeof batch / sizeof *batch; b++)
        for (size_t first = 0; first + batch[b] <= N; first += 41) {
            codec_backend *device = b & 1 ? &pooled : &be;
            assert_int_equal(codec_network_encode(&net, device, pixels + first * D, batch[b], some),
                             TAPER_OK);
            assert_memory_equal(some, codes + first * K, batch[b] * K * sizeof *some);
            assert_int_equal(codec_network_decode(&net, device, codes + first * K, batch[b], some),
                             TAPER_OK);
            assert_memory_equal(some, all + first * D, batch[b] * D * sizeof *some);
        }
    free(pixels), free(codes), free(some), free(all);
    codec_network_free(&net);
    codec_backend_close(&pooled);
}

static void rows_do_not_see_their_batch(void **state) {
    (void)state;
    for (int variant = -1; variant < 2 * DIRECTS; variant += 3) batches_are_independent(variant);
}

typedef struct worker {
    const codec_network *net;
    codec_backend *be;
    const float *pixels;
    float *codes;
    size_t n;
} worker;

static void *encode_share(void *argument) {
    worker *w = argument;
    if (codec_network_encode(w->net, w->be, w->pixels, w->n, w->codes) != TAPER_OK) w->n = 0;
    return NULL;
}

/* Many threads on one network and one backend, as the encoder works. */
static void workers_share_a_backend(void **state) {
    (void)state;
    enum { D = 64, K = 40, N = 400, WORKERS = 4 };
    codec_network net;
    random_network(&net, D, K, 0, 1);
    codec_backend be;
    codec_backend_cpu(&be);
    float *pixels = malloc(N * D * sizeof *pixels), *codes = malloc(N * K * sizeof *codes);
    float *shared = malloc(N * K * sizeof *shared);
    fill(pixels, N * D, 9, 128.0f);
    assert_int_equal(codec_network_encode(&net, &be, pixels, N, codes), TAPER_OK);
    worker workers[WORKERS];
    pthread_t thread[WORKERS];
    for (size_t i = 0; i < WORKERS; i++) {
        size_t first = i * N / WORKERS;
        workers[i] = (worker){&net, &be, pixels + first * D, shared + first * K, N / WORKERS};
        assert_int_equal(pthread_create(&thread[i], NULL, encode_share, &workers[i]), 0);
    }
    for (size_t i = 0; i < WORKERS; i++) pthread_join(thread[i], NULL);
    assert_memory_equal(shared, codes, N * K * sizeof *codes);
    free(pixels), free(codes), free(shared);
    codec_network_free(&net);
}

enum { FEEDBACK_D = 40, FEEDBACK_K = 67, FEEDBACK_N = 131 };

/* The bits less 1/4, and 0 from `units` on: from units - 1 on in rows from `whole` on. */
static void send(const float *codes, uint32_t units, size_t whole, float *sent) {
    for (size_t i = 0; i < FEEDBACK_N; i++)
        for (uint32_t u = 0; u < FEEDBACK_K; u++) {
            int has = u + (i >= whole) < units;
            sent[i * FEEDBACK_K + u] = has ? (codes[i * FEEDBACK_K + u] > 0) - 0.25f : 0;
        }
}

/* Bits nearer to their threshold than rounding may be either, and all behind them. */
static void codes_with_feedback_equal_double(void **state) {
    (void)state;
    static float pixels[FEEDBACK_N * FEEDBACK_D], codes[FEEDBACK_N * FEEDBACK_K];
    codec_backend be;
    codec_backend_cpu(&be);
    for (int variant = 0; variant < DIRECTS; variant++) {
        codec_network net;
        double want[128];
        uint32_t compared = 0, moved = 0;
        random_with_feedback(&net, FEEDBACK_D, FEEDBACK_K, variant);
        fill(pixels, FEEDBACK_N * FEEDBACK_D, 9, 128.0f);
        assert_int_equal(codec_network_encode(&net, &be, pixels, FEEDBACK_N, codes), TAPER_OK);
        for (int i = 0; i < FEEDBACK_N; i++) {
            encode_in_double(&net, pixels + i * FEEDBACK_D, want);
            for (int u = 0; u < FEEDBACK_K && fabs(want[u]) > 1e-4; u++, compared++)
                assert_true(fabs(codes[i * FEEDBACK_K + u] - want[u]) <= 1e-3);
        }
        assert_true(compared > FEEDBACK_N * FEEDBACK_K / 2);
        memset(net.feedback, 0, FEEDBACK_K * FEEDBACK_K * sizeof(float)); /* it matters */
        for (int i = 0; i < FEEDBACK_N; i++) {
            encode_in_double(&net, pixels + i * FEEDBACK_D, want);
            for (int u = 0; u < FEEDBACK_K; u++)
                moved += (want[u] > 0) != (codes[i * FEEDBACK_K + u] > 0);
        }
        assert_true(moved > FEEDBACK_N);
        codec_network_free(&net);
    }
}

/* A row is what its own units make it, whatever the others' are and however many are at work. */
static void cuts_with_feedback_equal_double(void **state) {
    (void)state;
    static float pixels[FEEDBACK_N * FEEDBACK_D], codes[FEEDBACK_N * FEEDBACK_K],
        x[FEEDBACK_N * FEEDBACK_K], alone[FEEDBACK_D];
    codec_backend be, pooled;
    codec_backend_cpu(&be);
    codec_backend_cpu(&pooled);
    assert_int_equal(codec_backend_set_threads(&pooled, 3), TAPER_OK);
    static const size_t reached[] = {0, 1, 95, 96, 97, 130, FEEDBACK_N};
    for (int variant = 0; variant < DIRECTS; variant++) {
        codec_network net;
        random_with_feedback(&net, FEEDBACK_D, FEEDBACK_K, variant);
        fill(codes, FEEDBACK_N * FEEDBACK_K, 11, 1.0f);
        for (uint32_t units = 0; units <= FEEDBACK_K; units += units < 9 ? 1 : 29) {
            size_t whole = reached[(units + (uint32_t)variant) % 7];
            send(codes, units, whole, x);
            assert_int_equal(codec_network_decode_cut(&net, units & 1 ? &pooled : &be, x,
                                                      FEEDBACK_N, units, whole, pixels),
                             TAPER_OK);
            for (size_t i = 0; i < FEEDBACK_N; i++) {
                uint32_t own = i < whole || !units ? units : units - 1;
                double want[128];
                decode_in_double(&net, x + i * FEEDBACK_K, own, want);
                for (int j = 0; j < FEEDBACK_D; j++)
                    assert_true(fabs(pixels[i * FEEDBACK_D + j] - want[j]) <= 1e-3);
                assert_int_equal(
                    codec_network_decode_units(&net, &be, x + i * FEEDBACK_K, 1, own, alone),
                    TAPER_OK);
                assert_memory_equal(alone, pixels + i * FEEDBACK_D, sizeof alone);
            }
        }
        codec_network_free(&net);
    }
    codec_backend_close(&pooled);
}

/* The codes are those of the whole network, bit for bit; there is no way back. */
static void encoders_are_half_a_direct_network(void **state) {
    (void)state;
    enum { D = 40, K = 30, N = 131 };
    static const uint32_t hidden[] = {37, 20};
    static float pixels[N * D], want[N * K], codes[N * K];
    codec_backend be;
    codec_backend_cpu(&be);
    fill(pixels, N * D, 9, 128.0f);
    for (int variant = 0; variant < DIRECTS; variant++) {
        codec_network whole, net;
        random_direct(&whole, D, K, variant);
        assert_int_equal(
            codec_network_alloc(&net, D, K, CODEC_ENCODER, hidden, (uint32_t)variant % 3, NULL, 0),
            TAPER_OK);
        assert_true(net.hidden == CODEC_RELU && net.code == CODEC_LINEAR);
        assert_true(net.encoder.depth == whole.encoder.depth && !net.decoder.depth);
        assert_true(codec_network_is_direct(&net) && !codec_network_has_decoder(&net));
        assert_true(codec_network_has_decoder(&whole));
        net.hidden = whole.hidden, net.code = whole.code;
        memcpy(net.mean, whole.mean, D * sizeof *net.mean);
        fill_stack(&net.encoder, 100);
        codec_layer *first = &net.encoder.layer[0];
        for (size_t i = 0; i < (size_t)D * first->outputs; i++) first->weight[i] /= 300;
        assert_int_equal(codec_network_encode(&whole, &be, pixels, N, want), TAPER_OK);
        assert_int_equal(codec_network_encode(&net, &be, pixels, N, codes), TAPER_OK);
        assert_memory_equal(codes, want, sizeof want);
        assert_int_equal(codec_network_decode(&net, &be, codes, N, pixels), TAPER_ERR_ARG);
        assert_int_equal(codec_network_decode_units(&net, &be, codes, N, 1, pixels), TAPER_ERR_ARG);
        assert_int_equal(codec_network_add_feedback(&net), TAPER_ERR_ARG);
        assert_int_equal(codec_network_tie(&net, 1), TAPER_ERR_ARG);
        assert_true(codec_network_scratch_bytes(&net) <= codec_network_scratch_bytes(&whole));
        codec_network_free(&net), codec_network_free(&whole);
    }
    codec_network net;
    assert_int_equal(codec_network_alloc(&net, D, K, CODEC_ENCODER, hidden, 2, hidden, 2),
                     TAPER_ERR_ARG);
    random_network(&net, D, K, 1, 0); /* a linear path alone decodes */
    assert_true(codec_network_has_decoder(&net));
    codec_network_free(&net);
}

static void networks_with_feedback_are_direct(void **state) {
    (void)state;
    codec_network net;
    random_network(&net, 40, 30, 0, 1);
    assert_int_equal(codec_network_add_feedback(&net), TAPER_ERR_ARG);
    assert_false(codec_network_has_feedback(&net));
    codec_network_free(&net);
    random_direct(&net, 40, 30, 0);
    uint64_t before = codec_network_scratch_bytes(&net);
    assert_int_equal(codec_network_add_feedback(&net), TAPER_OK);
    assert_true(codec_network_has_feedback(&net) && net.feedback[899] == 0 && net.mixing[899] == 0);
    assert_true(codec_network_scratch_bytes(&net) >= before + 96 * 30 * sizeof(float));
    assert_int_equal(codec_network_add_feedback(&net), TAPER_ERR_ARG);
    codec_network_free(&net);
    assert_null(net.mixing);
}

static void decode_units_leaves_out_only_zeros(void **state) {
    (void)state;
    enum { D = 48, K = 19, N = 5 };
    codec_network net;
    codec_backend be;
    codec_backend_cpu(&be);
    for (int deep = 0; deep < 3; deep++) {
        if (deep < 2)
            random_network(&net, D, K, 0, deep);
        else
            random_direct(&net, D, K, 1);
        float codes[N * K], full[N * D], part[N * D];
        fill(codes, N * K, 5, 100.0f);
        for (uint32_t units = 0; units <= K; units += 6) {
            fill(codes, N * K, 5, 100.0f);
            for (int i = 0; i < N * K; i++)
                if ((uint32_t)(i % K) >= units) codes[i] = 0.0f;
            assert_int_equal(codec_network_decode(&net, &be, codes, N, full), TAPER_OK);
            assert_int_equal(codec_network_decode_units(&net, &be, codes, N, units, part),
                             TAPER_OK);
            for (int i = 0; i < N * D; i++) assert_true(fabsf(full[i] - part[i]) <= 1e-3f);
        }
        assert_int_equal(codec_network_decode_units(&net, &be, codes, N, K + 1, part),
                         TAPER_ERR_ARG);
        codec_network_free(&net);
    }
}

static void alloc_refuses_nonsense(void **state) {
    (void)state;
    codec_network net;
    const uint32_t hidden[CODEC_MAX_LAYERS] = {4, 0, 4, 4, 4, 4, 4, 4};
    assert_int_equal(codec_network_alloc(&net, 0, 3, CODEC_UNTIED, NULL, 0, NULL, 0),
                     TAPER_ERR_ARG);
    assert_int_equal(codec_network_alloc(&net, 3, 0, CODEC_UNTIED, NULL, 0, NULL, 0),
                     TAPER_ERR_ARG);
    assert_int_equal(
        codec_network_alloc(&net, 3, 3, CODEC_UNTIED, hidden, CODEC_MAX_LAYERS, NULL, 0),
        TAPER_ERR_ARG);
    assert_int_equal(codec_network_alloc(&net, 3, 3, CODEC_UNTIED, hidden, 2, NULL, 0),
                     TAPER_ERR_ARG);
    assert_null(net.mean);
    assert_int_equal(codec_network_alloc(&net, 3, 3, CODEC_TIED, hidden, 1, NULL, 0), TAPER_OK);
    assert_ptr_equal(net.analysis, net.synthesis);
    codec_network_free(&net);
    codec_network_free(&net); /* leaves nothing behind */
    assert_int_equal(codec_network_alloc(&net, 0, 3, CODEC_DIRECT, NULL, 0, NULL, 0),
                     TAPER_ERR_ARG);
    assert_int_equal(
        codec_network_alloc(&net, 3, 3, CODEC_DIRECT, hidden, 1, hidden, CODEC_MAX_LAYERS),
        TAPER_ERR_ARG);
    assert_null(net.mean);
}

/* Every layer of the decoder is the transpose of its partner, the last one times the gain. */
static void tying_transposes(void **state) {
    (void)state;
    static const uint32_t in[] = {70, 33}, out[] = {33, 70}, other[] = {33, 71};
    for (uint32_t n = 0; n <= 2; n++) {
        codec_network net;
        assert_int_equal(codec_network_alloc(&net, 40, 65, CODEC_DIRECT, in, n, out + 2 - n, n),
                         TAPER_OK);
        fill_stack(&net.encoder, 100);
        fill_stack(&net.decoder, 200);
        float bias = net.decoder.layer[n].bias[7];
        assert_int_equal(codec_network_tie(&net, 4.5f), TAPER_OK);
        assert_true(net.decoder.layer[n].bias[7] == bias);
        for (uint32_t l = 0; l <= n; l++) {
            const codec_layer *to = &net.decoder.layer[l], *from = &net.encoder.layer[n - l];
            assert_true(to->inputs == from->outputs && to->outputs == from->inputs);
            for (uint32_t o = 0; o < to->outputs; o++)
                for (uint32_t i = 0; i < to->inputs; i++)
                    assert_true(to->weight[o * to->inputs + i] ==
                                from->weight[i * from->inputs + o] * (l == n ? 4.5f : 1.0f));
        }
        static const float bad[] = {0, -1, NAN, INFINITY};
        for (int i = 0; i < 4; i++)
            assert_int_equal(codec_network_tie(&net, bad[i]), TAPER_ERR_ARG);
        codec_network_free(&net);
    }
    codec_network net;
    assert_int_equal(codec_network_alloc(&net, 40, 65, CODEC_DIRECT, in, 2, other, 2), 0);
    assert_int_equal(codec_network_tie(&net, 1), TAPER_ERR_ARG);
    codec_network_free(&net);
    random_network(&net, 40, 30, 0, 0);
    assert_int_equal(codec_network_tie(&net, 1), TAPER_ERR_ARG);
    codec_network_free(&net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_directions_equal_double),
        cmocka_unit_test(rows_do_not_see_their_batch),
        cmocka_unit_test(workers_share_a_backend),
        cmocka_unit_test(decode_units_leaves_out_only_zeros),
        cmocka_unit_test(codes_with_feedback_equal_double),
        cmocka_unit_test(cuts_with_feedback_equal_double),
        cmocka_unit_test(encoders_are_half_a_direct_network),
        cmocka_unit_test(networks_with_feedback_are_direct),
        cmocka_unit_test(alloc_refuses_nonsense),
        cmocka_unit_test(tying_transposes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
