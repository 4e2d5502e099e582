/* neighbours.c -- see neighbours.h. */
#include "codec/bitplane/neighbours.h"
#include "codec/backend/simd.h"

/* The positions of a run that may have a neighbour on a side, and the distance to it. */
typedef struct reach {
    uint32_t first, end;
    ptrdiff_t distance;
} reach;

static reach reach_of(const codec_run *run, int side) {
    ptrdiff_t by = side == CODEC_LEFT    ? -1
                   : side == CODEC_RIGHT ? 1
                   : side == CODEC_UP    ? -(ptrdiff_t)run->columns
                                         : (ptrdiff_t)run->columns;
    uint32_t before = by < 0 ? (uint32_t)-by : 0, after = by > 0 ? (uint32_t)by : 0;
    return (reach){run->first + before, run->end - after, by};
}

CODEC_CLONES static void add_u16(reach r, const uint8_t *restrict sides, int bit,
                                 const uint16_t *restrict x, uint16_t *restrict sum) {
    for (uint32_t p = r.first; p < r.end; p++) {
        uint16_t there = x[(ptrdiff_t)p + r.distance];
        sum[p] = (uint16_t)(sum[p] + (sides[p] & bit ? there : 0));
    }
}

CODEC_CLONES static void add_i32(reach r, const uint8_t *restrict sides, int bit,
                                 const int32_t *restrict x, int32_t *restrict sum) {
    for (uint32_t p = r.first; p < r.end; p++) {
        int32_t there = x[(ptrdiff_t)p + r.distance];
        sum[p] += sides[p] & bit ? there : 0;
    }
}

void codec_neighbours_add_u16(const codec_group *g, int side, const uint16_t *x, uint16_t *sum) {
    for (uint32_t i = 0; i < g->runs; i++)
        add_u16(reach_of(&g->run[i], side), g->sides, 1 << side, x, sum);
}

void codec_neighbours_add_i32(const codec_group *g, int side, const int32_t *x, int32_t *sum) {
    for (uint32_t i = 0; i < g->runs; i++)
        add_i32(reach_of(&g->run[i], side), g->sides, 1 << side, x, sum);
}
