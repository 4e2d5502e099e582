/* cholesky.h -- linear systems of symmetric positive definite matrices. */
#ifndef TRAIN_CHOLESKY_H
#define TRAIN_CHOLESKY_H
#include <stdint.h>

/* Solves A x = b for a symmetric positive definite matrix by Cholesky, in place: A[n][n] is
 * destroyed, b becomes x. Returns 0, or -1 if A is not positive definite. */
int train_solve_positive(double *a, double *b, uint32_t n);

#endif
