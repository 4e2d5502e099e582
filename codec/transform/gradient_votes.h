/* gradient_votes.h -- the steps of gradients.c, for it and for the kernel that does the same on a
 * GPU: votes of pixels, and values of cells. All in integers. */
#ifndef CODEC_GRADIENT_VOTES_H
#define CODEC_GRADIENT_VOTES_H
#include "codec/backend/simd.h"
#include "codec/transform/cells.h"
#include "codec/window.h"
#include <stddef.h>

enum {
    CODEC_GRADIENT_HALF = CODEC_GRADIENT_SIGNED / 2,
    CODEC_GRADIENT_PART = 64,           /* weights of pixels are in 1/64 */
    CODEC_GRADIENT_LEAST_ENERGY = 2048, /* of a gradient of one level: less contrast is noise */
    CODEC_GRADIENT_CLIP = 255,          /* a fifth of the contrast around the cell */
    CODEC_GRADIENT_GAIN = 5 * CODEC_GRADIENT_CLIP,
    CODEC_GRADIENT_GAIN_BITS = 20,
    CODEC_GRADIENT_SUM_PARTS = 20 /* of a sum of 18 values, such that it is a byte */
};

/* The two cells that a column or a row of pixels belongs to: cell - 1 and cell. Those outside of
 * the window are not used. */
typedef struct codec_gradient_place {
    int32_t cell;       /* 0 .. cells */
    uint32_t weight[2]; /* their sum is CODEC_GRADIENT_PART */
} codec_gradient_place;

/* Pixel i of n, where the window has so many cells along this side. Measured in cells, the centre
 * of the pixel is at (2 i + 1) cells / (2 n), and the centre of cell k at k + 1/2. */
CODEC_INLINE codec_gradient_place codec_gradient_place_of(uint32_t i, uint32_t n, uint32_t cells) {
    const uint32_t at = (2 * i + 1) * cells + n, rest = at % (2 * n);
    const uint32_t second = (CODEC_GRADIENT_PART * rest + n) / (2 * n);
    codec_gradient_place place;
    place.cell = (int32_t)(at / (2 * n));
    place.weight[0] = CODEC_GRADIENT_PART - second;
    place.weight[1] = second;
    return place;
}

typedef struct codec_gradient {
    int x, y;
} codec_gradient;

/* The differences across a pixel, the window's edge repeated: of the channel where the vector is
 * longest, of equal ones the first. */
CODEC_INLINE codec_gradient codec_gradient_at(codec_window w, const uint8_t *pixels, uint32_t x,
                                              uint32_t y) {
    const size_t left = x ? x - 1 : 0, right = x + 1 < w.width ? x + 1 : x;
    const size_t up = y ? y - 1 : 0, below = y + 1 < w.height ? y + 1 : y;
    const size_t width = w.width, plane = width * w.height;
    codec_gradient most = {0, 0};
    int longest = -1;
    for (uint32_t c = 0; c < w.channels; c++, pixels += plane) {
        const int dx = pixels[y * width + right] - pixels[y * width + left];
        const int dy = pixels[below * width + x] - pixels[up * width + x];
        if (dx * dx + dy * dy <= longest) continue;
        most.x = dx, most.y = dy, longest = dx * dx + dy * dy;
    }
    return most;
}

/* Decompose a gradient into the two directions beside it. Returns the first, 0..17; the second
 * follows it, 0 after 17. vote[2]: the areas spanned by the gradient and the other direction. */
CODEC_INLINE uint32_t codec_gradient_vote(codec_gradient g, uint32_t vote[2]) {
    /* 128 (cos, sin) of 0, 20, .. 180 degrees */
    static const int16_t direction[CODEC_GRADIENT_HALF + 1][2] = {
        {128, 0},   {120, 44},  {98, 82},  {64, 111},  {22, 126},
        {-22, 126}, {-64, 111}, {-98, 82}, {-120, 44}, {-128, 0}};
    const int is_lower = g.y < 0 || (g.y == 0 && g.x < 0);
    const int x = is_lower ? -g.x : g.x, y = is_lower ? -g.y : g.y;
    int k = 0;
    for (int j = 1; j < CODEC_GRADIENT_HALF; j++)
        k += direction[j][0] * y - direction[j][1] * x >= 0;
    vote[0] = (uint32_t)(x * direction[k + 1][1] - y * direction[k + 1][0]);
    vote[1] = (uint32_t)(direction[k][0] * y - direction[k][1] * x);
    return (uint32_t)(is_lower ? k + CODEC_GRADIENT_HALF : k);
}

/* The mean of votes or samples of a cell: sum: with the weights of columns and rows. */
CODEC_INLINE uint32_t codec_gradient_mean_votes(codec_window w, codec_cells c, uint64_t sum) {
    const uint64_t parts = (uint64_t)CODEC_GRADIENT_PART * CODEC_GRADIENT_PART * w.width * w.height;
    return (uint32_t)((sum * c.across * c.down + parts / 2) / parts);
}

/* The energy of mean votes[18] of a cell, without signs. */
CODEC_INLINE uint64_t codec_gradient_energy(const uint32_t *votes) {
    uint64_t energy = 0;
    for (int k = 0; k < CODEC_GRADIENT_HALF; k++) {
        const uint64_t both = (uint64_t)votes[k] + votes[k + CODEC_GRADIENT_HALF];
        energy += both * both;
    }
    return energy;
}

/* What to multiply votes with where four cells have this energy together. */
CODEC_INLINE uint64_t codec_gradient_gain(uint64_t energy) {
    const uint64_t n = energy + CODEC_GRADIENT_LEAST_ENERGY;
    uint64_t root = 0; /* floor(sqrt(n)) */
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= n) root += bit;
    return ((uint64_t)CODEC_GRADIENT_GAIN << CODEC_GRADIENT_GAIN_BITS) / root;
}

CODEC_INLINE uint32_t codec_gradient_clip(uint64_t votes, uint64_t gain) {
    const uint64_t value = votes * gain >> CODEC_GRADIENT_GAIN_BITS;
    return value < CODEC_GRADIENT_CLIP ? (uint32_t)value : (uint32_t)CODEC_GRADIENT_CLIP;
}

/* The mean of the values by the four blocks of cells. */
CODEC_INLINE uint8_t codec_gradient_value(uint64_t votes, const uint64_t gain[4]) {
    uint32_t sum = 2;
    for (int b = 0; b < 4; b++) sum += codec_gradient_clip(votes, gain[b]);
    return (uint8_t)(sum / 4);
}

/* Write the values of a cell, without its colours, by its votes[18] and the gains of its four
 * blocks, `plane` bytes apart. */
CODEC_INLINE void codec_gradient_values(const uint32_t *votes, const uint64_t gain[4], size_t plane,
                                        uint8_t *to) {
    for (int k = 0; k < CODEC_GRADIENT_SIGNED; k++, to += plane)
        *to = codec_gradient_value(votes[k], gain);
    for (int k = 0; k < CODEC_GRADIENT_HALF; k++, to += plane)
        *to = codec_gradient_value((uint64_t)votes[k] + votes[k + CODEC_GRADIENT_HALF], gain);
    for (int b = 0; b < 4; b++, to += plane) {
        uint32_t sum = 0;
        for (int k = 0; k < CODEC_GRADIENT_SIGNED; k++)
            sum += codec_gradient_clip(votes[k], gain[b]);
        *to = (uint8_t)(sum / CODEC_GRADIENT_SUM_PARTS);
    }
}

/* The cell beside `at` in block b of the four, along a side: at an edge itself. */
CODEC_INLINE uint32_t codec_gradient_beside(uint32_t at, uint32_t cells, int is_next) {
    if (is_next) return at + 1 < cells ? at + 1 : at;
    return at ? at - 1 : at;
}

#endif
