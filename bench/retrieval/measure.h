/* measure.h -- times and recalls of searches, and the lines that tell them: none tells a time
 * without the recall that it buys. */
#ifndef BENCH_RETRIEVAL_MEASURE_H
#define BENCH_RETRIEVAL_MEASURE_H
#include "bench/retrieval/code_set.h"
#include "codec/search/nearest_list.h"

enum { RETRIEVAL_K = 10 }; /* recall is of so many neighbours */

/* Neighbours of queries, nearest first; a number UINT32_MAX: fewer were found. */
typedef struct retrieval_found {
    size_t queries;
    uint32_t *number, *distance; /* [queries][RETRIEVAL_K] */
} retrieval_found;

retrieval_found retrieval_found_take(size_t queries); /* nothing found so far */
void retrieval_found_free(retrieval_found *found);

/* By a scan of all codes, with weights 1. */
retrieval_found retrieval_exact(const retrieval_set *set, unsigned threads);
/* A list for row i, its distances in far[RETRIEVAL_K]; codes at n places of an index's order into
 * it, by all their bits; the row from it. */
codec_nearest_list retrieval_list(const retrieval_found *found, size_t i, double *far);
void retrieval_rank(const taper_index *index, const uint64_t *query, size_t first, size_t n,
                    codec_nearest_list *list);
void retrieval_put(retrieval_found *found, size_t i, codec_nearest_list *list);
/* Row i: the nearest by all bits of the codes that are numbered, as far as there are any. */
void retrieval_rank_by_all(const retrieval_set *set, size_t i, const uint32_t *number, size_t n,
                           retrieval_found *found);

/* Of the RETRIEVAL_K nearest, which share was found. By bits: those as near as the last of
 * them count. -1: not known. */
typedef struct retrieval_recall {
    double bits, real, pixels;
} retrieval_recall;

/* exact: at least as many queries. */
retrieval_recall retrieval_recall_of(const retrieval_set *set, const retrieval_found *exact,
                                     const retrieval_found *found);

/* Sorts. */
double retrieval_median(double *values, size_t n);

typedef struct retrieval_lines {
    const char *bench, *method;
    const retrieval_set *set;
    retrieval_recall recall;
    char more[160]; /* of the config: "", or "\"least\":2," */
} retrieval_lines;

void retrieval_print(const retrieval_lines *lines, const char *metric, double value,
                     const char *unit);

#endif
