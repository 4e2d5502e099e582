/* bench_rbm.c -- what an epoch of pretraining takes on the processor, beside the matrix products
 * that it cannot do without (train/rbm/).
 *
 *     bench_rbm [THREADS [ROWS [EPOCHS]]]        1 10000 2
 *
 * Prints JSON lines, bench embedding/speed, of the stack 784-500-500-2000-30 on drawn images:
 *   rbm_layer                 seconds an epoch of each layer, the least of EPOCHS
 *   rbm_layer_products        the same of its five products a batch, alone: up, down, up, and two
 *                             that make the gradient
 *   rbm_layer_over_products   one over the other */
#include "bench/bench.h"
#include "codec/backend/backend.h"
#include "train/device/operations.h"
#include "train/processor/processor.h"
#include "train/rbm/rbm_trainer.h"
#include <stdio.h>
#include <stdlib.h>

enum { INPUTS = 784, LAYERS = 4 };
static const uint32_t widths[LAYERS] = {500, 500, 2000, 30};

typedef struct bench {
    train_device device;
    train_stream stream;
    unsigned threads;
    size_t rows;
    train_rbm_options options;
    double layer[LAYERS], products[LAYERS]; /* the least of each */
} bench;

static void need_ok(taper_status status) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "bench_rbm: %s\n", formats_status_name(status));
    exit(1);
}

/* --- products ----------------------------------------------------------------------------- */

static float *numbers(size_t n, uint64_t seed) {
    float *x = malloc(n * sizeof *x);
    if (!x) need_ok(TAPER_ERR_NOMEM);
    train_philox_weights(x, n, 0.1f, seed, 0);
    return x;
}

/* Seconds of an epoch's. */
static double time_products(bench *b, size_t v, size_t h) {
    const size_t n = b->options.batch;
    train_stream *s = &b->stream;
    float *w = numbers(v * h, 1), *g = numbers(v * h, 2), *below = numbers(2 * n * v, 3),
          *above = numbers(2 * n * h, 4);
    const double began = bench_now();
    for (size_t i = 0; i < b->rows; i += n) {
        need_ok(s->ops->gemm(s, 0, 1, n, h, v, below, w, 0.0f, above));
        need_ok(s->ops->gemm(s, 0, 0, n, v, h, above, w, 0.0f, below + n * v));
        need_ok(s->ops->gemm(s, 0, 1, n, h, v, below + n * v, w, 0.0f, above + n * h));
        need_ok(s->ops->gemm(s, 1, 0, h, v, 2 * n, above, below, 0.0f, g));
    }
    const double took = bench_now() - began;
    free(w), free(g), free(below), free(above);
    return took;
}

/* After each epoch those of its products, as machines are not always alike. */
static int keep_least(void *user, const train_rbm_progress *at) {
    bench *b = user;
    const uint32_t i = at->layer - 1;
    const double products = time_products(b, i ? widths[i - 1] : INPUTS, widths[i]);
    if (at->epoch == 1 || at->epoch_seconds < b->layer[i]) b->layer[i] = at->epoch_seconds;
    if (at->epoch == 1 || products < b->products[i]) b->products[i] = products;
    return 0;
}

/* ------------------------------------------------------------------------------------------ */

static void measure(bench *b, const char *method) {
    train_rbm_stack stack = {0};
    const train_rbm_callbacks callbacks = {keep_least, b};
    taper_error error = {0};
    uint8_t *pixels = malloc(b->rows * INPUTS);
    if (!pixels) need_ok(TAPER_ERR_NOMEM);
    for (size_t i = 0; i < b->rows * INPUTS; i++) {
        uint32_t word[4];
        train_philox(7, i, 0, word);
        pixels[i] = word[0] % 5 ? 0 : (uint8_t)(word[1] >> 24);
    }
    const train_pixels data = {.pixels = pixels, .n = b->rows, .inputs = INPUTS};
    need_ok(train_rbm_stack_learn(&stack, &b->options, &data, widths, LAYERS, &b->device,
                                  &callbacks, &error));
    for (int i = 0; i < LAYERS; i++) {
        const uint32_t v = stack.rbm[i].visible, h = stack.rbm[i].hidden;
        char config[160];
        snprintf(config, sizeof config,
                 "{\"method\":\"%s\",\"layer\":\"%u-%u\",\"rows\":%zu,\"threads\":%u}", method, v,
                 h, b->rows, b->threads);
        bench_print("embedding/speed", "rbm_layer", b->layer[i], "s", config);
        bench_print("embedding/speed", "rbm_layer_products", b->products[i], "s", config);
        bench_print("embedding/speed", "rbm_layer_over_products", b->layer[i] / b->products[i], "x",
                    config);
    }
    train_rbm_stack_free(&stack);
    free(pixels);
}

static size_t number(int argc, char **argv, int i, size_t otherwise) {
    const size_t n = i < argc ? (size_t)strtoull(argv[i], NULL, 10) : otherwise;
    if (n >= 1 && n <= 1 << 20) return n;
    fprintf(stderr, "usage: bench_rbm [THREADS [ROWS [EPOCHS]]]\n");
    exit(2);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    bench b = {.threads = (unsigned)number(argc, argv, 1, 1),
               .rows = number(argc, argv, 2, 10000),
               .options = train_rbm_defaults()};
    codec_backend be;
    b.options.epochs = (uint32_t)number(argc, argv, 3, 2);
    b.options.top = TRAIN_GAUSSIAN;
    codec_backend_cpu(&be);
    need_ok(codec_backend_set_threads(&be, b.threads));
    need_ok(train_processor_open(&b.device, &be, TRAIN_PROCESSOR));
    need_ok(train_stream_open(&b.stream, &b.device));
    measure(&b, "rbm");
    b.options.method = TRAIN_DENOISE;
    measure(&b, "denoising");
    train_stream_close(&b.stream);
    train_processor_close(&b.device);
    codec_backend_close(&be);
    return 0;
}
