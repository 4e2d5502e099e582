/* pca.c -- see pca.h. The eigenvectors come from LAPACK. */
#include "train/linear/pca.h"
#include "train/linear/lapack.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

taper_status train_covariance_alloc(train_covariance *cov, uint32_t inputs) {
    size_t square = (size_t)inputs * inputs;
    *cov = (train_covariance){.inputs = inputs};
    cov->sum = calloc(inputs, sizeof *cov->sum);
    cov->product = calloc(square, sizeof *cov->product);
    cov->guess = calloc(inputs, sizeof *cov->guess);
    cov->block = calloc(square, sizeof *cov->block);
    if (cov->sum && cov->product && cov->guess && cov->block) return TAPER_OK;
    train_covariance_free(cov);
    return TAPER_ERR_NOMEM;
}

void train_covariance_free(train_covariance *cov) {
    free(cov->sum), free(cov->product), free(cov->guess), free(cov->block);
    memset(cov, 0, sizeof *cov);
}

static void guess_mean(train_covariance *cov, const float *rows, size_t n) {
    for (uint32_t i = 0; i < cov->inputs; i++) {
        double sum = 0;
        for (size_t r = 0; r < n; r++) sum += rows[r * cov->inputs + i];
        cov->guess[i] = (float)(sum / (double)n);
    }
}

taper_status train_covariance_add(train_covariance *cov, codec_backend *be, float *rows, size_t n) {
    uint32_t inputs = cov->inputs;
    if (n == 0) return TAPER_OK;
    if (cov->count == 0) guess_mean(cov, rows, n);
    for (size_t r = 0; r < n; r++)
        for (uint32_t i = 0; i < inputs; i++) {
            float *x = &rows[r * inputs + i];
            *x -= cov->guess[i];
            cov->sum[i] += *x;
        }
    TAPER_TRY(be->ops->gemm(be, 1, 0, inputs, inputs, n, rows, rows, 0, cov->block));
    for (size_t i = 0; i < (size_t)inputs * inputs; i++) cov->product[i] += cov->block[i];
    cov->count += n;
    return TAPER_OK;
}

/* product / count - mean mean^T, in place. */
static void centre(train_covariance *cov) {
    double inverse = 1.0 / (double)cov->count;
    for (uint32_t i = 0; i < cov->inputs; i++)
        for (uint32_t j = 0; j < cov->inputs; j++) {
            double *x = &cov->product[(size_t)i * cov->inputs + j];
            *x = *x * inverse - cov->sum[i] * inverse * cov->sum[j] * inverse;
        }
}

static void store_row(float *row, const double *vector, uint32_t n) {
    uint32_t top = 0;
    for (uint32_t i = 1; i < n; i++)
        if (fabs(vector[i]) > fabs(vector[top])) top = i;
    for (uint32_t i = 0; i < n; i++) row[i] = (float)(vector[top] < 0 ? -vector[i] : vector[i]);
}

taper_status train_pca_solve(train_covariance *cov, codec_network *net, double *eigenvalue,
                             taper_error *error) {
    if (cov->count < 2)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a model needs at least two windows to learn from; give more images");
    uint32_t n = cov->inputs, k = net->units;
    for (uint32_t i = 0; i < cov->inputs; i++)
        net->mean[i] = (float)(cov->guess[i] + cov->sum[i] / (double)cov->count);
    centre(cov);
    train_lapack lapack;
    taper_status status = train_lapack_open(&lapack, n, error);
    if (status == TAPER_OK) {
        memcpy(lapack.matrix, cov->product, (size_t)n * n * sizeof *cov->product);
        status = train_lapack_eigenvectors(&lapack, k, error);
    }
    for (uint32_t u = 0; status == TAPER_OK && u < k; u++) { /* LAPACK's order is rising */
        uint32_t from = k - 1 - u;
        store_row(net->synthesis + (size_t)u * n, lapack.u + (size_t)from * n, n);
        if (eigenvalue) eigenvalue[u] = fmax(lapack.value[from], 0);
    }
    train_lapack_close(&lapack);
    return status;
}
