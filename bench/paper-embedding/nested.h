/* nested.h -- tables and pictures of codes whose every prefix is a code: error by the length that
 * is read, of one model for all lengths and of a model for each. */
#ifndef BENCH_PAPER_EMBEDDING_NESTED_H
#define BENCH_PAPER_EMBEDDING_NESTED_H
#include "bench/paper-embedding/embedding.h"

/* Sections of the page, where there are records: numbers, from nested.jsonl
 * (bench/nested_units.sh), and bits, from bits.jsonl (bench/nested_labels.sh). */
void embedding_put_nested(const embedding *e, FILE *to);

#endif
