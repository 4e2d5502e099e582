/* triangle.h -- triangular layers on a code whose units know the units before them.
 *
 * The two of a network with feedback (network.h). `matrix` is strictly lower triangular: element
 * (k, j) at matrix[k * stride + j] is read where j < k alone, so what lies on and above the
 * diagonal may be anything. Rows are contiguous,
 * [rows][units]. A row's result has the same bits whatever rows are beside it; work is on the
 * calling thread. TAPER_ERR_NOMEM: no room for codec_triangle_scratch_bytes. */
#ifndef CODEC_TRIANGLE_H
#define CODEC_TRIANGLE_H
#include "formats/status.h"
#include <stddef.h>

/* Bytes that each of these takes besides its arguments. */
uint64_t codec_triangle_scratch_bytes(uint32_t units);

/* Decision feedback. For k = 0 .. units - 1 of every row, in order:
 *     a_k -= sum over j < k of matrix_kj x_j,   x_k = (a_k > -bias[k] ? 1 : 0) - centre
 * The sum runs in rising j from 0.0f and is then subtracted. a becomes those differences; x may be
 * NULL; bias NULL: 0. */
taper_status codec_triangle_decide(const float *matrix, size_t stride, uint32_t units,
                                   const float *bias, float centre, size_t rows, float *a,
                                   float *x);

/* z_k = x_k + sum over j < k of matrix_kj x_j, in rising j. x and z do not overlap. */
taper_status codec_triangle_mix(const float *matrix, size_t stride, uint32_t units, size_t rows,
                                const float *x, float *z);
#endif
