/* lt.h -- products of matrices by cuBLASLt, which is loaded when the first is made. On the
 * execution model they are plain loops. */
#ifndef TRAIN_CUDA_LT_H
#define TRAIN_CUDA_LT_H
#include "train/device/device.h"

/* C[m][n] = beta C + op(A) op(B), row-major, as train_gemm_fn. */
typedef struct cuda_product {
    int transpose_a, transpose_b;
    size_t m, n, k;
    const float *a, *b;
    float beta;
    float *c;
} cuda_product;

/* Put it on the stream, in the precision of its device. TAPER_ERR_NOMEM: no room for rounded
 * factors; TAPER_ERR_DEVICE: cuBLASLt is not there, or fails (train_cuda_fault says which). */
taper_status cuda_lt_product(train_stream *s, const cuda_product *product);
/* What a stream keeps of products, stream.h. */
void cuda_lt_free(train_stream *s);

#endif
