/* lt.h -- products of matrices by cuBLASLt, which is loaded when the first is made. */
#ifndef TRAIN_CUDA_LT_H
#define TRAIN_CUDA_LT_H
#include "train/device/operations.h"

/* C[m][n] = beta C + op(A) op(B), row-major, as train_gemm_fn; with a bias or sums or neither. */
typedef struct cuda_product {
    const char *operation; /* whose it is, for messages */
    int transpose_a, transpose_b;
    size_t m, n, k;
    const float *a, *b;
    float beta;
    float *c;
    const float *bias = NULL; /* [n] or NULL; with it, the activation */
    codec_activation activation = CODEC_LINEAR;
    float *sums = NULL; /* or: become those over k of op(A), [m], or of op(B), [n] */
    int of_b = 0;
} cuda_product;

/* What beside C the product leaves to do. */
typedef enum cuda_finish {
    CUDA_NOTHING,
    CUDA_ACTIVATION,
    CUDA_BIAS_AND_ACTIVATION,
    CUDA_SUMS
} cuda_finish;

/* Put it on the stream, in the precision of its device; *left says what remains. TAPER_ERR_NOMEM:
 * no room for rounded factors; TAPER_ERR_DEVICE: cuBLASLt is not there, or fails (train_cuda_fault
 * names the operation, and the call or the remedy). */
taper_status cuda_lt_product(train_stream *s, const cuda_product *product, cuda_finish *left);
/* What a stream keeps of products, stream.h. */
void cuda_lt_free(train_stream *s);

#endif
