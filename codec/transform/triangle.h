/* triangle.h -- triangular layers, for codes whose units depend on the units before them.
 *
 * The two layers of a network with feedback (network.h). `matrix` is strictly lower triangular:
 * element (k, j), at matrix[k * stride + j], is read only if j < k; the others may have any value.
 * Rows are contiguous, [rows][units]. The result of a row is bit-identical for any other rows. The
 * functions use only the calling thread. TAPER_ERR_NOMEM: no memory for
 * codec_triangle_scratch_bytes. */
#ifndef CODEC_TRIANGLE_H
#define CODEC_TRIANGLE_H
#include "formats/status.h"
#include <stddef.h>

/* Temporary memory of each function, in bytes. */
uint64_t codec_triangle_scratch_bytes(uint32_t units);

/* Decision feedback. For k = 0 .. units - 1 of every row, in order:
 *     a_k -= sum over j < k of matrix_kj x_j,   x_k = (a_k > -bias[k] ? 1 : 0) - centre
 * The sum starts with 0.0f and adds terms by ascending j. a is replaced by the differences. x may
 * be NULL. bias NULL: 0. */
taper_status codec_triangle_decide(const float *matrix, size_t stride, uint32_t units,
                                   const float *bias, float centre, size_t rows, float *a,
                                   float *x);

/* z_k = x_k + sum over j < k of matrix_kj x_j, by ascending j. x and z must not overlap. */
taper_status codec_triangle_mix(const float *matrix, size_t stride, uint32_t units, size_t rows,
                                const float *x, float *z);
#endif
