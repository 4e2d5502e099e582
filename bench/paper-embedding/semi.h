/* semi.h -- on the page: few labels, codes that reconstruct, too, and nested codes. */
#ifndef BENCH_PAPER_EMBEDDING_SEMI_H
#define BENCH_PAPER_EMBEDDING_SEMI_H
#include "bench/paper-embedding/embedding.h"

/* Nonlinear NCA's section 5 from the cells' records, and nested codes from OUT/nested.jsonl
 * (bench/nested_units.sh), with a plot OUT/nested.svg. */
void embedding_put_semi(const embedding *e, FILE *to);
#endif
