/* pca.c -- see pca.h. The eigenvectors come from LAPACK. */
#include "train/linear/pca.h"
#include "train/device/elements.h"
#include "train/linear/lapack.h"
#include <math.h>
#include <stdlib.h>

taper_status train_covariance_alloc(train_covariance *cov, train_device *device, uint32_t inputs) {
    *cov = (train_covariance){.inputs = inputs};
    TAPER_TRY(train_stream_open(&cov->stream, device));
    cov->sum = calloc(inputs, sizeof *cov->sum);
    cov->guess = calloc(inputs, sizeof *cov->guess);
    train_arena_take(&cov->arena, inputs, inputs, sizeof *cov->product);
    taper_status status =
        cov->sum && cov->guess ? train_arena_alloc(&cov->arena, device) : TAPER_ERR_NOMEM;
    cov->product = train_arena_take(&cov->arena, inputs, inputs, sizeof *cov->product);
    if (status != TAPER_OK) train_covariance_free(cov);
    return status;
}

void train_covariance_free(train_covariance *cov) {
    train_mirror_free(&cov->rows);
    train_arena_free(&cov->arena);
    train_stream_close(&cov->stream);
    free(cov->sum), free(cov->guess);
    *cov = (train_covariance){0};
}

void train_covariance_make_exact(train_covariance *cov, uint64_t rows) {
    /* a product is below 2^20, a sum below 2^20 rows, and 2^52 steps are exact */
    int exponent = 20 - 52;
    while (rows >> 1) rows >>= 1, exponent++;
    cov->step = ldexpf(1.0f, exponent + 1);
}

/* An integer guess, so that sums of bytes minus it are exact. */
void train_covariance_guess(train_covariance *cov, const float *rows, size_t n) {
    cov->guessed = 1;
    for (uint32_t i = 0; i < cov->inputs; i++) {
        double sum = 0;
        for (size_t r = 0; r < n; r++) sum += rows[r * cov->inputs + i];
        cov->guess[i] = (float)round(sum / (double)n);
    }
}

/* Uploads a block, into the memory of the previous one if that is large enough. */
static taper_status mirror_rows(train_covariance *cov, const float *rows, size_t bytes) {
    if (cov->rows.bytes >= bytes)
        return train_mirror_replace(&cov->rows, &cov->stream, rows, bytes);
    train_mirror_free(&cov->rows);
    return train_mirror_open(&cov->rows, &cov->stream, rows, bytes);
}

taper_status train_covariance_add(train_covariance *cov, float *rows, size_t n) {
    uint32_t inputs = cov->inputs;
    if (n == 0) return TAPER_OK;
    if (!cov->guessed) train_covariance_guess(cov, rows, n);
    for (size_t r = 0; r < n; r++)
        for (uint32_t i = 0; i < inputs; i++) {
            float *x = &rows[r * inputs + i];
            *x -= cov->guess[i];
            cov->sum[i] += train_gram_part(*x, cov->step);
        }
    cov->count += n;
    TAPER_TRY(mirror_rows(cov, rows, n * inputs * sizeof *rows));
    return cov->stream.ops->add_gram(&cov->stream, n, inputs, cov->rows.at, cov->step,
                                     cov->product);
}

/* The products of all ranks, by way of the host if the device has memory of its own. */
static taper_status sum_products(train_covariance *cov, train_ranks *ranks, taper_error *error) {
    const size_t n = (size_t)cov->inputs * cov->inputs;
    if (cov->stream.device->in_host_memory) return train_sum_doubles(ranks, cov->product, n, error);
    double *host = malloc(n * sizeof *host);
    taper_status status = host ? TAPER_OK : TAPER_ERR_NOMEM;
    if (host) status = train_download(&cov->stream, host, cov->product, n * sizeof *host);
    if (status == TAPER_OK) status = train_sum_doubles(ranks, host, n, error);
    if (status == TAPER_OK)
        status = train_upload(&cov->stream, cov->product, host, n * sizeof *host);
    free(host);
    return status;
}

taper_status train_covariance_sum(train_covariance *cov, train_ranks *ranks, taper_error *error) {
    if (!ranks) return TAPER_OK;
    TAPER_TRY(train_sum_integers(ranks, &cov->count, 1, error));
    TAPER_TRY(train_sum_doubles(ranks, cov->sum, cov->inputs, error));
    return sum_products(cov, ranks, error);
}

/* product / count - mean mean^T, both triangles. */
taper_status train_covariance_take(train_covariance *cov, double *to) {
    size_t n = cov->inputs;
    double inverse = 1.0 / (double)cov->count;
    TAPER_TRY(train_download(&cov->stream, to, cov->product, n * n * sizeof *to));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double x = to[i * n + j] * inverse - cov->sum[i] * inverse * cov->sum[j] * inverse;
            to[i * n + j] = to[j * n + i] = x;
        }
    return TAPER_OK;
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
    train_lapack lapack;
    taper_status status = train_lapack_open(&lapack, n, error);
    if (status == TAPER_OK) status = train_covariance_take(cov, lapack.matrix);
    if (status == TAPER_OK) status = train_lapack_eigenvectors(&lapack, k, error);
    for (uint32_t u = 0; status == TAPER_OK && u < k; u++) { /* LAPACK's order is ascending */
        uint32_t from = k - 1 - u;
        store_row(net->synthesis + (size_t)u * n, lapack.u + (size_t)from * n, n);
        if (eigenvalue) eigenvalue[u] = fmax(lapack.value[from], 0);
    }
    train_lapack_close(&lapack);
    return status;
}
