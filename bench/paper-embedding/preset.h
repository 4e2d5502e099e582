/* preset.h -- what `train-labels` makes of sets, beside what needs no choice. */
#ifndef BENCH_PAPER_EMBEDDING_PRESET_H
#define BENCH_PAPER_EMBEDDING_PRESET_H
#include "bench/paper-embedding/embedding.h"

/* A section of the page, of sets with records in preset.jsonl (bench/preset_labels.sh). */
void embedding_put_preset(const embedding *e, FILE *to);

#endif
