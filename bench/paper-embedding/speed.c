/* speed.c -- the guide's table: k-NN by 50,000 training images, in pixels and in codes of 32
 * numbers. Times are taken in turn, so that what else the machine does falls on both. */
#include "bench/bench.h"
#include "bench/paper-embedding/baselines.h"
#include "bench/paper-embedding/judge.h"
#include "bench/paper-embedding/learn.h"
#include "bench/paper-embedding/sets.h"
#include "codec/taper.h"
#include <stdlib.h>

enum { REFERENCES = 50000, CODE = 32, PAIRS = 7, K = 5 };

typedef struct side {
    const char *method;
    float *references, *queries;
    size_t width;
    double seconds[PAIRS];
    embedding_record record;
} side;

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double seconds_of(const embedding *e, const side *s, size_t n, size_t queries) {
    taper_search search = {
        sizeof(taper_search), s->references, n, s->queries, queries, 0, s->width, K, e->threads};
    uint32_t *neighbours = figures_memory(queries * K, sizeof *neighbours);
    double *distances = figures_memory(queries * K, sizeof *distances);
    taper_error error = {0};
    double start = bench_now();
    figures_check(taper_nearest(&search, neighbours, distances, &error), "neighbours", &error);
    double seconds = bench_now() - start;
    free(neighbours), free(distances);
    return seconds;
}

static void print_side(const embedding *e, const side *s, size_t n, size_t queries) {
    char config[200];
    double sorted[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) sorted[i] = s->seconds[i];
    qsort(sorted, PAIRS, sizeof *sorted, by_size);
    snprintf(config, sizeof config,
             "\"table\":\"guide\",\"method\":\"%s\",\"dims\":%zu,\"k\":%d,\"references\":%zu,"
             "\"queries\":%zu,\"threads\":%u",
             s->method, s->width, K, n, queries, e->threads);
    figures_print(&e->figures, "embedding/speed", "seconds", sorted[PAIRS / 2], "s",
                  "%s,\"low\":%.4g,\"high\":%.4g", config, sorted[0], sorted[PAIRS - 1]);
    figures_print(&e->figures, "embedding/speed", "storage",
                  (double)n * (double)s->width * sizeof(float) * 1e-6, "MB", "%s", config);
    figures_print(&e->figures, "embedding/speed", "test_error_percent", s->record.error[2], "%",
                  "%s,\"low\":%.3f,\"high\":%.3f", config, s->record.low[2], s->record.high[2]);
}

/* How many times as long the first takes: the median of the pairs, the least and the greatest. */
static void print_ratio(const embedding *e, const side s[2], size_t n, size_t queries) {
    double ratio[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) ratio[i] = s[0].seconds[i] / s[1].seconds[i];
    qsort(ratio, PAIRS, sizeof *ratio, by_size);
    figures_print(&e->figures, "embedding/speed", "times_faster", ratio[PAIRS / 2], "x",
                  "\"table\":\"guide\",\"method\":\"%s\",\"dims\":%zu,\"k\":%d,\"references\":%zu,"
                  "\"queries\":%zu,\"threads\":%u,\"pairs\":%d,\"low\":%.4g,\"high\":%.4g",
                  s[1].method, s[1].width, K, n, queries, e->threads, PAIRS, ratio[0],
                  ratio[PAIRS - 1]);
}

/* Codes by linear NCA if its cell has been run, else by principal components. */
static void make_codes(embedding *e, const embedding_set *set, side *s) {
    embedding_cell cell = embedding_cell_of("mnist", "linear-nca", "pca", CODE, 0, e->seed);
    embedding_record record;
    embedding_learned learned = {0};
    if (embedding_record_read(e, &cell, &record)) {
        s->method = "linear-nca";
        embedding_learn(e, &cell, &set->train, &learned);
    } else {
        s->method = "pca";
        embedding_pca(e, &set->train, CODE, &learned.net);
    }
    s->width = CODE;
    s->references = embedding_codes(e, &learned.net, &set->train);
    s->queries = embedding_codes(e, &learned.net, &set->test);
    embedding_learned_free(&learned);
}

void embedding_part_speed(embedding *e) {
    embedding_set set;
    embedding_cell pixels = embedding_cell_of("mnist", "pixels", "", 784, 0, e->seed);
    if (!embedding_set_is_here(e, "mnist")) {
        figures_say("SKIP speed: the files of MNIST are not in %s/mnist", e->data);
        return;
    }
    embedding_set_read(e, &pixels, 0, &set);
    train_pixels references = set.train;
    if (references.n > REFERENCES) references.n = REFERENCES;
    side s[2] = {{.method = "pixels", .width = set.train.inputs}, {0}};
    s[0].references = embedding_codes(e, NULL, &set.train);
    s[0].queries = embedding_codes(e, NULL, &set.test);
    make_codes(e, &set, &s[1]);
    for (size_t pair = 0; pair < PAIRS; pair++)
        for (int i = 0; i < 2; i++)
            s[i].seconds[pair] = seconds_of(e, &s[i], references.n, set.test.n);
    for (int i = 0; i < 2; i++) {
        embedding_judge(e, s[i].width, s[i].references, &references, s[i].queries, &set.test,
                        &s[i].record);
        print_side(e, &s[i], references.n, set.test.n);
    }
    print_ratio(e, s, references.n, set.test.n);
    for (int i = 0; i < 2; i++) free(s[i].references), free(s[i].queries);
    embedding_set_free(&set);
}
