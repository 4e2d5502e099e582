/* predictions.cu -- losses of predictions: bits, errors of codes, errors of pixels; see
 * train/device/operations.h. Each block of rows has its own sums, which are then added in order. */
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements_predictions.h"

static const unsigned THREADS = 256;
static const size_t KINDS = TRAIN_BIT_KINDS;

/* The number of rows of this block, at most `most`. */
static __device__ size_t rows_of(size_t rows, size_t block, size_t most) {
    return rows - block * most < most ? rows - block * most : most;
}

/* Thread 0 gets the sum of sums[blocks], which are `apart` elements apart; all threads call it. */
static __device__ double sum_of_blocks(size_t blocks, size_t apart, const double *sums,
                                       double *scratch) {
    double sum = 0.0;
    for (EACH_IN_BLOCK(b, blocks)) sum += sums[b * apart];
    return block_sum(sum, scratch);
}

/* --- bits ------------------------------------------------------------------------------ */

/* Gradients of elements, then their column sums, a thread for each column. */
static __global__ void bits_kernel(size_t blocks, train_bits t) {
    SHARED(double, warps, CUDA_WARP);
    const size_t columns = KINDS * t.passes;
    for (EACH_BLOCK(block, blocks)) {
        const size_t first = block * TRAIN_SUM_ROWS, rows = rows_of(t.rows, block, TRAIN_SUM_ROWS);
        const train_bit *bit = t.bit + first * t.passes;
        float *logit = t.logit + first * columns, *to = t.column_sums + block * columns;
        double sum[2] = {0, 0};
        for (EACH_IN_BLOCK(i, rows * t.passes)) {
            float gradient[KINDS], *at = logit + i * KINDS;
            const float *bias = t.bias + (unsigned)i % (unsigned)t.passes;
            train_price_bit(&bit[i], at, bias, t.stride, gradient, sum);
            for (size_t k = 0; BELOW(k, KINDS); k++) at[k] = gradient[k] * t.weight;
        }
        BARRIER();
        for (EACH_IN_BLOCK(c, columns)) {
            float column = 0.0f;
            for (size_t r = 0; BELOW(r, rows); r++) column += logit[r * columns + c];
            to[c % KINDS * t.passes + c / KINDS] = column;
        }
        for (size_t i = 0; BELOW(i, (size_t)2); i++) {
            const double all = block_sum(sum[i], warps);
            if (threadIdx.x == 0) t.sums[2 * block + i] = all;
        }
    }
}

static __global__ void bit_columns_kernel(size_t blocks, train_bits t) {
    const size_t columns = KINDS * t.passes;
    for (EACH(c, columns)) {
        float *to = t.dbias + c / t.passes * t.stride + c % t.passes, sum = *to;
        for (size_t b = 0; BELOW(b, blocks); b++) sum += t.column_sums[b * columns + c];
        *to = sum;
    }
}

/* Runs in one block. */
static __global__ void bit_losses_kernel(size_t blocks, train_bits t) {
    SHARED(double, warps, CUDA_WARP);
    for (size_t i = 0; BELOW(i, (size_t)2); i++) {
        const double sum = sum_of_blocks(blocks, 2, t.sums + i, warps);
        if (threadIdx.x == 0) t.losses[i] += sum * (double)t.weight;
    }
}

taper_status train_cuda_bits(train_stream *s, const train_bits *bits) {
    const train_bits t = *bits;
    const size_t blocks = train_sum_blocks(t.rows), n = t.rows * t.passes;
    if (!n) return TAPER_OK;
    CUDA_BEGIN(s, "bits", CUDA_ARRAY(t.bit, n), CUDA_ARRAY(t.logit, n * KINDS),
               CUDA_ARRAY(t.bias, (KINDS - 1) * t.stride + t.passes),
               CUDA_ARRAY(t.dbias, (KINDS - 1) * t.stride + t.passes), CUDA_ARRAY(t.losses, 2),
               CUDA_ARRAY(t.column_sums, blocks * KINDS * t.passes),
               CUDA_ARRAY(t.sums, blocks * 2));
    LAUNCH(bits_kernel, cuda_blocks(blocks, 1), THREADS, cuda_on(s), blocks, t);
    LAUNCH(bit_columns_kernel, cuda_blocks(KINDS * t.passes, CUDA_WARP), CUDA_WARP, cuda_on(s),
           blocks, t);
    LAUNCH(bit_losses_kernel, 1, THREADS, cuda_on(s), blocks, t);
    return cuda_end(s, "bits");
}

/* --- errors of codes ------------------------------------------------------------------- */

/* Each warp processes one row of the block at a time. */
static __global__ void head_kernel(size_t blocks, train_head t) {
    SHARED(double, warps, CUDA_WARP);
    const size_t warp = threadIdx.x / CUDA_WARP, step = blockDim.x / CUDA_WARP;
    for (EACH_BLOCK(block, blocks)) {
        const size_t first = block * TRAIN_SUM_ROWS, rows = rows_of(t.rows, block, TRAIN_SUM_ROWS);
        double sum = 0.0;
        for (size_t r = warp; BELOW(r, rows); r += step)
            for (EACH_LANE(u, t.units)) {
                const size_t at = (first + r) * t.units + u;
                sum += train_price_code(t.missing[at], t.uncertainty[2 * u + t.more[at]],
                                        t.worth[u], t.weight, &t.z[at]);
            }
        sum = block_sum(sum, warps);
        if (threadIdx.x == 0) t.sums[block] = sum;
    }
}

/* Runs in one block. */
static __global__ void head_loss_kernel(size_t blocks, train_head t) {
    SHARED(double, warps, CUDA_WARP);
    const double sum = sum_of_blocks(blocks, 1, t.sums, warps);
    if (threadIdx.x == 0) *t.loss += t.weight * sum;
}

taper_status train_cuda_head(train_stream *s, const train_head *head) {
    const train_head t = *head;
    const size_t blocks = train_sum_blocks(t.rows), n = t.rows * t.units;
    if (!n) return TAPER_OK;
    CUDA_BEGIN(s, "head", CUDA_ARRAY(t.missing, n), CUDA_ARRAY(t.more, n),
               CUDA_ARRAY(t.uncertainty, 2 * t.units), CUDA_ARRAY(t.worth, t.units),
               CUDA_ARRAY(t.z, n), CUDA_ARRAY(t.loss, 1), CUDA_ARRAY(t.sums, blocks));
    LAUNCH(head_kernel, cuda_blocks(blocks, 1), THREADS, cuda_on(s), blocks, t);
    LAUNCH(head_loss_kernel, 1, THREADS, cuda_on(s), blocks, t);
    return cuda_end(s, "head");
}

/* --- errors of pixels ------------------------------------------------------------------ */

static __global__ void restored_kernel(size_t blocks, train_restored t) {
    SHARED(double, warps, CUDA_WARP);
    const float gain = *t.gain, scale = (float)t.weight;
    for (EACH_BLOCK(block, blocks)) {
        const size_t first = block * TRAIN_RESTORED_ROWS * t.width,
                     n = rows_of(t.rows, block, TRAIN_RESTORED_ROWS) * t.width;
        const float *decoded = t.decoded + first, *target = t.target + first, *z = t.z + first;
        float *dz = t.dz + first;
        double sum[3] = {0, 0, 0};
        for (EACH_IN_BLOCK(i, n))
            dz[i] = train_price_pixel(decoded[i], target[i], z[i], t.levels, gain, scale, sum);
        for (size_t i = 0; BELOW(i, (size_t)3); i++) {
            const double all = block_sum(sum[i], warps);
            if (threadIdx.x == 0) t.sums[3 * block + i] = all;
        }
    }
}

/* Runs in one block. */
static __global__ void restored_sums_kernel(size_t blocks, train_restored t) {
    SHARED(double, warps, CUDA_WARP);
    for (size_t i = 0; BELOW(i, (size_t)2); i++) {
        const double sum = sum_of_blocks(blocks, 3, t.sums + i, warps);
        if (threadIdx.x == 0) t.errors[i] = sum;
    }
    const double dgain = sum_of_blocks(blocks, 3, t.sums + 2, warps);
    if (threadIdx.x == 0) *t.dgain = (float)(dgain * t.weight);
}

taper_status train_cuda_restored(train_stream *s, const train_restored *restored) {
    const train_restored t = *restored;
    const size_t n = t.rows * t.width,
                 blocks = (t.rows + TRAIN_RESTORED_ROWS - 1) / TRAIN_RESTORED_ROWS;
    CUDA_BEGIN(s, "restored", CUDA_ARRAY(t.decoded, n), CUDA_ARRAY(t.target, n), CUDA_ARRAY(t.z, n),
               CUDA_ARRAY(t.gain, 1), CUDA_ARRAY(t.dz, n), CUDA_ARRAY(t.dgain, 1),
               CUDA_ARRAY(t.errors, 2), CUDA_ARRAY(t.sums, 3 * blocks));
    LAUNCH(restored_kernel, cuda_blocks(blocks, 1), THREADS, cuda_on(s), blocks, t);
    LAUNCH(restored_sums_kernel, 1, THREADS, cuda_on(s), blocks, t);
    return cuda_end(s, "restored");
}

/* --- ratios ---------------------------------------------------------------------------- */

static __global__ void add_ratio_kernel(double factor, const double *a, const double *b,
                                        double least, double *sum) {
    if (threadIdx.x == 0) *sum += factor * (*a / (*b + least));
}

taper_status train_cuda_add_ratio(train_stream *s, double factor, const double *a, const double *b,
                                  double least, double *sum) {
    CUDA_BEGIN(s, "add_ratio", CUDA_ARRAY(a, 1), CUDA_ARRAY(b, 1), CUDA_ARRAY(sum, 1));
    LAUNCH(add_ratio_kernel, 1, CUDA_WARP, cuda_on(s), factor, a, b, least, sum);
    return cuda_end(s, "add_ratio");
}
