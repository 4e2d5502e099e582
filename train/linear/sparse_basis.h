/* sparse_basis.h -- principal components, turned so that few of them are needed at a time.
 *
 * The leading eigenvectors span the best subspace. Within it any rotation is as good for the
 * squared error of Gaussian windows, but images are not Gaussian: eigenvectors of like eigenvalue
 * mix what is unrelated (a horizontal wave with a vertical one), so that where one is needed all
 * are. Of all orthonormal bases of the span this one makes
 *
 *     sum over windows y and thresholds T of   sum over rows q of  min((q y)^2 / T^2, 1)
 *
 * small: the bits and errors of a code that drops what is below T. The two steps are those of
 * Sezer, Guleryuz & Altunbasak, "Approximation and compression with sparse orthonormal transforms"
 * (IEEE Trans. Image Processing 24(8), 2015), section III, for several thresholds at once: given
 * the basis, drop coefficients below T; given these, the best basis is the orthogonal factor of sum
 * of (coefficients kept / T^2) y^T (Procrustes). T starts high and falls, as there.
 *
 * Units are then put in the order of their variance, and exchanged nearby so that units which are
 * large together are neighbours, as the contexts need (contexts.h). */
#ifndef TRAIN_SPARSE_BASIS_H
#define TRAIN_SPARSE_BASIS_H
#include "codec/transform/network.h"

enum {
    TRAIN_SPARSE_MOST_UNITS = 1024,     /* above, a step takes minutes */
    TRAIN_SPARSE_ROWS_PER_UNIT = 40,    /* fewer windows do not say enough */
    TRAIN_SPARSE_MOST_ROWS = 64 * 1024, /* more say hardly more */
    TRAIN_SPARSE_MOST_VALUES = 1 << 26  /* of all these windows, 256 MB */
};

/* Can a basis of so many units be turned by so many windows? */
int train_sparse_is_possible(uint32_t units, size_t windows);

typedef void train_sparse_progress_fn(void *user, double part);

/* Turn the rows of net->synthesis (tied, orthonormal) by codes[n][units], the windows' codes with
 * that basis. progress: called after each step, or NULL. codes are used up. On failure (see
 * lapack.h; error may be unset) the net is as it was. Deterministic. */
taper_status train_sparse_basis(codec_network *net, codec_backend *be, float *codes, size_t n,
                                train_sparse_progress_fn *progress, void *user,
                                taper_error *error);

#endif
