/* pca.h -- principal components in closed form: the exact optimum of the linear nested-dropout
 * problem. By theorem 3 of Rippel, Gelbart & Adams 2014, with orthonormal decoder columns the
 * unique optimum is the eigenvectors of the covariance by falling eigenvalue. That is the solution
 * if a cut drops whole units; if it drops bits, sparse_basis.h improves on it.
 *
 * Directory train/linear/: linear bases.
 *   pca             principal components from an accumulated covariance
 *   lda             discriminants of classes, from accumulated scatter matrices
 *   sparse_basis    a rotation of principal components to sparse codes; unit_order: the order of
 *                   units
 *   lap_design      the filter of overlapping windows, and its effect on errors
 *   lapack          the matrix decompositions, in a child process */
#ifndef TRAIN_PCA_H
#define TRAIN_PCA_H
#include "codec/transform/network.h"
#include "train/device/device.h"
#include "train/parallel/ranks.h"

/* Mean and covariance of windows, accumulated over blocks of rows. Rows minus a first guess of the
 * mean, in integers, are multiplied and summed on a device (train_add_gram_fn). For rows of bytes
 * these sums are exact and the same bits on every device. For other rows they are float32 for 256
 * rows at a time, and double beyond; with a `step` the float32 sums are rounded to its multiples,
 * so that the order of blocks does not matter. Takes 8 * inputs^2 bytes there. */
typedef struct train_covariance {
    uint32_t inputs;
    uint64_t count;
    double *sum; /* [inputs] of rows minus guess */
    /* [inputs] mean of the first block, rounded to integers */
    float *guess;
    int guessed;
    float step; /* as in train_add_gram_fn; default 0 */
    train_stream stream;
    train_arena arena;
    double *product;   /* [inputs][inputs] on the device, columns j <= i only */
    train_mirror rows; /* the block being added */
} train_covariance;

/* The device is borrowed. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is held. */
taper_status train_covariance_alloc(train_covariance *cov, train_device *device, uint32_t inputs);
void train_covariance_free(train_covariance *cov); /* zeroed is fine */
/* Makes sums of blocks exact, for at most `rows` rows of magnitude up to 1,024. */
void train_covariance_make_exact(train_covariance *cov, uint64_t rows);
/* Takes the guess from these rows; otherwise the first block gives it. */
void train_covariance_guess(train_covariance *cov, const float *rows, size_t n);
/* Adds rows[n][inputs], which are overwritten. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_covariance_add(train_covariance *cov, float *rows, size_t n);
/* The sums of all ranks, which have the same guess; on all of them. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE, TAPER_ERR_IO. */
taper_status train_covariance_sum(train_covariance *cov, train_ranks *ranks, taper_error *error);
/* to[inputs][inputs]: the covariance of the rows so far, at least one. TAPER_ERR_DEVICE. */
taper_status train_covariance_take(train_covariance *cov, double *to);

/* Fills net (tied, with these inputs and at most as many units) with the mean and with the leading
 * eigenvectors as rows of synthesis. The component of largest magnitude of each row is positive.
 * eigenvalue: [units] or NULL. TAPER_ERR_ARG: fewer than two rows were added. */
taper_status train_pca_solve(train_covariance *cov, codec_network *net, double *eigenvalue,
                             taper_error *error);

#endif
