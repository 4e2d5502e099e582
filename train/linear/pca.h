/* pca.h -- principal components in closed form: the exact optimum of the linear nested-dropout
 * problem (Rippel, Gelbart & Adams 2014, theorem 3: with orthonormal decoder columns the unique
 * optimum is the eigenvectors of the covariance by falling eigenvalue). Where a cut drops whole
 * units, that is the answer; where it drops bits, sparse_basis.h goes on from here.
 *
 * The room train/linear/: bases.
 *   pca             principal components from a streamed covariance
 *   lda             directions that tell classes apart, from streamed scatters
 *   sparse_basis    these turned so that few are needed; unit_order: which unit comes after which
 *   lap_design      the filter with which windows lap, and its effect on errors
 *   lapack          the decompositions that they need, in a process of its own */
#ifndef TRAIN_PCA_H
#define TRAIN_PCA_H
#include "codec/transform/network.h"
#include "train/device/device.h"

/* Mean and covariance of windows, streamed: products of rows about a first guess of the mean, in
 * whole numbers, are summed on a device (train_add_gram_fn). Of rows of bytes these sums are exact,
 * and on every device the same bits; of rows that lap, or of 16 bits a sample, they are float32 for
 * 256 rows at a time and double beyond. Takes 8 * inputs^2 bytes there. */
typedef struct train_covariance {
    uint32_t inputs;
    uint64_t count;
    double *sum;  /* [inputs] of rows less guess */
    float *guess; /* [inputs] mean of the first block, rounded to whole numbers */
    train_stream stream;
    train_arena arena;
    double *product; /* [inputs][inputs] on the device: of columns j <= i */
    train_lent rows; /* the block that is added */
} train_covariance;

/* The device is borrowed. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is held. */
taper_status train_covariance_alloc(train_covariance *cov, train_device *device, uint32_t inputs);
void train_covariance_free(train_covariance *cov); /* zeroed is fine */
/* Add rows[n][inputs]; they are overwritten. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_covariance_add(train_covariance *cov, float *rows, size_t n);
/* The covariance of the rows so far, at least one, to[inputs][inputs]. TAPER_ERR_DEVICE. */
taper_status train_covariance_take(train_covariance *cov, double *to);

/* Fill net (tied, of this many inputs and any units <= inputs) with the mean and the leading
 * eigenvectors as rows of synthesis. The sign of a row makes its component of largest magnitude
 * positive. eigenvalue: [units] or NULL. TAPER_ERR_ARG: fewer than two rows were added. */
taper_status train_pca_solve(train_covariance *cov, codec_network *net, double *eigenvalue,
                             taper_error *error);

#endif
