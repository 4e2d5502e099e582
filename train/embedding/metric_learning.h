/* metric_learning.h -- linear MCML: the metric under which classes collapse (Globerson & Roweis,
 * "Metric learning by collapsing classes", NIPS 2006), by projected gradient.
 *
 * The loss is convex in the metric M (metric_loss.h), and so is the set of positive semidefinite
 * matrices: there is one least loss, wherever one begins. A step goes against the gradient G and
 * back to the set, to P(M - length G), P by an eigendecomposition. It is taken if the loss falls by
 * at least 1e-4 of <G, M - P(M - length G)> (the rule along the projection's arc of Bertsekas,
 * 1976), else the length is halved: the loss falls with every step. A step's first length is that
 * of Barzilai & Borwein (1988), |s|^2 / <s, y>, s being the step before and y the change of
 * gradient: it has the size of the curvature met there, where one fixed length would wait for the
 * steepest.
 *
 * A map of d units has the d leading eigenvectors of M times the roots of their eigenvalues for
 * rows. With all units distances are M's. */
#ifndef TRAIN_METRIC_LEARNING_H
#define TRAIN_METRIC_LEARNING_H
#include "codec/transform/network.h"
#include "train/device/device.h"
#include "train/embedding/labelled_rows.h"

/* After a step, from 1; of step 0, the start. */
typedef struct train_metric_step {
    uint32_t step, rank; /* rank: of the metric */
    uint32_t halved;     /* how often the length was */
    double loss, length;
} train_metric_step;

typedef struct train_metric_options {
    uint32_t steps;   /* default 200, at most */
    double tolerance; /* default 1e-4: it ends when in ten steps the loss fell by less than this
                         part of itself */
    size_t tile_rows; /* default 0: TRAIN_NEIGHBOUR_TILE; memory is this times the rows, and 16
                         bytes or so a number */
    /* NULL, or called after each step; nonzero ends it with the metric so far. */
    int (*step)(void *user, const train_metric_step *step);
    void *user;
} train_metric_options;

train_metric_options train_metric_defaults(void);

typedef struct train_metric {
    uint32_t inputs, steps;
    double *matrix; /* [inputs][inputs] M, of numbers (labelled_rows.h) */
    float *mean;    /* [inputs] of all rows' numbers */
    double loss;    /* the mean over labelled rows */
    int converged;  /* 1: by the tolerance, or no step made the loss fall */
} train_metric;

/* From the multiple of the identity for which squared distances of two rows have the mean 1.
 * metric->matrix and mean are the caller's to free (train_metric_free) on success; nothing is held
 * on failure. The same bits for any number of threads. TAPER_ERR_ARG with the remedy: options out
 * of range; labels missing, or one alone; a number that is not finite; rows that are all the same
 * or whose distances overflow. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE, TAPER_ERR_IO (lapack.h). */
taper_status train_metric_learn(const train_metric_options *options,
                                const train_labelled_rows *rows, train_device *device,
                                train_metric *metric, taper_error *error);
void train_metric_free(train_metric *metric); /* leaves it zeroed; zeroed is fine */

/* Fill layer, of metric->inputs inputs and 1 .. inputs outputs, with the leading eigenvectors, the
 * sign of each so that its component of largest magnitude is positive; the mean row gets the code
 * 0. It takes numbers: for pixels of 0..255 divide its weights by 255. TAPER_ERR_ARG: other
 * outputs; a failure of lapack.h. */
taper_status train_metric_map(const train_metric *metric, codec_layer *layer, taper_error *error);

#endif
