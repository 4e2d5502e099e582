/* lapack.h -- the two decompositions that training takes from the system's LAPACK.
 *
 * A process of their own does them: it begins when training needs them, and alone loads the
 * library. OpenBLAS, the usual one, and Fortran's run-time library end their process when memory is
 * short, or wait for ever. */
#ifndef TRAIN_LAPACK_H
#define TRAIN_LAPACK_H
#include "formats/status.h"
#include <sys/types.h>

/* Memory that both processes see. */
typedef struct train_lapack {
    double *matrix, *u, *v, *value; /* [n][n] each, and [n] */
    uint32_t n;
    size_t bytes; /* of all of it, from matrix on */
    int socket;   /* to the process; -1 before it is there */
    pid_t process;
} train_lapack;

/* Start with matrices of this size. TAPER_ERR_NOMEM; TAPER_ERR_IO: the system grants no process. */
taper_status train_lapack_open(train_lapack *l, uint32_t n, taper_error *error);
void train_lapack_close(train_lapack *l); /* zeroed memory is fine */

/* The k largest eigenvalues of the symmetric matrix, rising, to value, and their eigenvectors to
 * the first k rows of u; the matrix is used up. TAPER_ERR_NOMEM; TAPER_ERR_IO: there is no LAPACK;
 * TAPER_ERR_DEVICE: it finds none (dsyevr). */
taper_status train_lapack_eigenvectors(train_lapack *l, uint32_t k, taper_error *error);

/* The singular values of the matrix, falling, and its singular vectors, by columns as Fortran has
 * them: matrix^T = u diag(value) v (dgesdd). The matrix is used up. Fails as above. */
taper_status train_lapack_svd(train_lapack *l, taper_error *error);

#endif
