/* semantic_hash.h -- all codes within a Hamming distance of a query, by a hash table in which every
 * code that is so near is looked up: Salakhutdinov & Hinton 2009, what figure 3 of the paper
 * compares with. A hash of 64 bits stands for a code: two of a million are alike once in 30 million
 * tables. */
#ifndef BENCH_RETRIEVAL_SEMANTIC_HASH_H
#define BENCH_RETRIEVAL_SEMANTIC_HASH_H
#include "codec/search/index.h"

typedef struct retrieval_hash_run {
    uint64_t hash;
    uint32_t first, size; /* codes of an index's order that are the same; size 0: an empty place */
} retrieval_hash_run;

typedef struct retrieval_hash {
    size_t bits, words;
    uint64_t *turn; /* [bits] how a hash changes where the bit does */
    retrieval_hash_run *run;
    uint64_t mask; /* places in run, a power of 2, less 1 */
} retrieval_hash;

void retrieval_hash_make(retrieval_hash *hash, const taper_index *index);
void retrieval_hash_free(retrieval_hash *hash);

/* How many codes are within a radius of one. */
double retrieval_hash_ball(size_t bits, size_t radius);
/* run[most] of the codes within the radius; how many runs there are, at most `most`. looked_at:
 * codes that were looked up. */
size_t retrieval_hash_search(const retrieval_hash *hash, const uint64_t *query, size_t radius,
                             retrieval_hash_run *run, size_t most, size_t *looked_at);

#endif
