/* metric_learning.h -- linear MCML (Globerson & Roweis, "Metric learning by collapsing classes",
 * NIPS 2006) by projected gradient.
 *
 * The loss is convex in the metric M (metric_loss.h), and so is the set of positive semidefinite
 * matrices. So the minimum does not depend on the start. A step goes against the gradient G and
 * projects onto the set: P(M - length G), with P an eigendecomposition. It is accepted if the loss
 * falls by at least 1e-4 of <G, M - P(M - length G)> (Bertsekas 1976, Armijo rule along the
 * projection arc); otherwise the length is halved. So the loss falls with every step. The first
 * length of a step is that of Barzilai & Borwein (1988), |s|^2 / <s, y>, with s the previous step
 * and y the change of the gradient. It follows the local curvature, while a fixed length would be
 * limited by the steepest region.
 *
 * The rows of a map with d units are the d leading eigenvectors of M times the roots of their
 * eigenvalues. With all units, distances of codes are those of M. */
#ifndef BENCH_PAPER_EMBEDDING_METRIC_LEARNING_H
#define BENCH_PAPER_EMBEDDING_METRIC_LEARNING_H
#include "codec/transform/network.h"
#include "train/device/device.h"
#include "train/embedding/labelled_rows.h"

/* The state after a step, from 1; step 0 is the start. */
typedef struct embedding_metric_step {
    uint32_t step, rank; /* rank: of the metric */
    uint32_t halved;     /* how many times the length was halved */
    double loss, length;
} embedding_metric_step;

typedef struct embedding_metric_options {
    uint32_t steps; /* limit; default 200 */
    /* Default 1e-4: training ends when the loss fell by less than this fraction in ten steps. */
    double tolerance;
    /* Default 0: TRAIN_NEIGHBOUR_TILE. Memory is about 16 bytes per number of tile_rows x rows. */
    size_t tile_rows;
    /* Called after each step, or NULL. Return nonzero to stop with the present metric. */
    int (*step)(void *user, const embedding_metric_step *step);
    void *user;
} embedding_metric_options;

embedding_metric_options embedding_metric_defaults(void);

typedef struct embedding_metric {
    uint32_t inputs, steps;
    double *matrix; /* [inputs][inputs] M, for numbers (labelled_rows.h) */
    float *mean;    /* [inputs] of the numbers of all rows */
    double loss;    /* mean over labelled rows */
    /* 1: by the tolerance, or because no step lowered the loss */
    int converged;
} embedding_metric;

/* Starts from the multiple of the identity for which squared distances of rows have mean 1. On
 * success the caller frees metric (embedding_metric_free); nothing is held on failure. The result
 * is the same bits for any number of threads. TAPER_ERR_ARG with the remedy: options out of range;
 * no labels, or only one; a number that is not finite; rows that are all equal, or whose distances
 * overflow. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE, TAPER_ERR_IO (lapack.h). */
taper_status embedding_metric_learn(const embedding_metric_options *options,
                                    const train_labelled_rows *rows, train_device *device,
                                    embedding_metric *metric, taper_error *error);
void embedding_metric_free(embedding_metric *metric); /* leaves it zeroed; zeroed is fine */

/* Fills layer, which has metric->inputs inputs and 1 .. inputs outputs, with the leading
 * eigenvectors. The component of largest magnitude of each is positive. The mean row gets code 0.
 * The layer takes numbers; for pixels of 0..255 divide its weights by 255. TAPER_ERR_ARG: other
 * outputs; errors of lapack.h. */
taper_status embedding_metric_map(const embedding_metric *metric, codec_layer *layer,
                                  taper_error *error);

#endif
