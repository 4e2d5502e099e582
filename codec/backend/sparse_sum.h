/* sparse_sum.h -- sums of some rows of a matrix of 16-bit numbers: the product of a sparse vector
 * and a matrix. Integers: all kernels give the same result.
 *
 * Rows are stored in pairs, [pairs][lanes][2]: the numbers of rows 2 i and 2 i + 1 in one lane are
 * adjacent. A term adds one pair of rows. */
#ifndef CODEC_SPARSE_SUM_H
#define CODEC_SPARSE_SUM_H
#include <stddef.h>
#include <stdint.h>

enum {
    CODEC_SPARSE_STEP = 16, /* lanes of a matrix are a multiple of it */
    CODEC_SPARSE_BLOCK = 96 /* the most lanes of one call */
};

typedef struct codec_term {
    uint32_t pair;
    int16_t x[2]; /* the factors of its two rows */
} codec_term;

/* The lanes of a matrix whose rows have this number of values. */
static inline uint32_t codec_sparse_lanes(uint32_t values) {
    return (values + CODEC_SPARSE_STEP - 1) / CODEC_SPARSE_STEP * CODEC_SPARSE_STEP;
}
/* The index of a number in the matrix. */
static inline size_t codec_sparse_at(uint32_t lanes, uint32_t row, uint32_t lane) {
    return ((size_t)(row / 2) * lanes + lane) * 2 + row % 2;
}

/* sum[count] += the terms' rows, in lanes first .. first + count - 1, modulo 2^32. count: a
 * multiple of CODEC_SPARSE_STEP, at most CODEC_SPARSE_BLOCK. */
typedef void codec_sparse_sum_fn(const int16_t *matrix, uint32_t lanes, uint32_t first,
                                 uint32_t count, const codec_term *term, size_t n, int32_t *sum);
/* The first kernel that runs on this processor; the reference implementation. */
codec_sparse_sum_fn codec_sparse_sum;
codec_sparse_sum_fn codec_sparse_sum_plain;

typedef struct codec_sparse_kernel {
    const char *name;
    int (*runs)(void); /* nonzero: this processor supports it */
    codec_sparse_sum_fn *sum;
} codec_sparse_kernel;
/* All kernels, the fastest first, the reference implementation last. */
const codec_sparse_kernel *codec_sparse_kernels(size_t *n);

#endif
