/* bench_knn.c -- the library's nearest neighbours: time beside that of the bare products, memory,
 * and the error that votes make on labelled images.
 *
 *     bench_knn speed QUERIES REFERENCES WIDTH K THREADS        10000 60000 784 5 2
 *     bench_knn error FOLDER THREADS     raw pixels of MNIST's four files, as they are published
 *
 * Prints JSON lines. speed: of codes drawn from ten clusters, `seconds` of taper_nearest and of the
 * products alone, the least of three, in turn; `over_products` their ratio; `peak_mib` what the
 * process takes at most beyond codes and results. The products are made in the search's own blocks,
 * each written over the last. error: `test_error_percent` of k = 1, 3, 5, 7, with its 95 % interval
 * in the config. */
#include "bench/bench.h"
#include "codec/backend/backend.h"
#include "codec/backend/pool.h"
#include "codec/search/knn.h"
#include "codec/taper.h"
#include "formats/file.h"
#include "formats/bytes.h"
#include "formats/images/idx.h"
#include "train/sampling/philox.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { TRIALS = 3 };

static void need(taper_status status, const taper_error *error) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "bench_knn: %s\n",
            error && error->text[0] ? error->text : taper_status_name(status));
    exit(1);
}

static void *room(size_t n, size_t size) {
    void *memory = malloc(n * size + 1);
    need(memory ? TAPER_OK : TAPER_ERR_NOMEM, NULL);
    memset(memory, 1, n * size); /* a page counts once it is written to */
    return memory;
}

static double peak_mib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

/* --- speed ----------------------------------------------------------------------------- */

/* Code i of a stream: the middle of one of ten clusters, and noise. */
static void draw(uint32_t stream, size_t n, size_t width, float *to) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < width; j++, to++) {
            uint32_t word[4], middle[4];
            train_philox(stream, i, j, word);
            train_philox(99, i % 10, j, middle);
            *to = (float)(middle[0] / 4294967296.0 + word[0] / 4294967296.0 - 1.0);
        }
}

/* The search's products, in its blocks, each written over the block's last. */
typedef struct products_task {
    const taper_search *s;
    codec_search_plan plan;
    codec_backend be;
    float *product; /* [blocks][rows][columns] */
} products_task;

static void multiply(void *context, size_t block) {
    products_task *p = context;
    const taper_search *s = p->s;
    const size_t first = block * p->plan.rows;
    const size_t rows = formats_smaller(p->plan.rows, s->n_queries - first);
    float *to = p->product + first * p->plan.columns;
    for (size_t r = 0; r < s->n_references; r += p->plan.columns)
        need(p->be.ops->gemm(&p->be, 0, 1, rows,
                             formats_smaller(p->plan.columns, s->n_references - r), s->width,
                             s->queries + first * s->width, s->references + r * s->width, 0.0f, to),
             NULL);
}

static double time_of_products(const taper_search *s) {
    products_task p = {.s = s, .plan = codec_search_plan_of(s)};
    codec_pool *pool;
    codec_backend_cpu(&p.be);
    p.product = room(s->n_queries * p.plan.columns, sizeof *p.product);
    need(codec_pool_create(&pool, p.plan.threads), NULL);
    double start = bench_now();
    codec_pool_run(pool, multiply, &p, (s->n_queries + p.plan.rows - 1) / p.plan.rows);
    double seconds = bench_now() - start;
    codec_pool_destroy(pool);
    free(p.product);
    return seconds;
}

static double time_of_search(const taper_search *s, uint32_t *neighbours, double *distances) {
    taper_error error = {0};
    double start = bench_now();
    need(taper_nearest(s, neighbours, distances, &error), &error);
    return bench_now() - start;
}

static int speed(char **argument) {
    size_t n[5];
    for (int i = 0; i < 5; i++) n[i] = strtoul(argument[i], NULL, 10);
    float *queries = room(n[0] * n[2], sizeof *queries);
    float *references = room(n[1] * n[2], sizeof *references);
    uint32_t *neighbours = room(n[0] * n[3], sizeof *neighbours);
    double *distances = room(n[0] * n[3], sizeof *distances);
    draw(1, n[0], n[2], queries), draw(2, n[1], n[2], references);
    const taper_search s = {sizeof(taper_search), references, n[1], queries, n[0], 0, n[2], n[3],
                            (unsigned)n[4]};
    const double before = peak_mib();
    double search = time_of_search(&s, neighbours, distances);
    const double peak = peak_mib() - before;
    double products = time_of_products(&s);
    for (int i = 1; i < TRIALS; i++) {
        double seconds = time_of_search(&s, neighbours, distances);
        search = seconds < search ? seconds : search;
        seconds = time_of_products(&s);
        products = seconds < products ? seconds : products;
    }
    char config[256];
    snprintf(config, sizeof config,
             "{\"method\":\"knn\",\"queries\":%zu,\"references\":%zu,\"dims\":%zu,\"k\":%zu,"
             "\"threads\":%zu}",
             n[0], n[1], n[2], n[3], n[4]);
    bench_print("embedding/speed", "seconds", search, "s", config);
    bench_print("embedding/speed", "products_seconds", products, "s", config);
    bench_print("embedding/speed", "over_products", search / products, "x", config);
    bench_print("embedding/speed", "peak_mib", peak, "MiB", config);
    free(queries), free(references), free(neighbours), free(distances);
    return 0;
}

/* --- error ----------------------------------------------------------------------------- */

static uint8_t *load(const char *folder, const char *name, size_t *size) {
    char path[4096];
    uint8_t *bytes;
    taper_error error = {0};
    snprintf(path, sizeof path, "%s/%s-ubyte.gz", folder, name);
    need(formats_file_read(path, FORMATS_MOST_BYTES, &bytes, size, &error), &error);
    return bytes;
}

/* The images' pixels, 0..1. */
static float *load_images(const char *folder, const char *name, size_t *n, size_t *width) {
    size_t size, unpacked;
    uint8_t *bytes = load(folder, name, &size), *idx;
    taper_error error = {0};
    need(formats_idx_unpack(bytes, size, NULL, &idx, &unpacked, &error), &error);
    enum { HEADER = 16 };
    *n = formats_get_u32be(idx + 4);
    *width = (size_t)formats_get_u32be(idx + 8) * formats_get_u32be(idx + 12);
    float *pixels = room(*n * *width, sizeof *pixels);
    for (size_t i = 0; i < *n * *width; i++) pixels[i] = (float)idx[HEADER + i] / 255.0f;
    free(bytes), free(idx);
    return pixels;
}

static int32_t *load_labels(const char *folder, const char *name) {
    size_t size, n;
    uint8_t *bytes = load(folder, name, &size), *of_bytes;
    taper_error error = {0};
    need(formats_idx_labels_decode(bytes, size, NULL, &of_bytes, &n, &error), &error);
    int32_t *labels = room(n, sizeof *labels);
    for (size_t i = 0; i < n; i++) labels[i] = of_bytes[i];
    free(bytes), free(of_bytes);
    return labels;
}

static int error_of_pixels(const char *folder, unsigned threads) {
    enum { MOST = 7, CLASSES = 10 };
    taper_search s = {.size = sizeof(taper_search), .k = MOST, .threads = threads};
    float *references = load_images(folder, "train-images-idx3", &s.n_references, &s.width);
    float *queries = load_images(folder, "t10k-images-idx3", &s.n_queries, &s.width);
    int32_t *labels = load_labels(folder, "train-labels-idx1");
    int32_t *truth = load_labels(folder, "t10k-labels-idx1");
    uint32_t *neighbours = room(s.n_queries * MOST, sizeof *neighbours);
    double *distances = room(s.n_queries * MOST, sizeof *distances);
    int32_t *voted = room(s.n_queries, sizeof *voted);
    taper_error error = {0};
    s.references = references, s.queries = queries;
    time_of_search(&s, neighbours, distances);
    for (size_t k = 1; k <= MOST; k += 2) {
        taper_votes votes = {sizeof(taper_votes), neighbours, s.n_queries, MOST, k, labels,
                             s.n_references,      CLASSES,    NULL};
        taper_error_rate rate = {.size = sizeof(taper_error_rate)};
        char config[256];
        need(taper_vote(&votes, voted, &error), &error);
        need(taper_count_errors(voted, truth, s.n_queries, CLASSES, NULL, &rate, &error), &error);
        snprintf(config, sizeof config,
                 "{\"method\":\"pixels\",\"dims\":%zu,\"k\":%zu,\"labels_percent\":100,"
                 "\"low\":%.2f,\"high\":%.2f}",
                 s.width, k, 100 * rate.low, 100 * rate.high);
        bench_print("embedding/mnist", "test_error_percent", 100 * rate.rate, "%", config);
    }
    free(references), free(queries), free(labels), free(truth);
    free(neighbours), free(distances), free(voted);
    return 0;
}

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    if (argc == 7 && !strcmp(argv[1], "speed")) return speed(argv + 2);
    if (argc == 4 && !strcmp(argv[1], "error"))
        return error_of_pixels(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
    fprintf(stderr, "usage: bench_knn speed QUERIES REFERENCES WIDTH K THREADS\n"
                    "       bench_knn error FOLDER THREADS\n");
    return 2;
}
