/* linear_start.h -- initial linear maps for training by neighbours: identity, random, principal
 * components, linear discriminants (the four initialisations of NCA in scikit-learn and torchnca).
 * Maps take numbers; a byte y represents y / 255. */
#ifndef TRAIN_LINEAR_START_H
#define TRAIN_LINEAR_START_H
#include "codec/transform/network.h"
#include "train/device/device.h"
#include "train/embedding/labelled_rows.h"

typedef enum train_linear_kind {
    TRAIN_START_IDENTITY = 0, /* unit u is number u */
    TRAIN_START_RANDOM = 1,   /* normal weights of standard deviation 0.01, as in torchnca */
    /* Orthonormal rows: principal components of all rows, labelled or not (train/linear/pca.h). */
    TRAIN_START_PCA = 2,
    /* Discriminants of labelled rows. Units beyond classes - 1 are principal components of the rest
     * (train/linear/lda.h). */
    TRAIN_START_LDA = 3
} train_linear_kind;

typedef struct train_linear_options {
    train_linear_kind kind;
    /* 0: the map as above. Above 0: it is scaled such that squared distances of codes have this
     * mean. For the Gaussian kernel e^-D it decides how many neighbours count: in the hundreds only
     * the nearest, at 1 all. */
    double spread;
    /* Of discriminants, times the mean variance of an input; 0: 1e-3. */
    double ridge;
    /* Of random weights: layer 0 of TRAIN_STREAM_WEIGHTS. */
    uint64_t seed;
} train_linear_options;

/* Fills layer, whose arrays are allocated, with rows->inputs inputs and 1 .. inputs outputs. Its
 * bias is 0; for principal components and discriminants it maps the mean row to code 0. For rows of
 * bytes the result is the same bits on every device. TAPER_ERR_ARG with the remedy: no outputs or
 * more than inputs; a number that is not finite; rows that are all equal, if distances or variances
 * are needed; for discriminants, no labels or only one. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; errors
 * of train/linear/lapack.h. */
taper_status train_linear_layer(const train_linear_options *options,
                                const train_labelled_rows *rows, train_device *device,
                                codec_layer *layer, taper_error *error);

/* The same for the encoder of a direct network of one layer. It takes pixels of 0..255, so its
 * weights are divided by 255. Its mean becomes 0. TAPER_ERR_ARG also if the network has another
 * form or another size than the pixels. */
taper_status train_linear_start(const train_linear_options *options, const train_pixels *pixels,
                                train_device *device, codec_network *net, taper_error *error);

#endif
