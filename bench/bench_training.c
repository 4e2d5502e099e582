/* bench_training.c -- how much of a device's own matrix-product rate a training step reaches.
 *
 *     bench_training [THREADS [BATCH [DEVICE]]]      defaults: all cores, 1024, cpu
 *
 * Prints JSON lines {bench, metric, value, unit, config, machine}. A step of 3072-1024-3072 is all
 * of it: loading 8-bit rows, encoder, quantiser and rate, decoder, loss, backward, norm and Adam;
 * its floating-point operations are those of the matrix products alone (five of batch x 3072 x 1024
 * for the linear network: two forward, three backward). The device's rate is the best of products
 * of 2048^3, measured before and after the steps. DEVICE is as for `taper train`. */
#include "bench/bench.h"
#include "cli/device.h"
#include "codec/backend/pool.h"
#include "train/dense/autoencoder.h"
#include "train/dense/dense_start.h"
#include "train/optimise/adam.h"
#include "train/optimise/checkpoint.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *need(void *memory) {
    if (!memory) {
        fprintf(stderr, "bench_training: out of memory\n");
        exit(1);
    }
    return memory;
}

static void need_ok(taper_status status) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "bench_training: %s\n", formats_status_name(status));
    exit(1);
}

static void fill(float *x, size_t n, float scale) {
    for (size_t i = 0; i < n; i++) {
        uint32_t w[4];
        train_philox(1, i, 99, w);
        x[i] = scale * (2.0f * train_philox_uniform(w[0]) - 1.0f);
    }
}

/* GFLOP/s of the best of a few products of 2048^3. */
static double matrix_rate(train_device *device) {
    enum { S = 2048, BYTES = S * S * sizeof(float) };
    train_stream stream;
    train_arena arena = {0};
    float *numbers = need(malloc(BYTES)), *a = NULL, *b = NULL, *c = NULL;
    double best = 1e9;
    need_ok(train_stream_open(&stream, device));
    for (int twice = 0; twice < 2; twice++) {
        a = train_arena_floats(&arena, S, S), b = train_arena_floats(&arena, S, S);
        c = train_arena_floats(&arena, S, S);
        if (!twice) need_ok(train_arena_alloc(&arena, device));
    }
    fill(numbers, (size_t)S * S, 1.0f);
    need_ok(train_upload(&stream, a, numbers, BYTES));
    need_ok(train_upload(&stream, b, numbers, BYTES));
    for (int i = 0; i < 12; i++) {
        double t = now();
        need_ok(stream.ops->gemm(&stream, 0, 0, S, S, S, a, b, 0.0f, c));
        need_ok(device->memory->sync(&stream));
        t = now() - t;
        if (i > 1 && t < best) best = t;
    }
    train_arena_free(&arena);
    train_stream_close(&stream);
    free(numbers);
    return 2.0 * S * S * S / best * 1e-9;
}

typedef struct setting {
    const char *name;
    uint32_t hidden;
} setting;

static double stack_flops(const codec_stack *stack, double batch, int input_gradient) {
    double flops = 0.0;
    for (uint32_t i = 0; i < stack->depth; i++)
        flops += 2.0 * batch * stack->layer[i].inputs * stack->layer[i].outputs *
                 (i || input_gradient ? 3 : 2);
    return flops;
}

/* What a step needs on the device beside the network. */
typedef struct step_memory {
    train_arena arena;
    uint8_t *pixels;
    uint32_t *order;
    double *squares;
    train_verdict *verdict;
} step_memory;

static void lay_out(step_memory *m, size_t batch, size_t inputs) {
    m->pixels = train_arena_take(&m->arena, batch, inputs, 1);
    m->order = train_arena_take(&m->arena, batch, 1, sizeof *m->order);
    m->squares = train_arena_take(&m->arena, 1, 1, sizeof *m->squares);
    m->verdict = train_arena_take(&m->arena, 1, 1, sizeof *m->verdict);
}

/* A step as the loop takes it, with what comes down after it. */
static void one_step(train_autoencoder *ae, const step_memory *m, train_cut *cuts, size_t batch,
                     uint64_t step) {
    const train_cut_range range = {30.0f, 400.0f, 0.95f, 0.2f, NULL, NULL};
    const train_range all = {0, ae->weights.n};
    double sums[TRAIN_LOSSES];
    need_ok(train_autoencoder_load(ae, m->pixels, m->order, batch));
    for (uint64_t i = 0; i < batch; i++)
        cuts[i] = train_cut_draw(&range, ae->view.units, 1, step, i);
    need_ok(train_autoencoder_forward(ae, cuts, ae->sums));
    need_ok(train_autoencoder_backward(ae));
    const train_adam_ranges of = {&all,     1,        1e-5f,      step + 1,  50.0f,
                                  ae->sums, INFINITY, m->squares, m->verdict};
    need_ok(train_adam_take(&ae->stream, &ae->weights, &of));
    need_ok(train_download(&ae->stream, sums, ae->sums, sizeof sums));
}

/* Seconds of the median step. */
static double step_time(train_autoencoder *ae, const uint8_t *pixels, const uint32_t *order,
                        size_t batch) {
    enum { STEPS = 9 };
    train_cut *cuts = need(malloc(batch * sizeof *cuts));
    size_t inputs = ae->view.inputs;
    step_memory m = {0};
    double seconds[STEPS];
    lay_out(&m, batch, inputs);
    need_ok(train_arena_alloc(&m.arena, ae->stream.device));
    lay_out(&m, batch, inputs);
    need_ok(train_upload(&ae->stream, m.pixels, pixels, batch * inputs));
    need_ok(train_upload(&ae->stream, m.order, order, batch * sizeof *order));
    train_autoencoder_set_trade(ae, &(train_trade){0.2f, 1.0f, 0.7f});
    for (uint64_t step = 0; step < STEPS; step++) {
        double t = now();
        one_step(ae, &m, cuts, batch, step);
        t = now() - t;
        uint64_t at = step;
        for (; at > 0 && seconds[at - 1] > t; at--) seconds[at] = seconds[at - 1];
        seconds[at] = t;
    }
    train_arena_free(&m.arena);
    free(cuts);
    return seconds[STEPS / 2];
}

static void bench_network(train_device *device, unsigned threads, setting s, size_t batch) {
    enum { D = 3072, K = 1024 };
    codec_network net;
    train_autoencoder ae;
    need_ok(codec_network_alloc(&net, D, K, CODEC_UNTIED, &s.hidden, s.hidden > 0, &s.hidden,
                                s.hidden > 0));
    fill(net.analysis, (size_t)D * K, 0.02f);
    memcpy(net.synthesis, net.analysis, sizeof(float) * D * K);
    train_initialise_stacks(&net, 1);
    float *magnitude = need(calloc(K, sizeof *magnitude));
    uint8_t *pixels = need(malloc(batch * D));
    uint32_t *order = need(malloc(batch * sizeof *order));
    for (size_t i = 0; i < batch * D; i++) pixels[i] = (uint8_t)(i * 2654435761u >> 24);
    for (size_t i = 0; i < batch; i++)
        order[i] = (uint32_t)(batch - 1 - i), magnitude[i % K] = 50.0f;
    const train_autoencoder_options o = {
        .batch = batch, .scale = 64.0f, .rate_scale = magnitude, .use = TRAIN_WEIGHTS_TRAIN};
    need_ok(train_autoencoder_create(&ae, &net, device, &o));

    double before = matrix_rate(device), seconds = step_time(&ae, pixels, order, batch),
           after = matrix_rate(device);
    double flops = 5.0 * 2.0 * (double)batch * D * K + stack_flops(&net.encoder, (double)batch, 0) +
                   stack_flops(&net.decoder, (double)batch, 1);
    double rate = flops / seconds * 1e-9, own = before > after ? before : after;
    char config[200];
    snprintf(config, sizeof config,
             "{\"network\":\"%s\",\"batch\":%zu,\"threads\":%u,\"device\":\"%s\"}", s.name, batch,
             threads, device->name);
    bench_print("training", "sgemm_2048", own, "GFLOP/s", config);
    bench_print("training", "training_step", rate, "GFLOP/s", config);
    bench_print("training", "examples_per_second", (double)batch / seconds, "1/s", config);
    bench_print("training", "share_of_sgemm", 100.0 * rate / own, "%", config);
    train_autoencoder_free(&ae);
    codec_network_free(&net);
    free(magnitude), free(pixels), free(order);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    size_t batch = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 1024;
    if (batch < 1 || batch > 1 << 20) {
        fprintf(stderr, "usage: bench_training [THREADS [BATCH [DEVICE]]]\n");
        return 2;
    }
    const cli_common common = {.device = argc > 3 ? argv[3] : "cpu"};
    taper_error error = {0};
    codec_backend be;
    cli_device device;
    codec_backend_cpu(&be);
    need_ok(codec_backend_set_threads(&be, threads));
    if (!cli_device_is_name(common.device) || cli_device_is_missing(common.device) ||
        cli_device_open(&device, &common, NULL, &be, TRAIN_FLOAT32, &error) != TAPER_OK) {
        fprintf(stderr, "bench_training: %s: %s\n", common.device,
                error.text[0] ? error.text : "no device of this build");
        return 5;
    }
    threads = codec_pool_threads(be.pool);
    bench_network(&device.train, threads, (setting){"3072-1024-3072 linear", 0}, batch);
    bench_network(&device.train, threads,
                  (setting){"3072-1024-3072 with one hidden layer of 1024 on each side", 1024},
                  batch);
    cli_device_close(&device);
    codec_backend_close(&be);
    return 0;
}
