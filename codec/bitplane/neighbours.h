/* neighbours.h -- sums over neighbouring windows, for all positions at once.
 *
 * Within a run of images of one width a neighbour is at a fixed distance. So rows of values are
 * shifted, and masked at the borders of images. Compilers vectorise this; following
 * group->neighbour takes several times as long. */
#ifndef CODEC_NEIGHBOURS_H
#define CODEC_NEIGHBOURS_H
#include "codec/bitplane/group.h"

/* sum[p] += x of p's neighbour on this side (CODEC_LEFT ..), if it exists. x and sum: [n]. The
 * group must have neighbours. */
void codec_neighbours_add_u16(const codec_group *group, int side, const uint16_t *x, uint16_t *sum);
void codec_neighbours_add_i32(const codec_group *group, int side, const int32_t *x, int32_t *sum);

/* Bits of group->sides. */
enum {
    CODEC_HAS_LEFT = 1 << CODEC_LEFT,
    CODEC_HAS_RIGHT = 1 << CODEC_RIGHT,
    CODEC_HAS_UP = 1 << CODEC_UP,
    CODEC_HAS_DOWN = 1 << CODEC_DOWN
};

static inline uint32_t codec_neighbours_count(uint8_t sides) {
    return (uint32_t)(sides & 1) + (sides >> 1 & 1) + (sides >> 2 & 1) + (sides >> 3 & 1);
}

#endif
