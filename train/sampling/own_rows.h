/* own_rows.h -- the rows of batches that this rank has (train/parallel/ranks.h).
 *
 * All ranks order the rows of all images alike. Of each batch a rank computes its own rows. Random
 * numbers of a row depend on its position in the batch, so they do not depend on the ranks. */
#ifndef TRAIN_OWN_ROWS_H
#define TRAIN_OWN_ROWS_H
#include "train/sampling/dataset.h"

typedef struct train_own_rows {
    uint32_t *place;    /* [room] where the rows are in memory */
    uint32_t *position; /* [room] their positions in their batches, rising in each */
    size_t *begin;      /* [batches + 1] the first of each batch */
    size_t batches, room;
} train_own_rows;

/* For up to `batches` batches of n rows in all, of which `rows` lists a superset. TAPER_ERR_NOMEM:
 * nothing is held. */
taper_status train_own_rows_open(train_own_rows *own, const train_pixels *data,
                                 const uint32_t *rows, size_t n, size_t batches);
void train_own_rows_free(train_own_rows *own); /* leaves it zeroed */

/* Batch i has rows[i * batch ..], the last possibly fewer; n rows in all. */
void train_own_rows_pick(train_own_rows *own, const train_pixels *data, const uint32_t *rows,
                         size_t n, size_t batch);

/* The number of rows of a batch. */
size_t train_own_count(const train_own_rows *own, size_t batch);

/* Moves rows of `bytes` bytes, of which the first `own` are those of this rank, to their rising
 * positions among n; the others become 0. */
void train_spread_rows(void *rows, size_t bytes, const uint32_t *position, size_t own, size_t n);
/* The reverse: the rows at these positions become the first ones; the others are undefined. */
void train_pack_rows(void *rows, size_t bytes, const uint32_t *position, size_t own);

/* The labels of the rows that are here, by their places: label[place]. malloc'd, or NULL if there
 * are no labels. TAPER_ERR_NOMEM. */
taper_status train_own_labels(const train_pixels *data, uint32_t **label);

/* The number of rows that are here. */
size_t train_rows_here(const train_pixels *data);

/* A hash of all rows, on all ranks; independent of their number. */
taper_status train_hash_rows(const train_pixels *data, uint64_t *hash, taper_error *error);

#endif
