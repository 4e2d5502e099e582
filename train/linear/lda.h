/* lda.h -- linear discriminants (Fisher 1936; Rao 1948 for several classes): directions along which
 * the means of classes are far apart relative to the spread within classes.
 *
 * For n labelled rows x with mean m, class c having n_c rows with mean m_c:
 *     between  B = sum of n_c / n (m_c - m)(m_c - m)^T
 *     within   W = sum over rows of (x - m_c)(x - m_c)^T / n,   B + W = T, the covariance
 * Discriminants are the v with B v = lambda W' v, lambda falling, v^T W' v = 1, W' = W + r I. The
 * ridge r is needed because W is singular if a pixel is constant or there are few rows. Without it,
 * a direction without variation within classes would have an arbitrary lambda. The solution takes
 * two symmetric problems (lapack.h). W' = U diag(w) U^T gives R = diag(w^-1/2) U^T, for which
 * R W' R^T = I. If e is an eigenvector of R B R^T, then v = R^T e.
 *
 * B is a sum over classes of rank-one matrices with one linear dependence, so at most classes - 1
 * of the lambda are not 0. Further units of a map are principal components of the residual after
 * the discriminants V. The residual is x minus its regression on their codes, (I - W' V V^T) x,
 * with covariance Q = (I - W' V V^T) T (I - V V^T W'). Each eigenvector u of Q, by falling
 * eigenvalue, gives a direction v = (I - V V^T W') u on rows. For these v^T W' V = 0. As B V = W' V
 * diag(lambda), also v^T B V = 0: their codes are uncorrelated with those of the discriminants,
 * within classes and overall, and with each other.
 *
 * Plain principal components would mostly repeat discriminants. Other solutions of B v = lambda W'
 * v all have lambda 0, so they have no order. The further units are scaled by one factor such that
 * v^T W' v = 1 for the first of them. So they keep their proportions, and none has more variance
 * within classes than a discriminant. */
#ifndef TRAIN_LDA_H
#define TRAIN_LDA_H
#include "train/linear/pca.h"

/* Sums over classes and rows, accumulated over blocks of rows. */
typedef struct train_scatter {
    train_covariance all;
    uint32_t classes;
    uint64_t *count; /* [classes] */
    double *sum;     /* [classes][inputs] of rows minus all.guess */
} train_scatter;

/* The device is borrowed. TAPER_ERR_ARG: no classes; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is
 * held. */
taper_status train_scatter_alloc(train_scatter *scatter, train_device *device, uint32_t inputs,
                                 uint32_t classes);
void train_scatter_free(train_scatter *scatter); /* zeroed is fine */
/* Adds rows[n][inputs] with label[n], each below `classes`; rows are overwritten. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE. */
taper_status train_scatter_add(train_scatter *scatter, float *rows, const uint32_t *label,
                               size_t n);

/* The sums of all ranks, which have the same guess; on all of them. Errors of train_covariance_sum.
 */
taper_status train_scatter_sum(train_scatter *scatter, train_ranks *ranks, taper_error *error);

/* Fills layer, which has the scatter's inputs and 1..inputs outputs, with the directions above as
 * rows. The component of largest magnitude of each row is positive. The bias gives the mean row
 * code 0. r is `ridge` (above 0; 1e-3 suits pixels) times the mean variance of an input. *useful:
 * number of rows that are discriminants; a lambda below 1e-9 of the largest counts as 0.
 * TAPER_ERR_ARG: rows of fewer than two classes, or all rows are equal; or errors of lapack.h. */
taper_status train_lda_solve(train_scatter *scatter, double ridge, codec_layer *layer,
                             uint32_t *useful, taper_error *error);

#endif
