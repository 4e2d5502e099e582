/* ordered.c -- see ordered.h. */
#include "bench/retrieval/ordered.h"
#include "bench/bench.h"
#include <stdlib.h>

enum { PASSES = 5 };

typedef struct ordered {
    const retrieval_set *set;
    const taper_index *index;
    size_t least;
    taper_index_range *range; /* [queries] */
    double *value;            /* [PASSES * queries] what a median is taken of */
} ordered;

static void look(const ordered *o, size_t i) {
    taper_error error = {0};
    o->range[i].size = sizeof o->range[i];
    figures_check(taper_index_neighbourhood(o->index, o->set->query + i * o->set->words,
                                            (uint32_t)o->set->bits, o->least, &o->range[i], &error),
                  "neighbourhood", &error);
}

/* Microseconds that looking at the clock takes. */
static double clock_time(const ordered *o) {
    for (size_t i = 0; i < o->set->queries; i++) {
        const double start = bench_now();
        o->value[i] = 1e6 * (bench_now() - start);
    }
    return retrieval_median(o->value, o->set->queries);
}

static double single_time(const ordered *o) {
    double *value = o->value;
    const double clock = clock_time(o);
    for (size_t pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < o->set->queries; i++) {
            const double start = bench_now();
            look(o, i);
            *value++ = 1e6 * (bench_now() - start);
        }
    return retrieval_median(o->value, PASSES * o->set->queries) - clock;
}

static double mean_time(const ordered *o) {
    const double start = bench_now();
    for (size_t pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < o->set->queries; i++) look(o, i);
    return 1e6 * (bench_now() - start) / (double)(PASSES * o->set->queries);
}

/* With ranking, whose results are kept. */
static double ranked_time(const ordered *o, retrieval_found *found) {
    for (size_t i = 0; i < o->set->queries; i++) {
        double far[RETRIEVAL_K];
        const double start = bench_now();
        codec_nearest_list list = retrieval_list(found, i, far);
        look(o, i);
        retrieval_rank(o->index, o->set->query + i * o->set->words, o->range[i].first,
                       o->range[i].count, &list);
        retrieval_put(found, i, &list);
        o->value[i] = 1e6 * (bench_now() - start);
    }
    return retrieval_median(o->value, o->set->queries);
}

static void print_ranges(const ordered *o, const retrieval_lines *lines) {
    const size_t n = o->set->queries;
    double sum = 0;
    for (size_t i = 0; i < n; i++) o->value[i] = (double)o->range[i].depth;
    retrieval_print(lines, "depth_median", retrieval_median(o->value, n), "bits");
    for (size_t i = 0; i < n; i++) o->value[i] = (double)o->range[i].size;
    retrieval_print(lines, "size_median", retrieval_median(o->value, n), "codes");
    for (size_t i = 0; i < n; i++) sum += (double)o->range[i].size;
    retrieval_print(lines, "size_mean", sum / (double)n, "codes");
    for (size_t i = 0; i < n; i++) o->value[i] = (double)o->range[i].looked_at;
    retrieval_print(lines, "looked_at_median", retrieval_median(o->value, n), "codes");
}

static void measure(const ordered *o, const char *bench, const retrieval_found *exact) {
    retrieval_lines lines = {.bench = bench, .method = "ordered", .set = o->set};
    retrieval_found found = retrieval_found_take(o->set->queries);
    snprintf(lines.more, sizeof lines.more, "\"least\":%zu,\"threads\":1,", o->least);
    mean_time(o); /* warm */
    const double single = single_time(o), mean = mean_time(o), ranked = ranked_time(o, &found);
    lines.recall = retrieval_recall_of(o->set, exact, &found);
    retrieval_print(&lines, "query_median", single, "us");
    retrieval_print(&lines, "query_mean", mean, "us");
    retrieval_print(&lines, "ranked_query_median", ranked, "us");
    print_ranges(o, &lines);
    retrieval_found_free(&found);
}

void retrieval_ordered(const char *bench, const retrieval_set *set, const taper_index *index,
                       const retrieval_found *exact) {
    ordered o = {.set = set, .index = index};
    o.range = figures_memory(set->queries, sizeof *o.range);
    o.value = figures_memory(PASSES * set->queries, sizeof *o.value);
    for (o.least = 2; o.least <= 512 && o.least <= set->n; o.least *= 16) measure(&o, bench, exact);
    free(o.range), free(o.value);
}
