/* pca.h -- principal components in closed form: the exact optimum of the linear nested-dropout
 * problem (Rippel, Gelbart & Adams 2014, theorem 3: with orthonormal decoder columns the unique
 * optimum is the eigenvectors of the covariance by falling eigenvalue). Where a cut drops whole
 * units, that is the answer; where it drops bits, sparse_basis.h goes on from here.
 *
 * The room train/linear/: bases.
 *   pca             principal components from a streamed covariance
 *   sparse_basis    these turned so that few are needed; unit_order: which unit comes after which
 *   lap_design      the filter with which windows lap, and its effect on errors
 *   lapack          the decompositions that they need, in a process of its own */
#ifndef TRAIN_PCA_H
#define TRAIN_PCA_H
#include "codec/transform/network.h"

/* Mean and covariance of windows, streamed: blocks of rows are multiplied in float32 about a first
 * guess of the mean and summed in double. Takes 8 * inputs^2 bytes. */
typedef struct train_covariance {
    uint32_t inputs;
    uint64_t count;
    double *sum;     /* [inputs] of rows less guess */
    double *product; /* [inputs][inputs] */
    float *guess;    /* [inputs] mean of the first block */
    float *block;    /* [inputs][inputs] scratch */
} train_covariance;

taper_status train_covariance_alloc(train_covariance *cov, uint32_t inputs);
void train_covariance_free(train_covariance *cov);
/* Add rows[n][inputs]; they are overwritten. */
taper_status train_covariance_add(train_covariance *cov, codec_backend *be, float *rows, size_t n);

/* Fill net (tied, of this many inputs and any units <= inputs) with the mean and the leading
 * eigenvectors as rows of synthesis. The sign of a row makes its component of largest magnitude
 * positive. eigenvalue: [units] or NULL. TAPER_ERR_ARG: fewer than two rows were added. The
 * covariance is used up. */
taper_status train_pca_solve(train_covariance *cov, codec_network *net, double *eigenvalue,
                             taper_error *error);

#endif
