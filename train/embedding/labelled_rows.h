/* labelled_rows.h -- rows of numbers with labels, as they are or as bytes: what linear maps are
 * learned from. */
#ifndef TRAIN_LABELLED_ROWS_H
#define TRAIN_LABELLED_ROWS_H
#include "train/sampling/dataset.h"

/* Labels are below this: their sums are kept. */
enum { TRAIN_MOST_CLASSES = 1 << 16 };

/* Borrowed. */
typedef struct train_labelled_rows {
    const float *numbers; /* [n][inputs] as they are; NULL: bytes */
    const uint8_t *bytes; /* [n][inputs] y, each of which stands for the number y / 255 */
    size_t n;
    uint32_t inputs;
    const uint32_t *label; /* [n] class, UINT32_MAX: it has none; NULL: none has */
} train_labelled_rows;

train_labelled_rows train_labelled_pixels(const train_pixels *pixels);

/* What a value is multiplied with to be the number that it stands for: 1 / 255 of bytes, else 1. */
double train_labelled_unit(const train_labelled_rows *rows);

/* mean[inputs] of all rows' values. TAPER_ERR_NOMEM. */
taper_status train_labelled_mean(const train_labelled_rows *rows, float *mean);

/* to[count][inputs] = the values of rows order[0 .. count - 1], or, order being NULL, of rows
 * first .. first + count - 1; less less[inputs], or NULL. Bytes are whole numbers then, which sums
 * keep exactly. */
void train_labelled_read(const train_labelled_rows *rows, const size_t *order, size_t first,
                         size_t count, const float *less, float *to);

/* Labelled rows. */
typedef struct train_labelled_found {
    size_t *order; /* [n] their numbers, rising */
    size_t n;
    uint32_t classes; /* the greatest label, and 1 */
    uint32_t met;     /* labels that rows have */
} train_labelled_found;

/* Find them, and that all numbers are finite. found is zeroed before; free it after a failure, too.
 * TAPER_ERR_ARG with the remedy: a number that is not finite, labels of TRAIN_MOST_CLASSES or more,
 * no labels, one label alone; TAPER_ERR_NOMEM. */
taper_status train_labelled_find(const train_labelled_rows *rows, train_labelled_found *found,
                                 taper_error *error);
void train_labelled_found_free(train_labelled_found *found);

/* There are two rows at least, and all numbers are finite. TAPER_ERR_ARG with the remedy. */
taper_status train_labelled_check(const train_labelled_rows *rows, taper_error *error);

#endif
