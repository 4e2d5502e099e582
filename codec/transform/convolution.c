/* convolution.c -- see convolution.h. */
#include "codec/transform/convolution.h"
#include "codec/backend/simd.h"
#include <string.h>

/* The channels of one place, or zeros outside of the map. */
static void copy_place(codec_map g, const float *from, int64_t x, int64_t y, float *to) {
    const size_t places = codec_map_places(g);
    if (x < 0 || y < 0 || x >= g.width || y >= g.height) {
        memset(to, 0, g.channels * sizeof *to);
        return;
    }
    const size_t at = (size_t)y * g.width + (size_t)x;
    if (!g.planar) {
        memcpy(to, from + at * g.channels, g.channels * sizeof *to);
        return;
    }
    for (uint32_t c = 0; c < g.channels; c++) to[c] = from[c * places + at];
}

void codec_map_patches(codec_map g, const float *from, float *to) {
    for (int64_t y = 0; y < g.height; y++)
        for (int64_t x = 0; x < g.width; x++)
            for (int tap = 0; tap < CODEC_MAP_TAPS; tap++, to += g.channels)
                copy_place(g, from, x + tap % 3 - 1, y + tap / 3 - 1, to);
}

/* to[channels], which[channels]: those of `from` where it is larger. */
CODEC_CLONES static void keep_larger(uint32_t channels, const float *restrict from, uint8_t number,
                                     float *restrict to, uint8_t *restrict which) {
    for (uint32_t k = 0; k < channels; k++) {
        const int larger = from[k] > to[k];
        to[k] = larger ? from[k] : to[k];
        which[k] = larger ? number : which[k];
    }
}

CODEC_CLONES static void keep_largest(uint32_t channels, const float *restrict from,
                                      float *restrict to) {
    for (uint32_t k = 0; k < channels; k++) to[k] = from[k] > to[k] ? from[k] : to[k];
}

void codec_map_pool(codec_map g, uint32_t channels, const float *from, float *to, uint8_t *which) {
    for (uint32_t y = 0; y < g.height; y += CODEC_POOL_SIDE)
        for (uint32_t x = 0; x < g.width; x += CODEC_POOL_SIDE) {
            memcpy(to, from + ((size_t)y * g.width + x) * channels, channels * sizeof *to);
            if (which) memset(which, 0, channels);
            for (uint8_t i = 1; i < CODEC_POOL_SIDE * CODEC_POOL_SIDE; i++) {
                const uint32_t x2 = x + i % CODEC_POOL_SIDE, y2 = y + i / CODEC_POOL_SIDE;
                if (x2 >= g.width || y2 >= g.height) continue;
                const float *other = from + ((size_t)y2 * g.width + x2) * channels;
                if (which)
                    keep_larger(channels, other, i, to, which);
                else
                    keep_largest(channels, other, to);
            }
            to += channels;
            if (which) which += channels;
        }
}
