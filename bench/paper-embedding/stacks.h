/* stacks.h -- pretrained layers, learned once for all cells of a set, split and seed. */
#ifndef BENCH_PAPER_EMBEDDING_STACKS_H
#define BENCH_PAPER_EMBEDDING_STACKS_H
#include "bench/paper-embedding/cells.h"
#include "bench/paper-embedding/embedding.h"
#include "bench/paper-embedding/settings.h"
#include "train/rbm/rbm.h"

/* The stack of a cell: the hidden layers of its settings, and Gaussian units for its dims on top.
 * Each layer lies in a file of WORK whose name tells all that it depends on; one that is there is
 * read, the others are learned. The caller frees it. */
void embedding_stack(embedding *e, const embedding_cell *cell, const embedding_settings *s,
                     const train_pixels *rows, train_rbm_stack *stack);
#endif
