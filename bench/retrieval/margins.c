/* margins.c -- what is found, ranked by how sure a query's bits are; see retrieval.h. */
#include "bench/bench.h"
#include "bench/retrieval/measure.h"
#include "bench/retrieval/models.h"
#include "formats/bytes.h"
#include <stdlib.h>

enum { TIMES = 5, SHORTLIST = 1000, DRAWN = 4 }; /* so many times what is kept is ranked */

typedef struct ranks {
    const retrieval_set *set;
    const float *margins; /* [queries][bits of the whole codes] */
    float *front;         /* [bits of an index] a query's */
    uint32_t *number, *distance;
} ranks;

/* Margins of the test images that are the set's queries, by the model that made its codes. */
static float *margins_of(const retrieval *r, const retrieval_set *set) {
    retrieval_images queries;
    retrieval_model model;
    retrieval_read_queries(r->data, set->queries, &queries);
    retrieval_model_open(&model, r->model, r->threads);
    if (model.width != set->bits) figures_die("%s: not the model of the codes", r->model);
    float *margins = figures_memory(set->queries, set->bits * sizeof *margins);
    model.keeps_margins = 1;
    retrieval_model_codes(&model, &queries, margins);
    for (size_t i = 0; i < set->queries; i++)
        for (size_t b = 0; b < set->bits; b++)
            if ((margins[i * set->bits + b] > 0) !=
                (set->query[i * set->words + b / 64] >> (63 - b % 64) & 1))
                figures_die("%s: query %zu has other bits than its code", r->model, i);
    retrieval_model_close(&model);
    retrieval_images_free(&queries);
    return margins;
}

/* The `found` nearest of query i by an index of the set's first bits; ranked by margins, or not. */
static void look(const ranks *s, const retrieval_set *front, const taper_index *index, size_t i,
                 size_t found, int by_margins) {
    taper_error error = {0};
    const uint64_t *query = front->query + i * front->words;
    const taper_index_search search = {.size = sizeof(taper_index_search),
                                       .queries = query,
                                       .n_queries = 1,
                                       .k = found,
                                       .recall = 1,
                                       .threads = 1};
    figures_check(taper_index_nearest(index, &search, s->number, s->distance, NULL, &error),
                  "nearest", &error);
    if (!by_margins) return;
    for (size_t b = 0; b < front->bits; b++) s->front[b] = s->margins[i * s->set->bits + b];
    const taper_index_ranking ranking = {sizeof(taper_index_ranking), query, s->front, 1, found};
    figures_check(taper_index_rank(index, &ranking, s->number, s->distance, &error), "rank",
                  &error);
}

static void print(const ranks *s, const char *what, int by_margins, const retrieval_found *exact,
                  const retrieval_found *found) {
    retrieval_lines lines = {.bench = "retrieval/margins",
                             .method = by_margins ? "margins" : "distance",
                             .set = s->set,
                             .recall = retrieval_recall_of(s->set, exact, found)};
    snprintf(lines.more, sizeof lines.more, "\"what\":\"%s\",\"queries\":%zu,", what,
             s->set->queries);
    retrieval_print(&lines, "recall_bits", lines.recall.bits, "of 10");
    retrieval_print(&lines, "recall_real", lines.recall.real, "of 10");
    retrieval_print(&lines, "recall_pixels", lines.recall.pixels, "of 10");
}

/* The ten nearest, of fifty. */
static void measure_nearest(const ranks *s, int falling, const retrieval_found *exact) {
    enum { K = RETRIEVAL_K };
    retrieval_index index;
    retrieval_index_make(s->set, falling, 1, &index);
    for (int by_margins = 0; by_margins < 2; by_margins++) {
        retrieval_found found = retrieval_found_take(s->set->queries);
        for (size_t i = 0; i < s->set->queries; i++) {
            look(s, s->set, index.index, i, formats_smaller(TIMES * K, s->set->n), by_margins);
            for (size_t j = 0; j < K; j++) {
                const uint64_t *code = s->set->codes + s->number[j] * s->set->words;
                found.number[i * K + j] = s->number[j];
                found.distance[i * K + j] =
                    codec_bits_distance(s->set->query + i * s->set->words, code, s->set->words);
            }
        }
        print(s, falling ? "nearest, falling weights" : "nearest, even weights", by_margins, exact,
              &found);
        retrieval_found_free(&found);
    }
    retrieval_index_free(&index);
}

/* 1,000 by the first quarter of bits, ranked by all. */
static void measure_shortlist(const ranks *s, const retrieval_found *exact) {
    retrieval_set quarter;
    retrieval_index index;
    retrieval_set_front(s->set, s->set->n, (s->set->bits + 3) / 4, &quarter);
    retrieval_index_make(&quarter, 0, 1, &index);
    for (int by_margins = 0; by_margins < 2; by_margins++) {
        retrieval_found found = retrieval_found_take(s->set->queries);
        for (size_t i = 0; i < s->set->queries; i++) {
            look(s, &quarter, index.index, i, formats_smaller(DRAWN * SHORTLIST, quarter.n),
                 by_margins);
            retrieval_rank_by_all(s->set, i, s->number, formats_smaller(SHORTLIST, quarter.n),
                                  &found);
        }
        print(s, "1000 by a quarter of the bits, ranked by all", by_margins, exact, &found);
        retrieval_found_free(&found);
    }
    retrieval_index_free(&index);
    retrieval_set_free(&quarter);
}

void retrieval_part_margins(const retrieval *r) {
    retrieval_set set;
    if (!r->model) figures_die("margins needs --model");
    retrieval_set_read(r, &set);
    figures_say("margins: %zu codes of %zu bits, %zu queries", set.n, set.bits, set.queries);
    float *margins = margins_of(r, &set);
    retrieval_found exact = retrieval_exact(&set, r->threads);
    ranks s = {.set = &set, .margins = margins};
    s.front = figures_memory(set.bits, sizeof *s.front);
    s.number = figures_memory(DRAWN * SHORTLIST, sizeof *s.number);
    s.distance = figures_memory(DRAWN * SHORTLIST, sizeof *s.distance);
    measure_nearest(&s, 1, &exact);
    measure_nearest(&s, 0, &exact);
    measure_shortlist(&s, &exact);
    free(margins), free(s.front), free(s.number), free(s.distance);
    retrieval_found_free(&exact);
    retrieval_set_free(&set);
}
