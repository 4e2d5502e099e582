/* embedding_rows.h -- the split of rows into training and held-out ones, and their batches. */
#ifndef TRAIN_EMBEDDING_ROWS_H
#define TRAIN_EMBEDDING_ROWS_H
#include "train/embedding/embedding_options.h"

typedef struct train_embedding_rows {
    /* [n] numbers of labelled rows, in random order: training rows, with guessed labels last, and
     * then held-out rows, without guessed labels. */
    uint32_t *all;
    /* [n_others] numbers of unlabelled rows, if they are trained on */
    uint32_t *others;
    /* [epoch_rows] rows of an epoch in order, batch by batch, labelled rows of a batch first. */
    uint32_t *shuffled;
    size_t n, n_training, n_others, epoch_rows;
    /* Guessed labels among the training rows. */
    size_t guesses;
    /* Batches until labelled rows repeat, if unlabelled ones are more. */
    size_t labelled_batches;
    size_t batches;   /* of an epoch */
    uint32_t classes; /* the greatest label plus 1 */
    size_t distinct;  /* distinct labels of rows */
    size_t learned;   /* distinct labels of training rows */
    /* Of these, labels that only one training row has. */
    size_t singletons;
} train_embedding_rows;

/* Selects the labelled rows of the data, and also the unlabelled ones if the options have
 * `reconstruct`. rows must be zeroed; free them after a failure too. TAPER_ERR_ARG with the remedy:
 * too few labels, too many distinct labels, or rows that are all equal; TAPER_ERR_NOMEM. */
taper_status train_embedding_rows_take(train_embedding_rows *rows,
                                       const train_embedding_options *options,
                                       const train_pixels *data, taper_error *error);
void train_embedding_rows_free(train_embedding_rows *rows);

/* label[data->n] = the labels of training rows, TRAIN_UNLABELLED for held-out and unlabelled ones.
 * *classes: the greatest of all labels plus 1. Fails as train_embedding_rows_take. */
taper_status train_embedding_known(const train_embedding_options *options, const train_pixels *data,
                                   uint32_t *label, uint32_t *classes, taper_error *error);

/* Number of batches of an epoch of `rows` rows, at least 1. */
size_t train_embedding_batches(const train_embedding_options *options, size_t rows);

/* Shuffles the rows for an epoch, counted from 0. TAPER_ERR_NOMEM: the order is unchanged. */
taper_status train_embedding_rows_shuffle(train_embedding_rows *rows, uint64_t seed,
                                          uint64_t epoch);

/* Returns the size of batch i of an epoch: `shuffled` from *first on, with *labelled labelled
 * rows. */
size_t train_embedding_batch(const train_embedding_rows *rows, size_t i, size_t *first,
                             size_t *labelled);
/* The size of the largest batch. */
size_t train_embedding_largest_batch(const train_embedding_rows *rows);

#endif
