/* onednn.c -- the matrix product by oneDNN's sgemm, which picks its kernel by the processor's
 * features; everything else is plain. oneDNN's own threads are not used: they would split sums by
 * their number. */
#include "plain.h"

#if defined(HAVE_DNNL)
#include "pool.h"
#include <dnnl.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>

typedef struct gemm_task {
    int transpose_a, transpose_b;
    size_t m, n, k;
    const float *a, *b;
    float beta;
    float *c;
    size_t block_rows, block_columns, blocks_across;
    atomic_int failed;
} gemm_task;

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void gemm_block(void *context, size_t block) {
    gemm_task *t = context;
    size_t i = block / t->blocks_across * t->block_rows,
           j = block % t->blocks_across * t->block_columns;
    size_t lda = t->transpose_a ? t->m : t->k, ldb = t->transpose_b ? t->k : t->n;
    const float *a = t->a + (t->transpose_a ? i : i * lda),
                *b = t->b + (t->transpose_b ? j * ldb : j);
    int threads = omp_get_max_threads(); /* the host program's setting for this thread */
    omp_set_num_threads(1);
    dnnl_status_t status = dnnl_sgemm(
        t->transpose_a ? 'T' : 'N', t->transpose_b ? 'T' : 'N',
        (dnnl_dim_t)smaller(t->block_rows, t->m - i),
        (dnnl_dim_t)smaller(t->block_columns, t->n - j), (dnnl_dim_t)t->k, 1.0f, a, (dnnl_dim_t)lda,
        b, (dnnl_dim_t)ldb, t->beta, t->c + i * t->n + j, (dnnl_dim_t)t->n);
    omp_set_num_threads(threads);
    if (status != dnnl_success) atomic_store(&t->failed, (int)status);
}

static size_t blocks_of(size_t n, size_t block) { return (n + block - 1) / block; }

/* Blocks large enough for the kernels to run at full speed, small enough to keep 8 threads busy
 * where the shape allows it. By the shape alone, never by the number of threads. */
static void choose_blocks(gemm_task *t) {
    enum { ENOUGH = 8, LEAST_ROWS = 128, LEAST_COLUMNS = 256 };
    t->block_rows = t->block_columns = 512;
    while (blocks_of(t->m, t->block_rows) * blocks_of(t->n, t->block_columns) < ENOUGH) {
        if (t->block_rows > LEAST_ROWS && t->block_rows * 2 > t->block_columns) t->block_rows /= 2;
        else if (t->block_columns > LEAST_COLUMNS) t->block_columns /= 2;
        else break;
    }
    t->blocks_across = blocks_of(t->n, t->block_columns);
}

static taper_status onednn_gemm(codec_backend *be, int transpose_a, int transpose_b, size_t m,
                                size_t n, size_t k, const float *a, const float *b, float beta,
                                float *c) {
    if (!m || !n || !k || m > INT32_MAX || n > INT32_MAX || k > INT32_MAX)
        return codec_plain_gemm(be, transpose_a, transpose_b, m, n, k, a, b, beta, c);
    gemm_task task = {transpose_a, transpose_b, m, n, k, a, b, beta, c, 0, 0, 0, 0};
    choose_blocks(&task);
    codec_pool_run(be->pool, gemm_block, &task, blocks_of(m, task.block_rows) * task.blocks_across);
    int failed = atomic_load(&task.failed);
    return !failed                             ? TAPER_OK
           : failed == (int)dnnl_out_of_memory ? TAPER_ERR_NOMEM
                                               : TAPER_ERR_DEVICE;
}

/* oneDNN makes its kernels when the first product is asked for: 20 ms and more. */
static void onednn_warm_up(void) {
    enum { SIDE = 64 };
    static const float zeros[SIDE * SIDE];
    float product[SIDE * SIDE];
    gemm_task task = {0, 0, SIDE, SIDE, SIDE, zeros, zeros, 0.0f, product, SIDE, SIDE, 1, 0};
    gemm_block(&task, 0);
}

static const codec_backend_ops onednn_ops = {"onednn",
                                             onednn_gemm,
                                             codec_plain_bias,
                                             codec_plain_bias_backward,
                                             codec_plain_sum_squares,
                                             codec_plain_adam,
                                             onednn_warm_up};

static const char *instruction_set(void) {
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    if (isa == dnnl_cpu_isa_avx512_core_amx) return "AVX-512 with AMX";
    if (isa >= dnnl_cpu_isa_avx512_core && isa != dnnl_cpu_isa_all) return "AVX-512";
    if (isa == dnnl_cpu_isa_avx2 || isa == dnnl_cpu_isa_avx2_vnni) return "AVX2";
    if (isa == dnnl_cpu_isa_avx) return "AVX";
    return isa == dnnl_cpu_isa_sse41 ? "SSE4.1" : "unnamed instruction set";
}

taper_status codec_backend_onednn(codec_backend *out) {
    *out = (codec_backend){&onednn_ops, NULL, NULL, ""};
    const dnnl_version_t *v = dnnl_version();
    snprintf(out->kernels, sizeof out->kernels, "oneDNN %d.%d.%d, %s", v->major, v->minor, v->patch,
             instruction_set());
    return TAPER_OK;
}

#else

taper_status codec_backend_onednn(codec_backend *out) {
    (void)out;
    return TAPER_ERR_UNSUPPORTED;
}

#endif
