/* bench_embedding.c -- what a gradient of the objectives over neighbours takes on the processor,
 * beside the matrix products that it cannot do without (train/objectives/neighbours.h).
 *
 *     bench_embedding [THREADS [ROWS [UNITS [REPEATS]]]]   1 10000 30 5
 *
 * Prints JSON lines, bench embedding/speed, each figure the least of REPEATS:
 *   pairs    ns a pair of the objective's loss and gradient, and of its pairwise products alone: a
 *            product for the distances of each of two passes, one for the gradient
 *   step     the time of one gradient of the network 784-500-500-2000-UNITS with dt-NCA over ROWS
 *            rows, over that of its products, the pairwise ones counted
 * Codes are ten clouds, as after some training. */
#include "bench/bench.h"
#include "codec/backend/backend.h"
#include "train/objectives/neighbours.h"
#include "train/processor/processor.h"
#include "train/sampling/philox.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 4, CLASSES = 10 };

typedef struct bench {
    train_stream stream;
    size_t rows, width[LAYERS + 1];
    float *a[LAYERS + 1], *d[LAYERS + 1]; /* [rows][width] activations and their gradients */
    float *w[LAYERS], *g[LAYERS], *bias[LAYERS], *dbias[LAYERS];
    uint32_t *label;
    double *loss, *figure;
    float *pairs; /* [TRAIN_NEIGHBOUR_TILE][rows], of products alone */
    train_neighbour_objective objective;
} bench;

static void need_ok(taper_status status) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "bench_embedding: %s\n", formats_status_name(status));
    exit(1);
}

/* --- arrays ----------------------------------------------------------------------------- */

static void lay_out(bench *b, train_arena *arena) {
    for (int l = 0; l <= LAYERS; l++) {
        b->a[l] = train_arena_floats(arena, b->rows, b->width[l]);
        b->d[l] = train_arena_floats(arena, b->rows, b->width[l]);
        if (l == LAYERS) break;
        b->w[l] = train_arena_floats(arena, b->width[l + 1], b->width[l]);
        b->g[l] = train_arena_floats(arena, b->width[l + 1], b->width[l]);
        b->bias[l] = train_arena_floats(arena, 1, b->width[l + 1]);
        b->dbias[l] = train_arena_floats(arena, 1, b->width[l + 1]);
    }
    b->label = train_arena_take(arena, b->rows, 1, sizeof *b->label);
    b->loss = train_arena_take(arena, b->rows, 1, sizeof *b->loss);
    b->figure = train_arena_take(arena, 1, 1, sizeof *b->figure);
    b->pairs = train_arena_floats(arena, TRAIN_NEIGHBOUR_TILE, b->rows);
    train_neighbours_objective.lay_out(&b->objective, arena, (uint32_t)b->width[LAYERS], b->rows);
}

static void fill(bench *b, float *to, size_t n, float scale, uint64_t seed) {
    float *host = malloc(n * sizeof *host);
    if (!host) need_ok(TAPER_ERR_NOMEM);
    for (size_t i = 0; i < n; i++) {
        uint32_t word[4];
        train_philox(seed, i, 0, word);
        host[i] = scale * (train_philox_uniform(word[0]) - 0.5f);
    }
    need_ok(train_upload(&b->stream, to, host, n * sizeof *host));
    free(host);
}

/* Codes in clouds, and whose they are. */
static void fill_codes(bench *b) {
    const size_t units = b->width[LAYERS];
    float *code = malloc(b->rows * units * sizeof *code);
    uint32_t *label = malloc(b->rows * sizeof *label), word[4];
    if (!code || !label) need_ok(TAPER_ERR_NOMEM);
    for (size_t i = 0; i < b->rows; i++) {
        label[i] = (uint32_t)(i % CLASSES);
        for (size_t u = 0; u < units; u++) {
            train_philox(1, label[i] * units + u, 1, word);
            code[i * units + u] = 12.0f * (train_philox_uniform(word[0]) - 0.5f);
            train_philox(2, i * units + u, 1, word);
            code[i * units + u] += 3.0f * (train_philox_uniform(word[0]) - 0.5f);
        }
    }
    need_ok(train_upload(&b->stream, b->a[LAYERS], code, b->rows * units * sizeof *code));
    need_ok(train_upload(&b->stream, b->label, label, b->rows * sizeof *label));
    free(code), free(label);
}

/* --- what is measured ------------------------------------------------------------------- */

typedef void work(bench *b);
#define OPS  (b->stream.ops)
#define HERE (&b->stream)

static void objective(bench *b) {
    const train_examples e = {.rows = b->rows,
                              .units = (uint32_t)b->width[LAYERS],
                              .code = b->a[LAYERS],
                              .scale = 1.0f,
                              .label = b->label};
    need_ok(train_zero(HERE, b->d[LAYERS], b->rows * b->width[LAYERS] * sizeof(float)));
    need_ok(train_neighbours_objective.loss(&b->objective, HERE, &e, b->loss, b->figure));
    need_ok(train_neighbours_objective.gradient(&b->objective, HERE, &e, b->d[LAYERS]));
}

static void pair_products(bench *b) {
    const size_t n = b->rows, k = b->width[LAYERS];
    for (size_t first = 0; first < n; first += TRAIN_NEIGHBOUR_TILE) {
        const size_t rows = n - first < TRAIN_NEIGHBOUR_TILE ? n - first : TRAIN_NEIGHBOUR_TILE;
        const float *code = b->a[LAYERS] + first * k;
        for (int pass = 0; pass < 2; pass++)
            need_ok(OPS->gemm(HERE, 0, 1, rows, n, k, code, b->a[LAYERS], 0.0f, b->pairs));
        need_ok(OPS->gemm(HERE, 0, 0, rows, k, n, b->pairs, b->a[LAYERS], 0.0f,
                          b->d[LAYERS] + first * k));
    }
}

static void forward_product(bench *b, int l, const float *from, float *to) {
    need_ok(OPS->gemm(HERE, 0, 1, b->rows, b->width[l + 1], b->width[l], from, b->w[l], 0.0f, to));
}
static void back_product(bench *b, int l) {
    need_ok(OPS->gemm(HERE, 0, 0, b->rows, b->width[l], b->width[l + 1], b->d[l + 1], b->w[l], 0.0f,
                      b->d[l]));
}

static void products(bench *b) {
    for (int l = 0; l < LAYERS; l++)
        forward_product(b, l, b->a[l], l + 1 < LAYERS ? b->a[l + 1] : b->d[LAYERS]);
    for (int l = LAYERS; l--;) {
        need_ok(OPS->gemm(HERE, 1, 0, b->width[l + 1], b->width[l], b->rows, b->d[l + 1], b->a[l],
                          0.0f, b->g[l]));
        if (l) back_product(b, l);
    }
    pair_products(b);
}

/* As train/objectives/stack.h does it; the objective has codes of its own, lest they fly apart. */
static void step(bench *b) {
    for (int l = 0; l < LAYERS; l++) {
        float *to = l + 1 < LAYERS ? b->a[l + 1] : b->d[LAYERS];
        forward_product(b, l, b->a[l], to);
        need_ok(OPS->bias(HERE, b->rows, b->width[l + 1], b->bias[l],
                          l + 1 < LAYERS ? CODEC_LOGISTIC : CODEC_LINEAR, to));
    }
    objective(b);
    for (int l = LAYERS; l--;) {
        const train_weight_gradient g = {b->rows, b->width[l + 1], b->width[l], b->d[l + 1],
                                         b->a[l], b->g[l],         0,           b->dbias[l]};
        need_ok(train_zero(HERE, b->g[l], b->width[l + 1] * b->width[l] * sizeof(float)));
        need_ok(OPS->weight_gradient(HERE, &g));
        if (!l) break;
        back_product(b, l);
        need_ok(OPS->bias_backward(HERE, b->rows, b->width[l], CODEC_LOGISTIC, b->a[l], b->d[l], 0,
                                   NULL));
    }
}

/* --- measuring -------------------------------------------------------------------------- */

static double time_of(bench *b, work *of) {
    const double begin = bench_now();
    of(b);
    return bench_now() - begin;
}

/* The least time of each of two, taken in turn, as machines are not always alike. */
static void least_times(bench *b, work *one, work *other, int repeats, double *least) {
    least[0] = least[1] = 1e9;
    for (int i = 0; i <= repeats; i++) {
        const double a = time_of(b, one), c = time_of(b, other);
        if (i && a < least[0]) least[0] = a; /* the first makes room */
        if (i && c < least[1]) least[1] = c;
    }
}

static void measure(bench *b, const char *method, unsigned threads, int repeats) {
    const double pairs = (double)b->rows * (double)b->rows;
    double least[2];
    char config[256];
    const int learns = b->objective.learns_alpha;
    snprintf(config, sizeof config,
             "{\"method\":\"%s\",\"alpha\":\"%s\",\"dims\":%zu,\"rows\":%zu,\"threads\":%u}",
             method,
             !b->objective.student ? "none"
             : learns              ? "learned"
                                   : "d-1",
             b->width[LAYERS], b->rows, threads);
    least_times(b, objective, pair_products, repeats, least);
    bench_print("embedding/speed", "pair", 1e9 * least[0] / pairs, "ns", config);
    bench_print("embedding/speed", "pair_products", 1e9 * least[1] / pairs, "ns", config);
    bench_print("embedding/speed", "pair_over_products", least[0] / least[1], "x", config);
    if (b->objective.loss != TRAIN_NCA || !b->objective.student || learns) return;
    least_times(b, step, products, repeats, least);
    bench_print("embedding/speed", "step", least[0], "s", config);
    bench_print("embedding/speed", "step_products", least[1], "s", config);
    bench_print("embedding/speed", "step_over_products", least[0] / least[1], "x", config);
}

static void measure_methods(bench *b, unsigned threads, int repeats) {
    static const struct {
        const char *name;
        train_neighbour_loss loss;
        int all_pairs, student, learns;
    } methods[] = {{"dt-nca", TRAIN_NCA, 0, 1, 0},   {"dt-nca", TRAIN_NCA, 0, 1, 1},
                   {"dg-nca", TRAIN_NCA, 0, 0, 0},   {"dt-mcml", TRAIN_MCML, 1, 1, 0},
                   {"dg-mcml", TRAIN_MCML, 1, 0, 0}, {"log-nca", TRAIN_LOG_NCA, 0, 0, 0}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        b->objective.loss = methods[i].loss, b->objective.all_pairs = methods[i].all_pairs;
        b->objective.student = methods[i].student, b->objective.learns_alpha = methods[i].learns;
        b->objective.holds_alpha = !methods[i].learns;
        measure(b, methods[i].name, threads, repeats);
    }
}

static size_t number(int argc, char **argv, int i, size_t otherwise) {
    size_t n = i < argc ? (size_t)strtoull(argv[i], NULL, 10) : otherwise;
    if (n >= 1 && n <= 1 << 20) return n;
    fprintf(stderr, "usage: bench_embedding [THREADS [ROWS [UNITS [REPEATS]]]]\n");
    exit(2);
}

int main(int argc, char **argv) {
    static const size_t hidden[] = {784, 500, 500, 2000};
    bench_begin(argc, argv);
    const unsigned threads = (unsigned)number(argc, argv, 1, 1);
    bench b = {.rows = number(argc, argv, 2, 10000)};
    const size_t units = number(argc, argv, 3, 30);
    const int repeats = (int)number(argc, argv, 4, 5);
    codec_backend be;
    train_device device;
    train_arena arena = {0};
    memcpy(b.width, hidden, sizeof hidden);
    b.width[LAYERS] = units;
    b.objective.alpha = units > 1 ? (double)units - 1.0 : 1.0;
    b.objective.learns_alpha = 1; /* room for it */
    codec_backend_cpu(&be);
    need_ok(codec_backend_set_threads(&be, threads));
    need_ok(train_processor_open(&device, &be, TRAIN_PROCESSOR));
    need_ok(train_stream_open(&b.stream, &device));
    lay_out(&b, &arena);
    need_ok(train_arena_alloc(&arena, &device));
    lay_out(&b, &arena);
    for (int l = 0; l < LAYERS; l++) {
        fill(&b, b.w[l], b.width[l] * b.width[l + 1], 0.1f, 3 + (uint64_t)l);
        fill(&b, b.a[l], b.rows * b.width[l], 1.0f, 9 + (uint64_t)l);
    }
    fill_codes(&b);
    measure_methods(&b, threads, repeats);
    train_arena_free(&arena);
    train_stream_close(&b.stream);
    train_processor_close(&device);
    codec_backend_close(&be);
    return 0;
}
