/* bench_kernels.c -- what each operation of a training step takes on a device, beside the bytes
 * that it must move.
 *
 *     bench_kernels [DEVICE [BATCH [INPUTS [UNITS [REPEATS]]]]]   cpu 10000 3072 1024 20
 *
 * Prints JSON lines: of each operation the time in ms, the least of five means over REPEATS calls
 * that wait for each other alone, and GB/s: the bytes of its arrays, each counted once as
 * bench/gpu/count.py counts, over that time. Shapes are those of a step of
 * INPUTS-UNITS-INPUTS. Runs on whatever `taper train --device` names. The variable BENCH_DEVICE
 * is what config.device says. */
#include "bench/bench.h"
#include "cli/device.h"
#include "train/device/operations.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct step {
    train_stream stream;
    size_t rows, d, k;                   /* rows, inputs, units */
    float *wide[2], *narrow[2], *square; /* [rows][d], [rows][k], [k][k] */
    float *w, *g, *m, *v;                /* [k][d] weights, as Adam has them */
    float *bias;                         /* [d] or of them [k] */
    double *error, *sum;                 /* [rows], [3] */
    uint8_t *pixels;                     /* [rows][d] */
    uint32_t *kept;                      /* [rows] */
    train_verdict *verdict;
} step;

static void lay_out(step *t, train_arena *arena) {
    for (int i = 0; i < 2; i++) {
        t->wide[i] = train_arena_floats(arena, t->rows, t->d);
        t->narrow[i] = train_arena_floats(arena, t->rows, t->k);
    }
    t->square = train_arena_floats(arena, t->k, t->k);
    t->w = train_arena_floats(arena, t->k, t->d), t->g = train_arena_floats(arena, t->k, t->d);
    t->m = train_arena_floats(arena, t->k, t->d), t->v = train_arena_floats(arena, t->k, t->d);
    t->bias = train_arena_floats(arena, 1, t->d > t->k ? t->d : t->k);
    t->error = train_arena_take(arena, t->rows, 1, sizeof *t->error);
    t->sum = train_arena_take(arena, 3, 1, sizeof *t->sum);
    t->pixels = train_arena_take(arena, t->rows, t->d, 1);
    t->kept = train_arena_take(arena, t->rows, 1, sizeof *t->kept);
    t->verdict = train_arena_take(arena, 1, 1, sizeof *t->verdict);
}

/* --- operations ------------------------------------------------------------------------ */

/* Each puts itself on the stream, in the shape that a step has it, and says how many bytes its
 * arrays have. */
typedef taper_status operation(step *t, size_t *bytes);

#define OPS  (t->stream.ops)
#define HERE (&t->stream)
static size_t wide(const step *t) { return t->rows * t->d * sizeof(float); }
static size_t narrow(const step *t) { return t->rows * t->k * sizeof(float); }
static size_t weights(const step *t) { return t->k * t->d * sizeof(float); }

static train_inputs inputs_of(const step *t) {
    return (train_inputs){t->rows, t->d, t->pixels, NULL, t->bias, 0.01f};
}
static taper_status centre_rows(step *t, size_t *bytes) {
    *bytes = t->rows * t->d + t->d * sizeof(float) + wide(t);
    return OPS->centre_rows(HERE, t->rows, t->d, t->pixels, NULL, t->bias, 0.01f, t->wide[0]);
}
static taper_status corrupt(step *t, size_t *bytes) {
    const train_corruption c = {.inputs = inputs_of(t),
                                .noise = {.seed = 1, .step = 2},
                                .p = 0.1f,
                                .corrupted = t->wide[1]};
    *bytes = t->rows * t->d + t->d * sizeof(float) + wide(t);
    return OPS->corrupt(HERE, &c);
}
static taper_status forward(step *t, size_t *bytes) {
    *bytes = wide(t) + weights(t) + narrow(t);
    return OPS->gemm(HERE, 0, 1, t->rows, t->k, t->d, t->wide[0], t->w, 0.0f, t->narrow[0]);
}
static taper_status back_to_weights(step *t, size_t *bytes) {
    const train_weight_gradient g = {.rows = t->rows,
                                     .m = t->k,
                                     .n = t->d,
                                     .a = t->narrow[0],
                                     .b = t->wide[0],
                                     .c = t->g,
                                     .of_b = 1,
                                     .sums = t->bias};
    *bytes = wide(t) + weights(t) + narrow(t) + t->d * sizeof(float);
    return OPS->weight_gradient(HERE, &g);
}
static taper_status bias(step *t, size_t *bytes) {
    *bytes = wide(t) + t->d * sizeof(float);
    return OPS->bias(HERE, t->rows, t->d, t->bias, CODEC_RELU, t->wide[1]);
}
static taper_status bias_backward(step *t, size_t *bytes) {
    *bytes = 2 * wide(t) + t->d * sizeof(float);
    return OPS->bias_backward(HERE, t->rows, t->d, CODEC_RELU, t->wide[0], t->wide[1], 1, t->bias);
}
static train_units bits_of(const step *t) {
    return (train_units){.rows = t->rows,
                         .units = (uint32_t)t->k,
                         .kept = t->kept,
                         .binary = 1,
                         .centre = 0.5f,
                         .bias = t->bias,
                         .spread = t->bias};
}
static taper_status unit_values(step *t, size_t *bytes) {
    const train_units u = bits_of(t);
    *bytes = 2 * narrow(t) + t->k * sizeof(float) + t->rows * sizeof *t->kept;
    return OPS->unit_values(HERE, &u, t->narrow[0], t->narrow[1]);
}
static taper_status decide(step *t, size_t *bytes) {
    const train_units u = bits_of(t);
    *bytes = 2 * narrow(t) + t->k * sizeof(float) + t->rows * sizeof *t->kept +
             ((t->k - 1) * t->k + t->k - 1) * sizeof(float);
    return OPS->decide(HERE, &u, t->square, t->k, t->narrow[0], t->narrow[1]);
}
static taper_status unit_gradient(step *t, size_t *bytes) {
    const train_units u = bits_of(t);
    *bytes = 3 * narrow(t) + 2 * t->k * sizeof(float) + t->rows * sizeof *t->kept;
    return OPS->unit_gradient(HERE, &u, 0, t->narrow[0], t->narrow[1], t->narrow[1]);
}
static taper_status set_lower(step *t, size_t *bytes) {
    *bytes = ((t->k - 1) * t->k + t->k - 1 + t->k * t->k) * sizeof(float);
    return OPS->set_lower(HERE, 0, t->k, t->k, t->g, t->square, t->k);
}
static taper_status copy_columns(step *t, size_t *bytes) {
    const size_t n = t->k / 2;
    *bytes = ((t->rows - 1) * t->k + n + t->rows * n) * sizeof(float);
    return OPS->copy_columns(HERE, t->rows, n, t->narrow[0], t->k, t->narrow[1], n);
}
static taper_status mean_errors(step *t, size_t *bytes) {
    const train_inputs target = inputs_of(t);
    *bytes = t->rows * (t->d + sizeof *t->error) + t->d * sizeof(float) + 2 * wide(t);
    return OPS->mean_errors(HERE, &target, 0.5f, t->wide[0], t->wide[1], t->error);
}

static taper_status pixel_entropy(step *t, size_t *bytes) {
    const train_inputs target = inputs_of(t);
    *bytes = t->rows * (t->d + sizeof *t->error) + t->d * sizeof(float) + 2 * wide(t);
    return OPS->pixel_entropy(HERE, &target, 0.5f, t->wide[0], t->wide[1], t->error);
}
static taper_status error_losses(step *t, size_t *bytes) {
    *bytes = (t->rows + 3) * sizeof *t->error;
    return OPS->error_losses(HERE, t->rows, t->error, NULL, 0.0, 1.0, (double)t->rows, t->sum);
}
static taper_status scale(step *t, size_t *bytes) {
    *bytes = 2 * wide(t);
    return OPS->scale(HERE, t->rows * t->d, 0.5f, t->wide[0], t->wide[1]);
}
static taper_status dropout(step *t, size_t *bytes) {
    const train_noise noise = {.seed = 1, .step = 2};
    *bytes = narrow(t);
    return OPS->dropout(HERE, &noise, 0, 0.2f, t->rows, t->k, t->narrow[0]);
}
static taper_status sum_squares(step *t, size_t *bytes) {
    *bytes = weights(t) + sizeof *t->sum;
    return OPS->sum_squares(HERE, t->k * t->d, t->g, 0, t->sum);
}
static taper_status zero(step *t, size_t *bytes) {
    *bytes = weights(t);
    return train_zero(HERE, t->g, weights(t));
}
static taper_status adam(step *t, size_t *bytes) {
    const train_adam_step s = {1e-3f, 0.9f, 0.999f, 1e-8f};
    *bytes = 4 * weights(t) + sizeof *t->verdict;
    return OPS->adam(HERE, t->k * t->d, &s, t->verdict, t->g, t->w, t->m, t->v);
}

static const struct {
    const char *name;
    operation *put;
} operations[] = {{"centre_rows", centre_rows},
                  {"corrupt", corrupt},
                  {"gemm", forward},
                  {"weight_gradient", back_to_weights},
                  {"bias", bias},
                  {"bias_backward", bias_backward},
                  {"unit_values", unit_values},
                  {"decide", decide},
                  {"unit_gradient", unit_gradient},
                  {"set_lower", set_lower},
                  {"copy_columns", copy_columns},
                  {"mean_errors", mean_errors},
                  {"pixel_entropy", pixel_entropy},
                  {"error_losses", error_losses},
                  {"scale", scale},
                  {"dropout", dropout},
                  {"sum_squares", sum_squares},
                  {"zero", zero},
                  {"adam", adam}};

/* --- measuring -------------------------------------------------------------------------- */

static const train_device *of; /* for what has failed */

static void need_ok(taper_status status) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "bench_kernels: %s\n", formats_status_name(status));
    exit(1);
}

/* Seconds a call, of so many. */
static double mean_time(step *t, operation *put, int repeats) {
    size_t bytes;
    need_ok(of->memory->sync(&t->stream));
    double begin = bench_now();
    for (int i = 0; i < repeats; i++) need_ok(put(t, &bytes));
    need_ok(of->memory->sync(&t->stream));
    return (bench_now() - begin) / repeats;
}

static void measure(step *t, size_t i, int repeats) {
    const char *device = getenv("BENCH_DEVICE");
    size_t bytes;
    char config[256];
    need_ok(operations[i].put(t, &bytes)); /* the first call may choose and load */
    double best = mean_time(t, operations[i].put, repeats);
    for (int round = 1; round < 5 && repeats > 1; round++) {
        double seconds = mean_time(t, operations[i].put, repeats);
        if (seconds < best) best = seconds;
    }
    snprintf(config, sizeof config,
             "{\"device\":\"%s\",\"network\":\"%zu-%zu-%zu\",\"batch\":%zu,\"operation\":\"%s\","
             "\"bytes\":%zu}",
             device ? device : of->name, t->d, t->k, t->d, t->rows, operations[i].name, bytes);
    bench_print("cuda/kernels", "time", 1e3 * best, "ms", config);
    bench_print("cuda/kernels", "rate", (double)bytes / best * 1e-9, "GB/s", config);
}

static void measure_all(step *t, train_device *device, int repeats) {
    train_arena arena = {0};
    of = device;
    need_ok(train_stream_open(&t->stream, device));
    lay_out(t, &arena);
    need_ok(train_arena_alloc(&arena, device));
    lay_out(t, &arena);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) measure(t, i, repeats);
    train_arena_free(&arena);
    train_stream_close(&t->stream);
}

static size_t number(int argc, char **argv, int i, size_t otherwise) {
    size_t n = i < argc ? (size_t)strtoull(argv[i], NULL, 10) : otherwise;
    if (n >= 1 && n <= 1 << 20) return n;
    fprintf(stderr, "usage: bench_kernels [DEVICE [BATCH [INPUTS [UNITS [REPEATS]]]]]\n");
    exit(2);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    const cli_common common = {.device = argc > 1 ? argv[1] : "cpu"};
    step t = {.rows = number(argc, argv, 2, 10000),
              .d = number(argc, argv, 3, 3072),
              .k = number(argc, argv, 4, 1024)};
    int repeats = (int)number(argc, argv, 5, 20);
    codec_backend be;
    cli_device device;
    taper_error error = {0};
    codec_backend_cpu(&be);
    need_ok(codec_backend_set_threads(&be, cli_threads(&common)));
    if (!cli_device_is_name(common.device) || cli_device_is_missing(common.device) ||
        cli_device_open(&device, &common, NULL, &be, TRAIN_FLOAT32, &error) != TAPER_OK) {
        fprintf(stderr, "bench_kernels: %s: %s\n", common.device,
                error.text[0] ? error.text : "no device of this build");
        return 5;
    }
    measure_all(&t, &device.train, repeats);
    cli_device_close(&device);
    codec_backend_close(&be);
    return 0;
}
