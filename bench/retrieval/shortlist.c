/* shortlist.c -- the nearest by a quarter of the bits, ranked by all; see retrieval.h. */
#include "bench/bench.h"
#include "bench/retrieval/measure.h"
#include "formats/bytes.h"
#include <stdlib.h>

enum { SHORTLIST = 1000 };

typedef struct shortlist {
    const retrieval_set *set, *quarter;
    const taper_index *index; /* of the quarter */
    size_t length;
    uint32_t *number, *distance; /* [length] */
} shortlist;

static void look(const shortlist *s, size_t i, double recall) {
    taper_error error = {0};
    const taper_index_search search = {.size = sizeof(taper_index_search),
                                       .queries = s->quarter->query + i * s->quarter->words,
                                       .n_queries = 1,
                                       .k = s->length,
                                       .recall = recall,
                                       .threads = 1};
    figures_check(taper_index_nearest(s->index, &search, s->number, s->distance, NULL, &error),
                  "nearest", &error);
}

static void measure(const shortlist *s, double asked, const retrieval_found *exact) {
    const size_t n = s->set->queries;
    double *us = figures_memory(n, sizeof *us);
    retrieval_found found = retrieval_found_take(n);
    retrieval_lines lines = {.bench = "retrieval/shortlist", .method = "shortlist", .set = s->set};
    for (size_t i = 0; i < n; i++) {
        const double start = bench_now();
        look(s, i, asked);
        retrieval_rank_by_all(s->set, i, s->number, s->length, &found);
        us[i] = 1e6 * (bench_now() - start);
    }
    lines.recall = retrieval_recall_of(s->set, exact, &found);
    snprintf(lines.more, sizeof lines.more,
             "\"first_bits\":%zu,\"shortlist\":%zu,\"recall_asked\":%g,\"threads\":1,",
             s->quarter->bits, s->length, asked);
    retrieval_print(&lines, "recall", lines.recall.bits, "of 10");
    retrieval_print(&lines, "query_median", retrieval_median(us, n), "us");
    retrieval_found_free(&found);
    free(us);
}

void retrieval_part_shortlist(const retrieval *r) {
    static const double asked[] = {1, 0.95};
    retrieval_set set, quarter;
    retrieval_index index;
    retrieval_set_read(r, &set);
    retrieval_set_front(&set, set.n, (set.bits + 3) / 4, &quarter);
    figures_say("shortlist: %zu codes, %zu of %zu bits", set.n, quarter.bits, set.bits);
    retrieval_found exact = retrieval_exact(&set, r->threads);
    retrieval_index_make(&quarter, 0, r->threads, &index);
    shortlist s = {&set, &quarter, index.index, formats_smaller(SHORTLIST, set.n), NULL, NULL};
    s.number = figures_memory(s.length, sizeof *s.number);
    s.distance = figures_memory(s.length, sizeof *s.distance);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) measure(&s, asked[i], &exact);
    free(s.number), free(s.distance);
    retrieval_index_free(&index);
    retrieval_found_free(&exact);
    retrieval_set_free(&quarter);
    retrieval_set_free(&set);
}
