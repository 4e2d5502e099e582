/* nested_errors.h -- what a nested-dropout autoencoder makes of data: codes, and errors at every
 * code length. */
#ifndef TRAIN_NESTED_ERRORS_H
#define TRAIN_NESTED_ERRORS_H
#include "train/nested/nested_network.h"
#include "train/sampling/dataset.h"

/* Codes x[n][K] of rows order[0 .. n) (order NULL: 0 .. n), uncorrupted, whole; preactivation 1: a
 * instead of x (binary: without b_L). */
taper_status train_nested_codes(train_nested_network *net, const train_pixels *data,
                                const uint32_t *order, size_t n, int preactivation, float *codes);
/* Mean squared error per pixel component (8-bit scale) over rows order[0 .. n) at each of the code
 * lengths length[0 .. lengths), rising, 0 .. K. */
taper_status train_nested_errors(train_nested_network *net, const train_pixels *data,
                                 const uint32_t *order, size_t n, const uint32_t *length,
                                 size_t lengths, double *mse);
#endif
