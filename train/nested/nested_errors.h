/* nested_errors.h -- evaluation of a nested-dropout autoencoder: codes, reconstructions, and errors
 * at every code length. */
#ifndef TRAIN_NESTED_ERRORS_H
#define TRAIN_NESTED_ERRORS_H
#include "train/device/feed.h"
#include "train/nested/nested_forward.h"
#include "train/sampling/dataset.h"
#include "train/sampling/truncation.h"

/* Rows for a network's device: n rows of a feed, in an order, starting at `first`. With several
 * ranks (train/parallel/ranks.h) they are the rows that are here, of `of` on all of them. */
typedef struct train_nested_data {
    /* Of D bytes a row, and takes of at least a block. */
    train_feed *feed;
    const train_order *order; /* NULL: in ascending order */
    size_t first, n;
    train_ranks *ranks; /* NULL: one, and `of` does not matter */
    size_t of;
} train_nested_data;

/* The host's pixels for a network's device, with an order of rows. Do not move it in memory,
 * because `data` points into it. */
typedef struct train_nested_source {
    train_feed feed;
    train_order order;
    train_nested_data data;
} train_nested_source;
/* order NULL: the n rows of pixels. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is held. */
taper_status train_nested_source_open(train_nested_source *source, train_nested_network *net,
                                      const train_pixels *pixels, const uint32_t *order, size_t n);
void train_nested_source_close(train_nested_source *source); /* leaves it zeroed; zeroed is fine */

/* Rows i .. i + n - 1 of data, valid until the next call. n <= BLOCK. */
taper_status train_nested_rows_from(train_nested_network *net, const train_nested_data *data,
                                    size_t i, size_t n, train_nested_rows *rows);
/* The full codes of n rows into code[n][K] on the device; their inputs remain in act.input. */
taper_status train_nested_encode_rows(train_nested_rows *rows, size_t n, float *code);
/* Full codes x[n][K] of uncorrupted rows, to the host. preactivation 1: a in place of x; for binary
 * units without b_L, and with feedback without its contribution. */
taper_status train_nested_codes(train_nested_network *net, const train_nested_data *data,
                                int preactivation, float *codes);
/* pixels[n][D] (8-bit scale, not clamped) from the first `kept` units of codes[n][K]; both arrays
 * are the host's. */
taper_status train_nested_decode(train_nested_network *net, const float *codes, size_t n,
                                 uint32_t kept, float *pixels);
/* Mean squared error per pixel component (8-bit scale) over rows, of all ranks, at each of the code
 * lengths length[0 .. lengths), rising, in 0 .. K. */
taper_status train_nested_errors(train_nested_network *net, const train_nested_data *data,
                                 const uint32_t *length, size_t lengths, double *mse);
/* Expected squared error on rows over the truncation's lengths (equation 16), and at full length.
 * It is measured at 64 lengths and interpolated between. NULL truncation: full length only. */
taper_status train_nested_validate(train_nested_network *net, const train_truncation *truncation,
                                   const train_nested_data *data, double *expected, double *full);
#endif
