/* query_time.c -- neighbourhoods of real codes of all their bits; see retrieval.h. */
#include "bench/retrieval/ordered.h"

void retrieval_part_query_time(const retrieval *r) {
    retrieval_set set;
    retrieval_index index;
    retrieval_set_read(r, &set);
    figures_say("query-time: %zu codes of %zu bits: exact search", set.n, set.bits);
    retrieval_found exact = retrieval_exact(&set, r->threads);
    retrieval_index_make(&set, 0, r->threads, &index);
    retrieval_ordered("retrieval/query-time", &set, index.index, &exact);
    retrieval_index_free(&index);
    retrieval_found_free(&exact);
    retrieval_set_free(&set);
}
