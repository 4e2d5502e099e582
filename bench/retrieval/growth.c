/* growth.c -- neighbourhoods by how many codes there are; see retrieval.h. */
#include "bench/retrieval/ordered.h"

enum { MOST_BITS = 256, TIMES = 10 }; /* of codes that there are ten times as many of */

static void measure(const retrieval *r, const retrieval_set *set) {
    retrieval_index index;
    figures_say("growth: %zu codes of %zu bits", set->n, set->bits);
    retrieval_found exact = retrieval_exact(set, r->threads);
    retrieval_index_make(set, 0, r->threads, &index);
    retrieval_ordered("retrieval/growth", set, index.index, &exact);
    retrieval_index_free(&index);
    retrieval_found_free(&exact);
}

void retrieval_part_growth(const retrieval *r) {
    retrieval_set set, part;
    retrieval_set_read(r, &set);
    for (size_t n = 1000; n <= set.n; n *= 10) {
        retrieval_set_front(&set, n, set.bits, &part);
        measure(r, &part);
        retrieval_set_free(&part);
    }
    if (set.bits <= MOST_BITS) {
        retrieval_set_multiply(&set, TIMES, r->seed, &part);
        measure(r, &part);
        retrieval_set_free(&part);
    } else {
        figures_say("growth: no %d times as many codes: only those of at most %d bits are "
                    "multiplied",
                    TIMES, MOST_BITS);
    }
    retrieval_set_free(&set);
}
