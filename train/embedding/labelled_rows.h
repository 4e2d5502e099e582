/* labelled_rows.h -- labelled rows of floats or bytes, the data for computing linear maps. */
#ifndef TRAIN_LABELLED_ROWS_H
#define TRAIN_LABELLED_ROWS_H
#include "train/sampling/dataset.h"

/* Labels must be below this, because memory is needed for each class. */
enum { TRAIN_MOST_CLASSES = 1 << 16 };

/* Borrowed. */
typedef struct train_labelled_rows {
    const float *numbers; /* [n][inputs]; NULL: bytes are given */
    /* [n][inputs] y, each of which represents the number y / 255 */
    const uint8_t *bytes;
    size_t n;
    uint32_t inputs;
    /* [n] class, UINT32_MAX: none; NULL: no row has a label */
    const uint32_t *label;
    /* Of bytes: ranks that share the rows, and where they are, as in train_pixels. */
    train_ranks *ranks;
    const uint32_t *place;
} train_labelled_rows;

train_labelled_rows train_labelled_pixels(const train_pixels *pixels);

/* Returns 1 if row i is on this rank. */
int train_labelled_is_here(const train_labelled_rows *rows, size_t i);

/* The factor from a stored value to the number it represents: 1 / 255 for bytes, else 1. */
double train_labelled_unit(const train_labelled_rows *rows);

/* mean[inputs] of the values of all rows. TAPER_ERR_NOMEM. */
taper_status train_labelled_mean(const train_labelled_rows *rows, float *mean);

/* to[count][inputs] = the values of rows order[0 .. count - 1], or with order NULL of rows first ..
 * first + count - 1, minus less[inputs] (or NULL). Bytes without `less` are integers, whose sums
 * are exact. All rows are here. */
void train_labelled_read(const train_labelled_rows *rows, const size_t *order, size_t first,
                         size_t count, const float *less, float *to);

/* Labelled rows. */
typedef struct train_labelled_found {
    size_t *order; /* [n] row numbers, rising */
    size_t n;
    uint32_t classes;  /* the greatest label plus 1 */
    uint32_t distinct; /* distinct labels */
} train_labelled_found;

/* Finds the labelled rows and checks that all numbers are finite. found must be zeroed; free it
 * after a failure too. TAPER_ERR_ARG with the remedy: a number that is not finite, labels of
 * TRAIN_MOST_CLASSES or more, no labels, only one label; TAPER_ERR_NOMEM. */
taper_status train_labelled_find(const train_labelled_rows *rows, train_labelled_found *found,
                                 taper_error *error);
void train_labelled_found_free(train_labelled_found *found);

/* Checks that there are at least two rows and all numbers are finite. TAPER_ERR_ARG with the
 * remedy. */
taper_status train_labelled_check(const train_labelled_rows *rows, taper_error *error);

#endif
