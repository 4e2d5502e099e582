/* int8_dot.h -- sums of products with 8-bit weights, -127 .. 127: the main part of the time of a
 * conditional model and a head (conditional.h). Integers: all kernels give the same result. */
#ifndef CODEC_INT8_DOT_H
#define CODEC_INT8_DOT_H
#include <stddef.h>
#include <stdint.h>

/* Change the sums of the first layer: sum[i] += pairs[2 i] a + pairs[2 i + 1] b, for n sums, a
 * multiple of 8; a, b: -254 .. 254. */
typedef void codec_add_pairs_fn(int32_t *sum, const int8_t *pairs, int32_t a, int32_t b,
                                uint32_t n);

/* The same for several rows of a matrix of pairs [..][n][2], which are added in registers. */
typedef struct codec_pair_row {
    uint32_t row;
    int16_t a, b; /* -254 .. 254 */
} codec_pair_row;
typedef void codec_add_rows_fn(int32_t *sum, const int8_t *pairs, const codec_pair_row *row,
                               size_t rows, uint32_t n);

/* The later layers and the logits are a matrix times a vector. One contains weights, the other
 * activations 0 .. 127, so the sum of two products fits 16 bits. A matrix is stored in quads,
 * [n / 4][lanes][4]: four values of a lane are adjacent. */

/* The index of value i of a lane in a matrix of quads. */
static inline size_t codec_quad_at(uint32_t lanes, uint32_t i, uint32_t lane) {
    return ((size_t)(i / 4) * lanes + lane) * 4 + i % 4;
}

/* sum[lane] = sum over i of matrix(i, lane) vector[i]. n: length of the vector, 4, 8, ..;
 * lanes: a multiple of 8. codec_weight_lanes_fn: weights in the matrix and activations in the
 * vector. codec_activation_lanes_fn: the reverse. */
typedef void codec_weight_lanes_fn(const int8_t *matrix, const uint8_t *vector, uint32_t n,
                                   uint32_t lanes, int32_t *sum);
typedef void codec_activation_lanes_fn(const uint8_t *matrix, const int8_t *vector, uint32_t n,
                                       uint32_t lanes, int32_t *sum);

/* A middle layer of conditional.h: x[i] = min(x[i] + activate(z(i)), 127), for n activations.
 *
 *     z(i)        = (16 sum(i) >> shift[i]) + bias[i]
 *     activate(z) = clamp((z + 8) >> 4, 0 .. 127)
 *
 * sum(i) is that of codec_weight_lanes with the vector x and n lanes. n: a multiple of 8, at most
 * CODEC_MOST_LAYER. */
enum { CODEC_MOST_LAYER = 256 };
typedef void codec_middle_layer_fn(const int8_t *matrix, const uint8_t *shift, const int32_t *bias,
                                   uint32_t n, uint8_t *x);

typedef struct codec_byte_kernel {
    const char *name;
    int (*runs)(void); /* nonzero: this processor supports it */
    codec_add_pairs_fn *add_pairs;
    codec_add_rows_fn *add_rows;
    codec_weight_lanes_fn *weight_lanes;
    codec_activation_lanes_fn *activation_lanes;
    codec_middle_layer_fn *middle_layer;
} codec_byte_kernel;

/* All kernels, the fastest first. The last is the reference implementation, which always runs. */
const codec_byte_kernel *codec_byte_kernels(size_t *n);

/* The functions of the first kernel that runs on this processor. */
codec_add_pairs_fn codec_add_pairs;
codec_add_rows_fn codec_add_rows;
codec_weight_lanes_fn codec_weight_lanes;
codec_activation_lanes_fn codec_activation_lanes;
codec_middle_layer_fn codec_middle_layer;

#endif
