/* operations.h -- the arithmetic of encoding and decoding: one struct of functions, filled once,
 * const after. (Training has a table of its own: train/device/operations.h.)
 *
 * `plain` fills every slot with readable C: that is the definition of each operation. Other
 * backends start from a copy of it and override slots. Included by C11 and by nvcc (C++17): no
 * designated initialisers, no restrict in here. All matrices are dense float32, row-major.
 * Unless said otherwise outputs are overwritten and must not overlap inputs.
 *
 * Threads. A backend as made works on the calling thread alone, holds nothing, and may be shared by
 * any number of threads at once: that is how encoder and decoder workers use it, each with its own
 * rows. After codec_backend_set_threads the same calls spread over a pool, which threads use in
 * turn (training). Results are bit for bit the same for every number of threads: work is cut into
 * blocks by shape alone, or into blocks that no result depends on, and no sum crosses blocks in an
 * order that depends on timing. */
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
    CODEC_LOGISTIC = 2 /* 1 / (1 + exp(-y)), to 3 units in the last place; 0 and 1 at infinity */
} codec_activation;

/* C[m][n] = beta * C + op(A) op(B), op(A) is m x k, op(B) is k x n.
 * transpose_a: A is stored k x m; transpose_b: B is stored n x k. beta 0 overwrites C even where it
 * holds NaN. Accumulates in float32. In the CPU backends a row's result depends on nothing but that
 * row and B. A device may do otherwise: code that promises independence of batching (P5) calls with
 * one m, always the same, the last block padded, as network.c does. TAPER_ERR_NOMEM when there is
 * no room to lay out A or
 * B. */
typedef taper_status codec_gemm_fn(codec_backend *be, int transpose_a, int transpose_b, size_t m,
                                   size_t n, size_t k, const float *a, const float *b, float beta,
                                   float *c);

/* y[rows][width] = activation(y + bias), in place. bias[width] or NULL. NaN stays NaN. */
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
    void *state;             /* the device's own; NULL on the CPU */
    struct codec_pool *pool; /* NULL: the calling thread alone */
    char kernels[96];        /* which kernels run, for `taper --version -v`: "plain C" */
};

#ifdef __cplusplus
}
#endif
#endif
