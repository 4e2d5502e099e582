/* cholesky.c -- see cholesky.h. */
#include "train/calibrate/cholesky.h"
#include <math.h>

int train_solve_positive(double *a, double *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (uint32_t k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0)) return -1;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
        for (uint32_t k = 0; k < i; k++) b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t k = i + 1; k < n; k++) b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
    return 0;
}
