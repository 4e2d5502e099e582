/* shared_weights.h -- the weights of errors (train_weigh_errors_fn) in a batch that several ranks
 * share (train/parallel/ranks.h). They depend on the errors of the whole batch, so the ranks add up
 * the sums from which the means are taken. The host computes them. */
#ifndef TRAIN_SHARED_WEIGHTS_H
#define TRAIN_SHARED_WEIGHTS_H
#include "train/device/operations.h"
#include "train/parallel/ranks.h"

/* The arguments of train_weigh_errors_fn: this rank's rows of the batch, which may be none. */
typedef struct train_shared_rows {
    size_t rows;
    /* on the device */
    const train_cut *cut; /* [rows] */
    const double *error;  /* [rows] */
    double *weight, *loss;
    float scale, balance;
} train_shared_rows;

/* Computes the weights, and adds to the losses. All ranks call it. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE, TAPER_ERR_IO. */
taper_status train_weigh_shared(train_stream *stream, train_ranks *ranks,
                                const train_shared_rows *rows);

#endif
