/* neighbours.h -- rows of codes against all columns.
 *
 * A warp processes CUDA_ROWS_AT_ONCE rows, so that each value of a column is loaded once for all of
 * them. Lanes read neighbouring columns. */
#ifndef TRAIN_CUDA_NEIGHBOURS_H
#define TRAIN_CUDA_NEIGHBOURS_H
#include "train/cuda/kernel.h"
#include "train/device/elements_neighbours.h"

static const unsigned CUDA_ROWS_AT_ONCE = 4;

/* Rows beyond the last are unlabelled and have the address of the first. */
struct cuda_warp_rows {
    size_t first;
    const float *code[CUDA_ROWS_AT_ONCE];
    uint32_t label[CUDA_ROWS_AT_ONCE];
};

static inline __device__ cuda_warp_rows cuda_rows_from(const train_neighbours &n, size_t first) {
    cuda_warp_rows w = {first, {}, {}};
    for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++) {
        const bool is_there = BELOW(first + r, n.rows);
        w.code[r] = n.code + (is_there ? first + r : first) * n.units;
        w.label[r] = is_there ? n.label[first + r] : TRAIN_UNLABELLED;
    }
    return w;
}

static inline __device__ void cuda_measure(const train_neighbours &n, const cuda_warp_rows &w,
                                           size_t column, float (&square)[CUDA_ROWS_AT_ONCE]) {
    for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++) square[r] = 0.0f;
    for (size_t k = 0; BELOW(k, n.units); k++) {
        const float x = n.across[k * n.rows + column];
        for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++) {
            const float e = w.code[r][k] - x;
            square[r] += e * e;
        }
    }
}

/* Whether row r of them and that column, with this label, are a pair. */
static inline __device__ bool cuda_is_pair(const cuda_warp_rows &w, unsigned r, size_t column,
                                           uint32_t label) {
    return w.label[r] != TRAIN_UNLABELLED && label != TRAIN_UNLABELLED && w.first + r != column;
}

/* Number of groups of CUDA_ROWS_AT_ONCE rows, one for each warp. */
static inline size_t cuda_groups(size_t rows) {
    return rows / CUDA_ROWS_AT_ONCE + (rows % CUDA_ROWS_AT_ONCE != 0);
}
#endif
