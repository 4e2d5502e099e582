/* embedding_rows.h -- which rows an embedding learns from, and which are held out. */
#ifndef TRAIN_EMBEDDING_ROWS_H
#define TRAIN_EMBEDDING_ROWS_H
#include "train/embedding/embedding_options.h"

typedef struct train_embedding_rows {
    uint32_t *all;      /* [n] numbers of labelled rows, in random order: training, then held out */
    uint32_t *shuffled; /* [n_training] those of training in an epoch's order */
    size_t n, n_training;
    size_t batches;   /* of an epoch */
    uint32_t classes; /* the greatest label, and 1 */
    size_t met;       /* labels that rows have, and ... */
    size_t learned;   /* ... that training rows have ... */
    size_t lonely;    /* ... and that one of them has alone: it has no neighbour to find */
} train_embedding_rows;

/* Labelled rows of the data. rows zeroed before; free them after a failure, too. TAPER_ERR_ARG with
 * the remedy: too few labels, or too many values of them, or rows that are all the same;
 * TAPER_ERR_NOMEM. */
taper_status train_embedding_rows_take(train_embedding_rows *rows,
                                       const train_embedding_options *options,
                                       const train_pixels *data, taper_error *error);
void train_embedding_rows_free(train_embedding_rows *rows);

/* Batches of an epoch of so many rows, at least 1. */
size_t train_embedding_batches(const train_embedding_options *options, size_t rows);

/* The order of an epoch, from 0. */
void train_embedding_rows_shuffle(train_embedding_rows *rows, uint64_t seed, uint64_t epoch);

/* Batch i of an epoch: `shuffled` from *first on. */
static inline size_t train_embedding_batch(const train_embedding_rows *rows, size_t i,
                                           size_t *first) {
    *first = rows->n_training * i / rows->batches;
    return rows->n_training * (i + 1) / rows->batches - *first;
}
/* The most rows of a batch. */
static inline size_t train_embedding_largest_batch(const train_embedding_rows *rows) {
    return (rows->n_training + rows->batches - 1) / rows->batches;
}

#endif
