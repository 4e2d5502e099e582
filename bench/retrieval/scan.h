/* scan.h -- exact search that looks at all of every code: what is true, and what others are
 * compared with. It shares with the library how bits are counted, and no way to stop early. */
#ifndef BENCH_RETRIEVAL_SCAN_H
#define BENCH_RETRIEVAL_SCAN_H
#include "bench/retrieval/code_set.h"

typedef struct retrieval_scan {
    size_t n, words;
    size_t parts;                                  /* of a code, each an array of its own */
    const uint64_t *rows[CODEC_INDEX_MOST_LAYERS]; /* [n][width] */
    size_t width[CODEC_INDEX_MOST_LAYERS];
    uint32_t weight[CODEC_INDEX_MOST_LAYERS]; /* of a differing bit */
    const uint32_t *image;                    /* [n] numbers of codes; NULL: their places */
} retrieval_scan;

/* Of codes one behind the other, all bits the same; of an index's layers, with its weights. */
retrieval_scan retrieval_scan_of_set(const retrieval_set *set);
retrieval_scan retrieval_scan_of_index(const taper_index *index);

/* The k nearest of a query, nearest first, of the same distance the smaller number. */
void retrieval_scan_one(const retrieval_scan *scan, const uint64_t *query, size_t k,
                        uint32_t *number, uint32_t *distance);
/* number[n][k] and distance[n][k] of many queries, by threads. */
void retrieval_scan_many(const retrieval_scan *scan, const uint64_t *query, size_t n, size_t k,
                         unsigned threads, uint32_t *number, uint32_t *distance);

#endif
