/* learn.h -- a cell to a network that makes its codes. */
#ifndef BENCH_PAPER_EMBEDDING_LEARN_H
#define BENCH_PAPER_EMBEDDING_LEARN_H
#include "bench/paper-embedding/cells.h"
#include "bench/paper-embedding/embedding.h"
#include "codec/transform/network.h"
#include "train/sampling/dataset.h"

typedef struct embedding_learned {
    codec_network net; /* of no kind EMBEDDING_PIXELS: inputs 0 */
    double minutes;    /* in this process */
    double alpha;      /* at the end; 0: there is none */
    char settings[512];
} embedding_learned;

/* Learn on these rows, all of them labelled. The state is kept in WORK as it goes, by the cell's
 * name and all that decides what is learned: a run that was stopped goes on, one that is finished
 * is read. */
void embedding_learn(embedding *e, const embedding_cell *cell, const train_pixels *rows,
                     embedding_learned *out);
void embedding_learned_free(embedding_learned *learned);
#endif
