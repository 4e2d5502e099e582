/* lapack.h -- the two decompositions that training takes from LAPACK, whose library is loaded when
 * the first of them is asked for: nothing else needs it, and OpenBLAS, which it mostly is, starts
 * its threads as it is loaded. */
#ifndef TRAIN_LAPACK_H
#define TRAIN_LAPACK_H
#include "../formats/status.h"

/* The k largest eigenvalues, rising, of a symmetric matrix [n][n], which is used up, and their
 * eigenvectors, vector[k][n]. TAPER_ERR_NOMEM; TAPER_ERR_IO: there is no LAPACK;
 * TAPER_ERR_DEVICE: it finds none (dsyevr). */
taper_status train_lapack_eigenvectors(uint32_t n, uint32_t k, double *matrix, double *value,
                                       double *vector, taper_error *error);

/* The singular values of a square matrix [n][n], which is used up, falling, and its singular
 * vectors, by columns as Fortran has them: matrix^T = u diag(value) v (dgesdd). Fails as above. */
taper_status train_lapack_svd(uint32_t n, double *matrix, double *value, double *u, double *v,
                              taper_error *error);

#endif
