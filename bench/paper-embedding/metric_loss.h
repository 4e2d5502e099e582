/* metric_loss.h -- MCML as a function of a metric (Globerson & Roweis 2006), and its gradient.
 *
 * Rows x_i have the squared distance D_ij = (x_i - x_j)^T M (x_i - x_j), with M symmetric and
 * positive semidefinite. The loss is MCML by row with the Gaussian kernel (neighbours.h), mean over
 * rows, which is that of codes A x_i for M = A^T A. It is convex in M: it is linear in D apart from
 * the logarithms of sums of e^-D.
 *
 * Let S_ij be dloss/dD_ij in all places where D_ij occurs, for i < j. Then
 *     dloss/dM = sum over i < j of S_ij (x_i - x_j)(x_i - x_j)^T = X^T (diag(S 1) - S) X.
 * The operations on neighbours give pull = 2 (diag(S 1) - S), with which code i's gradient is the
 * sum of pull_ij A x_j. So dloss/dM = 1/2 X^T pull X, computed a tile of pull's rows at a time by
 * matrix products. */
#ifndef BENCH_PAPER_EMBEDDING_METRIC_LOSS_H
#define BENCH_PAPER_EMBEDDING_METRIC_LOSS_H
#include "train/device/device.h"
#include "train/embedding/labelled_rows.h"
#include "train/linear/lapack.h"

typedef struct embedding_metric_loss {
    size_t rows, tile;
    uint32_t inputs, rank; /* rank: of the last metric */
    float *mean;           /* [inputs] of the numbers of all rows */
    train_lapack lapack;
    train_stream stream;
    train_arena arena;
    /* on the device */
    /* [rows][inputs] numbers of labelled rows minus their mean */
    float *x;
    float *factor;        /* [inputs][inputs] A, `rank` rows of it */
    float *code, *across; /* [rows][inputs] x A^T; transposed */
    float *share;         /* [TRAIN_SHARES][rows] */
    float *pull;          /* [tile][rows] */
    float *pulled;        /* [tile][inputs] pull x */
    float *product;       /* [inputs][inputs] x^T pull x */
    uint32_t *label;      /* [rows] */
    double *sums, *own, *total;
} embedding_metric_loss;

/* Opens the loss of the labelled rows. The device is borrowed; data is not used after the call.
 * tile_rows 0: TRAIN_NEIGHBOUR_TILE. TAPER_ERR_ARG with the remedy, as train_labelled_find;
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE, TAPER_ERR_IO (lapack.h). Nothing is held then. */
taper_status embedding_metric_loss_open(embedding_metric_loss *l, const train_labelled_rows *data,
                                        size_t tile_rows, train_device *device, taper_error *error);
void embedding_metric_loss_close(embedding_metric_loss *l); /* leaves it zeroed; zeroed is fine */

/* Replaces the symmetric metric[inputs][inputs] by the nearest positive semidefinite one (Frobenius
 * norm): negative eigenvalues become 0. *loss is its loss, not finite if distances overflow. Fails
 * as lapack.h, or as the device. */
taper_status embedding_metric_loss_at(embedding_metric_loss *l, double *metric, double *loss,
                                      taper_error *error);
/* gradient[inputs][inputs] at the last metric of embedding_metric_loss_at. TAPER_ERR_DEVICE. */
taper_status embedding_metric_gradient(embedding_metric_loss *l, double *gradient);

#endif
