/* int8_dot.h -- sums of products with weights of a byte, -127 .. 127: where the time of a
 * conditional model and a head goes (conditional.h). Integers: all kernels give the same. */
#ifndef CODEC_INT8_DOT_H
#define CODEC_INT8_DOT_H
#include <stddef.h>
#include <stdint.h>

/* Changes of the first layer's sums: sum[i] += pairs[2 i] a + pairs[2 i + 1] b. n: sums, a multiple
 * of 8; a, b: -254 .. 254. */
typedef void codec_add_pairs_fn(int32_t *sum, const int8_t *pairs, int32_t a, int32_t b,
                                uint32_t n);

/* The layers after it, and logits: a matrix times a vector, one of weights and the other of
 * activations, 0 .. 127, so that two products together fit 16 bits. A matrix lies in quads,
 * [n / 4][lanes][4]: four values of each lane side by side. */

/* Where value i of a lane lies in a matrix of quads. */
static inline size_t codec_quad_at(uint32_t lanes, uint32_t i, uint32_t lane) {
    return ((size_t)(i / 4) * lanes + lane) * 4 + i % 4;
}

/* sum[lane] = over i of matrix(i, lane) vector[i]. n: length of the vector, a multiple of 4; lanes:
 * a multiple of 8. The first is for weights in the matrix and activations in the vector, the second
 * for the reverse. */
typedef void codec_weight_lanes_fn(const int8_t *matrix, const uint8_t *vector, uint32_t n,
                                   uint32_t lanes, int32_t *sum);
typedef void codec_activation_lanes_fn(const uint8_t *matrix, const int8_t *vector, uint32_t n,
                                       uint32_t lanes, int32_t *sum);

typedef struct codec_byte_kernel {
    const char *name;
    int (*runs)(void); /* on this processor? */
    codec_add_pairs_fn *add_pairs;
    codec_weight_lanes_fn *weight_lanes;
    codec_activation_lanes_fn *activation_lanes;
} codec_byte_kernel;

/* All of them, the fastest first; the last is the definition, which runs everywhere. */
const codec_byte_kernel *codec_byte_kernels(size_t *n);

/* By the first kernel that runs here. */
codec_add_pairs_fn codec_add_pairs;
codec_weight_lanes_fn codec_weight_lanes;
codec_activation_lanes_fn codec_activation_lanes;

#endif
