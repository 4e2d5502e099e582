/* code_set.h -- codes of bits that a part searches in, its queries, what is true of them, and an
 * index of them. */
#ifndef BENCH_RETRIEVAL_CODE_SET_H
#define BENCH_RETRIEVAL_CODE_SET_H
#include "bench/retrieval/retrieval.h"
#include "codec/search/index.h"

typedef struct retrieval_set {
    const char *kind; /* "real", or how they were drawn */
    size_t n, bits, words, queries;
    uint64_t *codes;         /* [n][words] */
    uint64_t *query;         /* [queries][words] */
    uint32_t *real, *pixels; /* [queries][RETRIEVAL_NEIGHBOURS] true neighbours by these; NULL:
                                not known of these n codes */
} retrieval_set;

/* What retrieval_part_codes has written to r->out, and retrieval_part_truth to r->truth: the first
 * r->images codes and r->queries queries, the first r->bits bits of each (0: all). */
void retrieval_set_read(const retrieval *r, retrieval_set *set);
/* The first n codes of a set, the first `bits` bits of them and of its queries. */
void retrieval_set_front(const retrieval_set *of, size_t n, size_t bits, retrieval_set *set);
/* Codes and queries of bits that are 1 with probability 0.2, independently: those that the paper
 * reckons with. */
void retrieval_set_draw(uint64_t seed, size_t n, size_t bits, size_t queries, retrieval_set *set);
/* `times` codes for each of a set: itself, and others in which one bit in 16 is turned. */
void retrieval_set_multiply(const retrieval_set *of, size_t times, uint64_t seed,
                            retrieval_set *set);
void retrieval_set_free(retrieval_set *set);

typedef struct retrieval_index {
    taper_index *index;
    double seconds; /* that building took */
    void *bytes;    /* of the file, in memory */
    size_t size;
} retrieval_index;

/* falling: a bit of each layer weighs half of one of the layer before, as `taper index` has it;
 * else all weigh 1. */
void retrieval_index_make(const retrieval_set *set, int falling, unsigned threads,
                          retrieval_index *out);
void retrieval_index_free(retrieval_index *index);

#endif
