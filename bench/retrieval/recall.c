/* recall.c -- nearest neighbours by the recall that is asked for; see retrieval.h. */
#include "bench/bench.h"
#include "bench/retrieval/measure.h"
#include "bench/retrieval/scan.h"
#include <stdlib.h>

typedef struct recall_run {
    const retrieval_set *set;
    const taper_index *index;
    const retrieval_found *exact;
    const char *weights;
    unsigned threads;
    double *us;          /* [queries] */
    uint64_t *looked_at; /* [queries] */
} recall_run;

static void search(const recall_run *run, double recall, unsigned threads, size_t first, size_t n,
                   retrieval_found *found) {
    taper_error error = {0};
    const taper_index_search search = {.size = sizeof(taper_index_search),
                                       .queries = run->set->query + first * run->set->words,
                                       .n_queries = n,
                                       .k = RETRIEVAL_K,
                                       .recall = recall,
                                       .threads = threads};
    figures_check(taper_index_nearest(run->index, &search, found->number + first * RETRIEVAL_K,
                                      found->distance + first * RETRIEVAL_K, run->looked_at + first,
                                      &error),
                  "nearest", &error);
}

/* Words of codes that a query looks at, of all there are. */
static double share_looked_at(const recall_run *run) {
    double sum = 0;
    for (size_t i = 0; i < run->set->queries; i++) sum += (double)run->looked_at[i];
    return sum / ((double)run->set->queries * (double)run->set->n * (double)run->set->words);
}

static void measure(const recall_run *run, double asked) {
    const size_t n = run->set->queries;
    retrieval_found found = retrieval_found_take(n);
    retrieval_lines lines = {.bench = "retrieval/recall", .method = "nearest", .set = run->set};
    for (size_t i = 0; i < n; i++) {
        const double start = bench_now();
        search(run, asked, 1, i, 1, &found);
        run->us[i] = 1e6 * (bench_now() - start);
    }
    lines.recall = retrieval_recall_of(run->set, run->exact, &found);
    snprintf(lines.more, sizeof lines.more,
             "\"weights\":\"%s\",\"k\":%d,\"recall_asked\":%g,\"threads\":1,\"batch\":1,",
             run->weights, RETRIEVAL_K, asked);
    retrieval_print(&lines, "query_median", retrieval_median(run->us, n), "us");
    retrieval_print(&lines, "looked_at", share_looked_at(run), "of all words");
    const double start = bench_now();
    search(run, asked, run->threads, 0, n, &found);
    const double seconds = bench_now() - start;
    snprintf(lines.more, sizeof lines.more,
             "\"weights\":\"%s\",\"k\":%d,\"recall_asked\":%g,\"threads\":%u,\"batch\":%zu,",
             run->weights, RETRIEVAL_K, asked, run->threads, n);
    retrieval_print(&lines, "queries_per_second", (double)n / seconds, "1/s");
    retrieval_found_free(&found);
}

static void measure_weights(const retrieval *r, const retrieval_set *set, int falling) {
    static const double asked[] = {0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 1};
    retrieval_index index;
    figures_say("recall: %zu codes of %zu bits, %s weights", set->n, set->bits,
                falling ? "falling" : "even");
    retrieval_index_make(set, falling, r->threads, &index);
    const retrieval_scan scan = retrieval_scan_of_index(index.index);
    retrieval_found exact = retrieval_found_take(set->queries);
    retrieval_scan_many(&scan, set->query, set->queries, RETRIEVAL_K, r->threads, exact.number,
                        exact.distance);
    const recall_run run = {set,
                            index.index,
                            &exact,
                            falling ? "falling" : "even",
                            r->threads ? r->threads : codec_pool_cores(),
                            figures_memory(set->queries, sizeof *run.us),
                            figures_memory(set->queries, sizeof *run.looked_at)};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) measure(&run, asked[i]);
    free(run.us), free(run.looked_at);
    retrieval_found_free(&exact);
    retrieval_index_free(&index);
}

void retrieval_part_recall(const retrieval *r) {
    retrieval_set set;
    retrieval_set_read(r, &set);
    for (int falling = 0; falling < 2; falling++) measure_weights(r, &set, falling);
    retrieval_set_free(&set);
}
