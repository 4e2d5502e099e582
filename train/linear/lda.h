/* lda.h -- linear discriminants (Fisher 1936; Rao 1948 for several classes): directions along which
 * the means of classes are far apart beside the spread within classes.
 *
 * Of the n labelled rows x, class c with n_c rows of mean m_c, all of mean m:
 *     between  B = sum of n_c / n (m_c - m)(m_c - m)^T
 *     within   W = sum over rows of (x - m_c)(x - m_c)^T / n,   B + W = T, the covariance
 * Discriminants are the v of B v = lambda W' v, lambda falling, v^T W' v = 1, W' = W + r I. The
 * ridge r is there because W is singular where a pixel is constant, or where rows are few: without
 * it a direction in which classes happen not to vary would have any lambda. They are found by two
 * symmetric problems (lapack.h): W' = U diag(w) U^T makes R = diag(w^-1/2) U^T, for which
 * R W' R^T = I; if e is an eigenvector of R B R^T, v = R^T e.
 *
 * B is a sum over classes of products of rank one that obey one equation, so that at most classes -
 * 1 of the lambda are not 0. A map of more units is filled up with the principal components of what
 * the discriminants V leave over: x less its regression on their codes, (I - W' V V^T) x, has the
 * covariance Q = (I - W' V V^T) T (I - V V^T W'), and its eigenvectors u, by falling eigenvalue,
 * are directions v = (I - V V^T W') u on rows. For these v^T W' V = 0, and as B V = W' V
 * diag(lambda) then v^T B V = 0, too: their codes are uncorrelated with the discriminants', of one
 * class as of all, and with each other's. Plain principal components would mostly repeat
 * discriminants; other solutions of B v = lambda W' v have lambda 0, all of them alike, and say
 * nothing of what to take first. One factor for all of them gives the first v^T W' v = 1, so that
 * they keep their proportions and none is louder than a discriminant's noise. */
#ifndef TRAIN_LDA_H
#define TRAIN_LDA_H
#include "train/linear/pca.h"

/* Class and row sums, streamed. */
typedef struct train_scatter {
    train_covariance all;
    uint32_t classes;
    uint64_t *count; /* [classes] */
    double *sum;     /* [classes][inputs] of rows less all.guess */
} train_scatter;

/* The device is borrowed. TAPER_ERR_ARG: no classes; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is
 * held. */
taper_status train_scatter_alloc(train_scatter *scatter, train_device *device, uint32_t inputs,
                                 uint32_t classes);
void train_scatter_free(train_scatter *scatter); /* zeroed is fine */
/* Add rows[n][inputs] of label[n], each below `classes`; the rows are overwritten. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE. */
taper_status train_scatter_add(train_scatter *scatter, float *rows, const uint32_t *label,
                               size_t n);

/* Fill layer, of the scatter's inputs and 1..inputs outputs: rows of its weight as above, the sign
 * of each so that its component of largest magnitude is positive, its bias so that the mean row has
 * the code 0. r is `ridge` (above 0; 1e-3 is a choice for pixels) times the mean variance of an
 * input. *useful: how many rows are discriminants, the rest is filled up; where lambda is less than
 * 1e-9 of the largest, it counts as 0. TAPER_ERR_ARG: rows of fewer than two classes, or all rows
 * the same; or a failure of lapack.h. */
taper_status train_lda_solve(train_scatter *scatter, double ridge, codec_layer *layer,
                             uint32_t *useful, taper_error *error);

#endif
