/* nested_errors.h -- what a nested-dropout autoencoder makes of data: codes, reconstructions, and
 * errors at every code length. */
#ifndef TRAIN_NESTED_ERRORS_H
#define TRAIN_NESTED_ERRORS_H
#include "train/device/feed.h"
#include "train/nested/nested_forward.h"
#include "train/sampling/dataset.h"
#include "train/sampling/truncation.h"

/* Rows for a network's device: n of a feed's, in an order from `first` on. */
typedef struct train_nested_data {
    train_feed *feed;         /* of D bytes a row, of a block at a time or more */
    const train_order *order; /* NULL: as they are numbered */
    size_t first, n;
} train_nested_data;

/* The host's pixels for a network's device, with an order of rows. It stays where it is: data has
 * addresses in it. */
typedef struct train_nested_lent {
    train_feed feed;
    train_order order;
    train_nested_data data;
} train_nested_lent;
/* order NULL: n rows of pixels. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is held. */
taper_status train_nested_lend(train_nested_lent *lent, train_nested_network *net,
                               const train_pixels *pixels, const uint32_t *order, size_t n);
void train_nested_lent_free(train_nested_lent *lent); /* leaves it zeroed; zeroed is fine */

/* Rows i .. i + n - 1 of data, until others are taken. n <= BLOCK. */
taper_status train_nested_rows_from(train_nested_network *net, const train_nested_data *data,
                                    size_t i, size_t n, train_nested_rows *rows);
/* The whole codes of n rows into code[n][K] on the device; their inputs stay in act.input. */
taper_status train_nested_encode_rows(train_nested_rows *rows, size_t n, float *code);
/* Codes x[n][K] of rows, uncorrupted, whole, to the host; preactivation 1: a instead of x (binary:
 * without b_L; feedback: without that). */
taper_status train_nested_codes(train_nested_network *net, const train_nested_data *data,
                                int preactivation, float *codes);
/* pixels[n][D] (8-bit scale, not clamped) from codes[n][K], of which the first `kept` count; both
 * are the host's. */
taper_status train_nested_decode(train_nested_network *net, const float *codes, size_t n,
                                 uint32_t kept, float *pixels);
/* Mean squared error per pixel component (8-bit scale) over rows at each of the code lengths
 * length[0 .. lengths), rising, 0 .. K. */
taper_status train_nested_errors(train_nested_network *net, const train_nested_data *data,
                                 const uint32_t *length, size_t lengths, double *mse);
/* Expected squared error over the truncation's lengths (equation 16) and at full length on rows;
 * lengths between 64 places are interpolated. NULL truncation: full length alone. */
taper_status train_nested_validate(train_nested_network *net, const train_truncation *truncation,
                                   const train_nested_data *data, double *expected, double *full);
#endif
