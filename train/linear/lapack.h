/* lapack.h -- the two matrix decompositions that training takes from the system's LAPACK.
 *
 * They run in a child process, which is started when first needed and alone loads the library. The
 * reason: when memory is short, OpenBLAS and Fortran's run-time library end their process or wait
 * forever. */
#ifndef TRAIN_LAPACK_H
#define TRAIN_LAPACK_H
#include "formats/status.h"
#include <sys/types.h>

/* Memory shared by both processes. */
typedef struct train_lapack {
    double *matrix, *u, *v, *value; /* [n][n] each, and [n] */
    uint32_t n;
    size_t bytes; /* of all arrays, from matrix on */
    int socket;   /* to the process; -1: not started */
    pid_t process;
} train_lapack;

/* Starts it for matrices of this size. TAPER_ERR_NOMEM; TAPER_ERR_IO: no process can be started. */
taper_status train_lapack_open(train_lapack *l, uint32_t n, taper_error *error);
void train_lapack_close(train_lapack *l); /* zeroed memory is fine */

/* The k largest eigenvalues of the symmetric matrix, rising, to value, and their eigenvectors to
 * the first k rows of u; the matrix is overwritten. TAPER_ERR_NOMEM; TAPER_ERR_IO: LAPACK is not
 * installed; TAPER_ERR_DEVICE: dsyevr fails. */
taper_status train_lapack_eigenvectors(train_lapack *l, uint32_t k, taper_error *error);

/* The singular values of the matrix, falling, and its singular vectors, by columns as in Fortran:
 * matrix^T = u diag(value) v (dgesdd). The matrix is overwritten. Fails as above. */
taper_status train_lapack_svd(train_lapack *l, taper_error *error);

#endif
