/* operations.h -- the arithmetic of encoding and decoding: a struct of functions, which is filled
 * once and then constant. (Training has its own: train/device/operations.h.)
 *
 * The backend `plain` has every function in readable C: the reference implementation. Other
 * backends copy it and replace functions. C11 and nvcc (C++17) include this header, so it has no
 * designated initialisers and no restrict. All matrices are dense float32, row-major. Unless stated
 * otherwise, outputs are overwritten and must not overlap inputs.
 *
 * Threads. A new backend uses only the calling thread and owns nothing. Several threads may share
 * it: encoder and decoder workers do, each with its own rows. After codec_backend_set_threads the
 * same calls use a pool; calls from several threads then run one after the other (training).
 * Results are bit-identical for every number of threads: blocks depend on the shape only, or
 * results do not depend on blocks, and the order of sums never depends on timing. */
#ifndef CODEC_OPERATIONS_H
#define CODEC_OPERATIONS_H
#include "formats/status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct codec_backend codec_backend;

/* The numbers are those of a model file (SPEC.md, 6.2). */
typedef enum codec_activation {
    CODEC_LINEAR = 0,
    CODEC_RELU = 1,    /* max(y, 0) */
    CODEC_LOGISTIC = 2 /* 1 / (1 + exp(-y)), within 3 units in the last place; 0, 1 at infinity */
} codec_activation;

/* C[m][n] = beta * C + op(A) op(B), where op(A) is m x k and op(B) is k x n. transpose_a: A is
 * stored k x m; transpose_b: B is stored n x k. beta 0 overwrites C, even if it contains NaN. Sums
 * are in float32.
 *
 * In the CPU backends the result of a row depends only on that row and B. Other devices may differ.
 * Code that promises independence of batching (P5) always calls with the same m and pads the last
 * block, as network.c does. TAPER_ERR_NOMEM: no memory to pack A or B. */
typedef taper_status codec_gemm_fn(codec_backend *be, int transpose_a, int transpose_b, size_t m,
                                   size_t n, size_t k, const float *a, const float *b, float beta,
                                   float *c);

/* y[rows][width] = activation(y + bias), in place. bias: [width] or NULL. NaN stays NaN. */
typedef taper_status codec_bias_fn(codec_backend *be, size_t rows, size_t width, const float *bias,
                                   codec_activation activation, float *y);

typedef struct codec_backend_ops {
    const char *name; /* "plain", "fused" */
    codec_gemm_fn *gemm;
    codec_bias_fn *bias;
} codec_backend_ops;

struct codec_pool;

struct codec_backend {
    const codec_backend_ops *ops;
    void *state;             /* private to the device; NULL on the CPU */
    struct codec_pool *pool; /* NULL: only the calling thread */
    char kernels[96];        /* the kernels in use, for `taper --version -v`: "plain C" */
};

#ifdef __cplusplus
}
#endif
#endif
