/* embedding_rows.h -- which rows an embedding learns from, and which are held out. */
#ifndef TRAIN_EMBEDDING_ROWS_H
#define TRAIN_EMBEDDING_ROWS_H
#include "train/embedding/embedding_options.h"

typedef struct train_embedding_rows {
    uint32_t *all;    /* [n] numbers of labelled rows, in random order: training, guesses last, then
                         held out, no guess among them */
    uint32_t *others; /* [n_others] numbers of rows without a label, where they are learned from */
    uint32_t *shuffled; /* [epoch_rows] rows in an epoch's order, batch by batch: labelled ones of a
                           batch first */
    size_t n, n_training, n_others, epoch_rows;
    size_t guesses;          /* of the training rows' labels */
    size_t labelled_batches; /* after which labelled rows come again, where others are more */
    size_t batches;          /* of an epoch */
    uint32_t classes;        /* the greatest label, and 1 */
    size_t met;              /* labels that rows have, and ... */
    size_t learned;          /* ... that training rows have ... */
    size_t lonely;           /* ... and that one of them has alone: it has no neighbour to find */
} train_embedding_rows;

/* Labelled rows of the data, and the others where the options reconstruct. rows zeroed before; free
 * them after a failure, too. TAPER_ERR_ARG with the remedy: too few labels, or too many values of
 * them, or rows that are all the same; TAPER_ERR_NOMEM. */
taper_status train_embedding_rows_take(train_embedding_rows *rows,
                                       const train_embedding_options *options,
                                       const train_pixels *data, taper_error *error);
void train_embedding_rows_free(train_embedding_rows *rows);

/* label[data->n] = those of rows that are learned from, TRAIN_UNLABELLED where a row is held out or
 * has none; *classes: the greatest of all, and 1. Fails as train_embedding_rows_take. */
taper_status train_embedding_known(const train_embedding_options *options, const train_pixels *data,
                                   uint32_t *label, uint32_t *classes, taper_error *error);

/* Batches of an epoch of so many rows, at least 1. */
size_t train_embedding_batches(const train_embedding_options *options, size_t rows);

/* The order of an epoch, from 0. TAPER_ERR_NOMEM: it is what it was. */
taper_status train_embedding_rows_shuffle(train_embedding_rows *rows, uint64_t seed,
                                          uint64_t epoch);

/* Batch i of an epoch: `shuffled` from *first on, of which *labelled have a label. */
size_t train_embedding_batch(const train_embedding_rows *rows, size_t i, size_t *first,
                             size_t *labelled);
/* The most rows of a batch. */
size_t train_embedding_largest_batch(const train_embedding_rows *rows);

#endif
