/* lengths.c -- time and recall by code length, as in the paper's figure 3; see retrieval.h. */
#include "bench/bench.h"
#include "bench/retrieval/ordered.h"
#include "bench/retrieval/scan.h"
#include "bench/retrieval/semantic_hash.h"
#include "formats/bytes.h"
#include <stdlib.h>

static const char bench[] = "retrieval/lengths";
enum { MOST_RADIUS = 3 };
static const double most_seconds = 1, /* of a query that is still feasible */
    enough_seconds = 5;               /* of queries of one kind */

/* One length. */
typedef struct length_run {
    const retrieval_set *set;
    const taper_index *index;
    const retrieval_found *exact;
    double *us; /* [queries] */
} length_run;

static void measure_scan(const length_run *run) {
    const retrieval_scan scan = retrieval_scan_of_set(run->set);
    uint32_t number[RETRIEVAL_K], distance[RETRIEVAL_K];
    retrieval_lines lines = {.bench = bench, .method = "scan", .set = run->set};
    size_t n = 0;
    for (double seconds = 0; n < run->set->queries && seconds < enough_seconds; n++) {
        const double start = bench_now();
        retrieval_scan_one(&scan, run->set->query + n * run->set->words, RETRIEVAL_K, number,
                           distance);
        run->us[n] = 1e6 * (bench_now() - start);
        seconds += 1e-6 * run->us[n];
    }
    snprintf(lines.more, sizeof lines.more, "\"threads\":1,\"queries\":%zu,", n);
    lines.recall = retrieval_recall_of(run->set, run->exact, run->exact);
    retrieval_print(&lines, "query_median", retrieval_median(run->us, n), "us");
    retrieval_print(&lines, "looked_at_median", (double)run->set->n, "codes");
}

static void print_skip(const length_run *run, size_t radius, const char *why) {
    char config[256];
    snprintf(config, sizeof config,
             "{\"method\":\"semantic-hash\",\"codes\":\"%s\",\"n\":%zu,\"bits\":%zu,\"radius\":%zu,"
             "\"skipped\":\"%s\"}",
             run->set->kind, run->set->n, run->set->bits, radius, why);
    bench_print(bench, "codes_to_look_up", retrieval_hash_ball(run->set->bits, radius), "codes",
                config);
}

/* What is found of one query, ranked. */
static void rank_runs(const length_run *run, const retrieval_hash_run *runs, size_t n, size_t i,
                      retrieval_found *found) {
    double far[RETRIEVAL_K];
    codec_nearest_list list = retrieval_list(found, i, far);
    for (size_t j = 0; j < n; j++)
        retrieval_rank(run->index, run->set->query + i * run->set->words, runs[j].first,
                       runs[j].size, &list);
    retrieval_put(found, i, &list);
}

/* 0: it takes too long, and so does a greater radius. */
static int measure_radius(const length_run *run, const retrieval_hash *hash, size_t radius,
                          retrieval_hash_run *runs, retrieval_found *found) {
    retrieval_lines lines = {.bench = bench, .method = "semantic-hash", .set = run->set};
    size_t n = 0, looked_at = 0, codes = 0;
    for (double seconds = 0; n < run->set->queries && seconds < enough_seconds; n++) {
        const double start = bench_now();
        const size_t held = retrieval_hash_search(hash, run->set->query + n * run->set->words,
                                                  radius, runs, run->set->n, &looked_at);
        const double took = bench_now() - start;
        run->us[n] = 1e6 * took;
        seconds += took;
        if (took > most_seconds) return 0;
        for (size_t j = 0; j < held; j++) codes += runs[j].size;
        rank_runs(run, runs, held, n, found);
    }
    found->queries = n;
    lines.recall = retrieval_recall_of(run->set, run->exact, found);
    snprintf(lines.more, sizeof lines.more, "\"radius\":%zu,\"threads\":1,\"queries\":%zu,", radius,
             n);
    retrieval_print(&lines, "query_median", retrieval_median(run->us, n), "us");
    retrieval_print(&lines, "size_mean", (double)codes / (double)n, "codes");
    retrieval_print(&lines, "looked_at_median", (double)looked_at, "codes");
    return 1;
}

static void measure_hashing(const length_run *run) {
    retrieval_hash hash;
    retrieval_hash_make(&hash, run->index);
    retrieval_hash_run *runs = figures_memory(run->set->n, sizeof *runs);
    int goes = 1;
    for (size_t radius = 0; radius <= MOST_RADIUS && radius <= run->set->bits; radius++) {
        retrieval_found found = retrieval_found_take(run->set->queries);
        /* a place of the table takes a nanosecond at the very least */
        goes = goes && retrieval_hash_ball(run->set->bits, radius) < 1e9 * most_seconds &&
               measure_radius(run, &hash, radius, runs, &found);
        if (!goes) print_skip(run, radius, "a query takes more than a second");
        retrieval_found_free(&found);
    }
    free(runs);
    retrieval_hash_free(&hash);
}

static void measure_length(const retrieval *r, const retrieval_set *all, size_t bits) {
    retrieval_set set;
    retrieval_index index;
    retrieval_set_front(all, all->n, bits, &set);
    figures_say("lengths: %zu %s codes of %zu bits", set.n, set.kind, bits);
    retrieval_found exact = retrieval_exact(&set, r->threads);
    retrieval_index_make(&set, 0, r->threads, &index);
    const length_run run = {&set, index.index, &exact, figures_memory(set.queries, sizeof(double))};
    retrieval_ordered(bench, &set, index.index, &exact);
    measure_scan(&run);
    measure_hashing(&run);
    free(run.us);
    retrieval_index_free(&index);
    retrieval_found_free(&exact);
    retrieval_set_free(&set);
}

void retrieval_part_lengths(const retrieval *r) {
    retrieval_set real, drawn;
    retrieval_set_read(r, &real);
    for (size_t bits = 8; bits <= real.bits; bits *= 2) measure_length(r, &real, bits);
    retrieval_set_draw(r->seed, real.n, real.bits, real.queries, &drawn);
    retrieval_set_free(&real);
    for (size_t bits = 8; bits <= drawn.bits; bits *= 2) measure_length(r, &drawn, bits);
    retrieval_set_free(&drawn);
}
