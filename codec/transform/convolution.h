/* convolution.h -- a convolutional layer of an encoder (SPEC.md, 6.11): a 3x3 convolution of a
 * feature map, 0 outside, and then the largest of each 2x2 outputs.
 *
 *     z(y, x, k) = sum over dy, dx, c of W(k, 3 dy + dx, c) a(y + dy - 1, x + dx - 1, c)
 *     p(Y, X, k) = max of z(2 Y .. 2 Y + 1, 2 X .. 2 X + 1, k), of those within the map
 *
 * The products are those of a matrix with one row for each place of the map, the 3x3 places around
 * it, by W. */
#ifndef CODEC_CONVOLUTION_H
#define CODEC_CONVOLUTION_H
#include "codec/backend/simd.h"
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

enum { CODEC_MAP_TAPS = 9, CODEC_POOL_SIDE = 2 };

/* The input of a convolutional layer. */
typedef struct codec_map {
    uint32_t width, height, channels; /* width 0: there is none */
    int planar;                       /* 1: channel after channel; 0: place after place */
} codec_map;

CODEC_INLINE uint32_t codec_pooled_side(uint32_t side) {
    return (side + CODEC_POOL_SIDE - 1) / CODEC_POOL_SIDE;
}
/* The map after a layer of so many channels, place after place. */
CODEC_INLINE codec_map codec_map_pooled(codec_map g, uint32_t channels) {
    const codec_map pooled = {codec_pooled_side(g.width), codec_pooled_side(g.height), channels, 0};
    return pooled;
}
CODEC_INLINE size_t codec_map_places(codec_map g) { return (size_t)g.width * g.height; }
CODEC_INLINE size_t codec_map_values(codec_map g) { return codec_map_places(g) * g.channels; }
/* The values of a row of the matrix. */
CODEC_INLINE size_t codec_map_row(codec_map g) { return (size_t)CODEC_MAP_TAPS * g.channels; }

/* to[places][taps][channels]: the 3x3 places around each place of from[values]. */
void codec_map_patches(codec_map map, const float *from, float *to);
/* to[pooled places][channels]: the largest of each 2x2 rows of from[places][channels]. which (NULL:
 * not wanted): [pooled places][channels], which one that is: 2 dy + dx, of equal ones the first. */
void codec_map_pool(codec_map map, uint32_t channels, const float *from, float *to, uint8_t *which);

#ifdef __cplusplus
}
#endif
#endif
