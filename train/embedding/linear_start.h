/* linear_start.h -- where a linear map begins that objectives over neighbours then train: identity,
 * random, principal components, linear discriminants (the guide's four ways to begin NCA, those of
 * scikit-learn and torchnca). Maps are of numbers, which bytes y stand for as y / 255. */
#ifndef TRAIN_LINEAR_START_H
#define TRAIN_LINEAR_START_H
#include "codec/transform/network.h"
#include "train/device/device.h"
#include "train/embedding/labelled_rows.h"

typedef enum train_linear_kind {
    TRAIN_START_IDENTITY = 0, /* unit u is number u */
    TRAIN_START_RANDOM = 1,   /* normal weights of deviation 0.01: the guide's code has that, its
                                 comment calls it the variance */
    TRAIN_START_PCA = 2,      /* orthonormal rows: principal components of all rows, labelled or not
                                 (train/linear/pca.h) */
    TRAIN_START_LDA = 3 /* of labelled rows; what is beyond classes - 1 units is filled up with
                           principal components of the rest (train/linear/lda.h) */
} train_linear_kind;

typedef struct train_linear_options {
    train_linear_kind kind;
    /* 0: the map as above. Above 0: it is multiplied so that squared distances of two rows' codes
     * have this mean. Under the Gaussian kernel e^-D that decides how many neighbours count: by
     * hundreds, the nearest alone; by 1, all. */
    double spread;
    double ridge;  /* of discriminants, times the mean variance of an input; 0: 1e-3 */
    uint64_t seed; /* of random weights: layer 0 of TRAIN_STREAM_WEIGHTS */
} train_linear_options;

/* Fill layer, whose arrays are there, of rows->inputs inputs and 1 .. inputs outputs. Its bias is
 * 0, or so that the mean row has the code 0 (principal components, discriminants). The same bits on
 * every device where rows are bytes. TAPER_ERR_ARG with the remedy: more outputs than inputs or
 * none, a number that is not finite, rows that are all the same where distances or variances are
 * wanted, and of discriminants: no labels, or one alone; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; or a
 * failure of train/linear/lapack.h. */
taper_status train_linear_layer(const train_linear_options *options,
                                const train_labelled_rows *rows, train_device *device,
                                codec_layer *layer, taper_error *error);

/* The same for the encoder of a direct network, which is one layer: that takes pixels of 0..255, so
 * that its weights are divided by 255. Its mean becomes 0. TAPER_ERR_ARG, too: the network is
 * another, or not of these pixels' size. */
taper_status train_linear_start(const train_linear_options *options, const train_pixels *pixels,
                                train_device *device, codec_network *net, taper_error *error);

#endif
