/* sparse_basis.h -- rotates principal components such that codes become sparse.
 *
 * The leading eigenvectors span the best subspace. For Gaussian windows, every rotation within it
 * has the same squared error. Images are not Gaussian: eigenvectors of similar eigenvalue mix
 * unrelated patterns (a horizontal wave with a vertical one), so that all are needed where one
 * pattern occurs. Among the orthonormal bases of the span this one minimises
 *
 *     sum over windows y and thresholds T of   sum over rows q of  min((q y)^2 / T^2, 1)
 *
 * which approximates bits and errors of a code that drops values below T. The two alternating steps
 * are those of Sezer, Guleryuz & Altunbasak, "Approximation and compression with sparse orthonormal
 * transforms" (IEEE Trans. Image Processing 24(8), 2015), section III, for several thresholds at
 * once. Given the basis, drop coefficients below T. Given the coefficients, the best basis is the
 * orthogonal factor of sum of (coefficients kept / T^2) y^T (Procrustes). T starts high and falls,
 * as there.
 *
 * Units are then ordered by variance. Nearby units are exchanged so that units which are large in
 * the same windows become neighbours, which the contexts use (contexts.h). */
#ifndef TRAIN_SPARSE_BASIS_H
#define TRAIN_SPARSE_BASIS_H
#include "codec/transform/network.h"

enum {
    TRAIN_SPARSE_MOST_UNITS = 1024,     /* with more a step takes minutes */
    TRAIN_SPARSE_ROWS_PER_UNIT = 40,    /* fewer windows are not representative */
    TRAIN_SPARSE_MOST_ROWS = 64 * 1024, /* more windows add little */
    TRAIN_SPARSE_MOST_VALUES = 1 << 26  /* of all these windows, 256 MB */
};

/* Returns 1 if a basis of so many units can be rotated with so many windows. */
int train_sparse_is_possible(uint32_t units, size_t windows);

typedef void train_sparse_progress_fn(void *user, double part);

/* Rotates the rows of net->synthesis (tied, orthonormal). codes[n][units] are the windows' codes in
 * that basis; they are overwritten. progress: called after each step, or NULL. On failure (see
 * lapack.h; error may be unset) net is unchanged. Deterministic. */
taper_status train_sparse_basis(codec_network *net, codec_backend *be, float *codes, size_t n,
                                train_sparse_progress_fn *progress, void *user, taper_error *error);

#endif
