/* ordered.h -- nested neighbourhoods of many queries, timed on one thread. */
#ifndef BENCH_RETRIEVAL_ORDERED_H
#define BENCH_RETRIEVAL_ORDERED_H
#include "bench/retrieval/measure.h"

/* Lines for neighbourhoods of at least 2, 32 and 512 codes, as far as there are so many: medians
 * over queries of microseconds of one call, of one with ranking, of depth, size and codes looked
 * at; and what a call takes in the mean where they follow each other. Recall is that of the
 * neighbourhood, ranked. */
void retrieval_ordered(const char *bench, const retrieval_set *set, const taper_index *index,
                       const retrieval_found *exact);

#endif
