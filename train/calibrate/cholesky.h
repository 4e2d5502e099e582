/* cholesky.h -- linear systems of symmetric positive definite matrices. */
#ifndef TRAIN_CHOLESKY_H
#define TRAIN_CHOLESKY_H
#include <stdint.h>

/* x of the symmetric positive definite system A x = b, by Cholesky, in place: A[n][n] is destroyed,
 * b becomes x. 0, or -1 when A is not positive definite. */
int train_solve_positive(double *a, double *b, uint32_t n);

#endif
