/* lt.h -- matrix products by cuBLASLt, which is loaded at the first product. */
#ifndef TRAIN_CUDA_LT_H
#define TRAIN_CUDA_LT_H
#include "train/device/operations.h"

/* C[m][n] = beta C + op(A) op(B), row-major, as train_gemm_fn; with a bias, with sums, or
 * neither. */
typedef struct cuda_product {
    const char *operation; /* for messages */
    int transpose_a, transpose_b;
    size_t m, n, k;
    const float *a, *b;
    float beta;
    float *c;
    /* [n] or NULL; with it, the activation is applied */
    const float *bias = NULL;
    codec_activation activation = CODEC_LINEAR;
    /* Or output: sums over k of op(A), [m], or of op(B), [n], if of_b is 1. */
    float *sums = NULL;
    int of_b = 0;
} cuda_product;

/* Parts of a product that the caller has to compute. */
typedef enum cuda_finish {
    CUDA_NOTHING,
    CUDA_ACTIVATION,
    CUDA_BIAS_AND_ACTIVATION,
    CUDA_SUMS
} cuda_finish;

/* Queues it on the stream, in the precision of its device; *left: what the caller has to compute.
 * TAPER_ERR_NOMEM: no memory for rounded factors; TAPER_ERR_DEVICE: cuBLASLt is not installed, or
 * fails (train_cuda_fault names the operation, and the call or the remedy). */
taper_status cuda_lt_product(train_stream *s, const cuda_product *product, cuda_finish *left);
/* Frees a stream's products (stream.h). */
void cuda_lt_free(train_stream *s);

#endif
