/* kernel.h -- loops, sums and sizes of kernels, on the macros of marks.h. The threads of a block
 * are a multiple of a warp, and at most CUDA_MOST_THREADS. */
#ifndef TRAIN_CUDA_KERNEL_H
#define TRAIN_CUDA_KERNEL_H
#include "train/cuda/marks.h"
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

static const unsigned CUDA_WARP = 32, CUDA_MOST_THREADS = 256, CUDA_MOST_BLOCKS = 2048;

/* for (EACH(i, n)): this thread's part of 0 .. n - 1, among all threads of the launch. */
#define EACH(i, n)                                            \
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; \
    BELOW(i, n);                                              \
    i += (size_t)gridDim.x * blockDim.x
/* The same among the block's threads. */
#define EACH_IN_BLOCK(i, n) \
    size_t i = threadIdx.x; \
    BELOW(i, n);            \
    i += blockDim.x
/* Rows of this block: for (EACH_BLOCK(row, rows)). */
#define EACH_BLOCK(row, rows) \
    size_t row = blockIdx.x;  \
    BELOW(row, rows);         \
    row += gridDim.x
/* Rows of this warp. */
#define EACH_WARP(row, rows)                                                  \
    size_t row = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / CUDA_WARP; \
    BELOW(row, rows);                                                         \
    row += (size_t)gridDim.x * blockDim.x / CUDA_WARP
/* for (EACH_LANE(j, n)): this lane's part of 0 .. n - 1, of its warp. */
#define EACH_LANE(j, n)                 \
    size_t j = threadIdx.x % CUDA_WARP; \
    BELOW(j, n);                        \
    j += CUDA_WARP

/* Number of blocks for n items, `per_block` each; at least 1, at most CUDA_MOST_BLOCKS. */
static inline unsigned cuda_blocks(size_t n, size_t per_block) {
    size_t blocks = n / per_block + (n % per_block != 0);
    return blocks < 1 ? 1u : blocks < CUDA_MOST_BLOCKS ? (unsigned)blocks : CUDA_MOST_BLOCKS;
}

/* Sums in an order that depends on shapes only. */

/* Lane 0 gets the sum over its warp; all lanes call it. */
template <typename T> static __device__ T warp_sum(T value) {
    for (unsigned apart = CUDA_WARP / 2; apart; apart /= 2)
        value += __shfl_down_sync(0xffffffffu, value, apart);
    return value;
}

/* Thread 0 gets the sum over its block; all threads call it. scratch[CUDA_WARP] is shared memory
 * and may be reused after the call. */
template <typename T> static __device__ T block_sum(T value, T *scratch) {
    const unsigned lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    value = warp_sum(value);
    if (lane == 0) scratch[warp] = value;
    BARRIER();
    if (warp == 0) value = warp_sum(BELOW(lane, blockDim.x / CUDA_WARP) ? scratch[lane] : (T)0);
    BARRIER();
    return value;
}
#endif
