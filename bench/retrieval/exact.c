/* exact.c -- exact search that stops early, beside scans that do not; see retrieval.h. */
#include "bench/bench.h"
#include "bench/retrieval/measure.h"
#include "bench/retrieval/scan.h"
#include <stdlib.h>
#include <string.h>

enum { K = RETRIEVAL_K, TOGETHER = 16 };

typedef struct exact_run {
    const retrieval_set *set;
    const taper_index *index;
    const char *weights;
    retrieval_scan layers, rows; /* rows: where weights are even */
    retrieval_found found, truth;
    size_t rounds;
    double *nearest, *scan; /* [rounds] microseconds a query */
} exact_run;

static double time_nearest(const exact_run *run, size_t first, size_t n) {
    taper_error error = {0};
    const taper_index_search search = {.size = sizeof(taper_index_search),
                                       .queries = run->set->query + first * run->set->words,
                                       .n_queries = n,
                                       .k = K,
                                       .recall = 1,
                                       .threads = 1};
    const double start = bench_now();
    figures_check(taper_index_nearest(run->index, &search, run->found.number + first * K,
                                      run->found.distance + first * K, NULL, &error),
                  "nearest", &error);
    return 1e6 * (bench_now() - start) / (double)n;
}

static double time_scan(const exact_run *run, const retrieval_scan *scan, size_t first, size_t n) {
    const double start = bench_now();
    retrieval_scan_many(scan, run->set->query + first * run->set->words, n, K, 1,
                        run->truth.number + first * K, run->truth.distance + first * K);
    return 1e6 * (bench_now() - start) / (double)n;
}

/* Numbers and distances are those of the scan, or something is very wrong. */
static void check(const exact_run *run, size_t n) {
    if (memcmp(run->found.number, run->truth.number, n * K * sizeof *run->found.number) != 0 ||
        memcmp(run->found.distance, run->truth.distance, n * K * sizeof *run->found.distance) != 0)
        figures_die("exact search and a scan differ");
}

static void measure(exact_run *run, const retrieval_scan *scan, const char *arrays, size_t batch) {
    retrieval_lines lines = {.bench = "retrieval/scan", .set = run->set};
    const size_t rounds =
        run->set->queries / batch < run->rounds ? run->set->queries / batch : run->rounds;
    for (size_t i = 0; i < rounds; i++) { /* by turns: what else runs here slows both */
        run->nearest[i] = time_nearest(run, i * batch, batch);
        run->scan[i] = time_scan(run, scan, i * batch, batch);
    }
    check(run, rounds * batch);
    run->found.queries = rounds * batch;
    lines.recall = retrieval_recall_of(run->set, &run->truth, &run->found);
    const double nearest = retrieval_median(run->nearest, rounds);
    const double plain = retrieval_median(run->scan, rounds);
    snprintf(lines.more, sizeof lines.more,
             "\"weights\":\"%s\",\"k\":%d,\"threads\":1,\"batch\":%zu,\"queries\":%zu,"
             "\"scan_of\":\"%s\",",
             run->weights, K, batch, rounds * batch, arrays);
    lines.method = "nearest";
    retrieval_print(&lines, "query_median", nearest, "us");
    retrieval_print(&lines, "times_faster_than_scan", plain / nearest, "x");
    lines.method = "scan";
    retrieval_print(&lines, "query_median", plain, "us");
}

static void measure_weights(const retrieval *r, const retrieval_set *set, int falling) {
    retrieval_index index;
    exact_run run = {.set = set, .rounds = 200, .weights = falling ? "falling" : "even"};
    figures_say("scan: %zu codes of %zu bits, %s weights", set->n, set->bits, run.weights);
    retrieval_index_make(set, falling, r->threads, &index);
    run.index = index.index;
    run.layers = retrieval_scan_of_index(index.index);
    run.rows = retrieval_scan_of_set(set);
    run.found = retrieval_found_take(set->queries);
    run.truth = retrieval_found_take(set->queries);
    run.nearest = figures_memory(run.rounds, sizeof *run.nearest);
    run.scan = figures_memory(run.rounds, sizeof *run.scan);
    for (size_t batch = 1; batch <= TOGETHER; batch *= TOGETHER) {
        measure(&run, &run.layers, "layers", batch);
        if (!falling) measure(&run, &run.rows, "rows", batch);
    }
    free(run.nearest), free(run.scan);
    retrieval_found_free(&run.found), retrieval_found_free(&run.truth);
    retrieval_index_free(&index);
}

void retrieval_part_scan(const retrieval *r) {
    retrieval_set set;
    retrieval_set_read(r, &set);
    for (int falling = 0; falling < 2; falling++) measure_weights(r, &set, falling);
    retrieval_set_free(&set);
}
