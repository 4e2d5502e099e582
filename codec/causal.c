/* causal.c -- see causal.h. Integers only (promise P4). */
#include "causal.h"
#include <stdlib.h>

enum { PLACES = 16, SPREADS = 6, SIDES = 4, WEIGHT_BITS = 12 };
static const int32_t spread_edge[SPREADS - 1] = {10, 20, 32, 56, 96};

/* The window next to p on this side; where there is none the one opposite; where that is missing
 * too, p. */
static uint32_t next_to(const codec_group *g, uint32_t p, int side, int opposite) {
    uint32_t at = g->neighbour[side][p];
    if (at == g->n) at = g->neighbour[opposite][p];
    return at == g->n ? p : at;
}

void codec_causal_link(codec_group *g) {
    for (uint32_t p = 0; p < g->n; p++) {
        uint32_t *around = g->around[p];
        around[0] = next_to(g, p, CODEC_LEFT, CODEC_RIGHT);
        around[1] = next_to(g, p, CODEC_RIGHT, CODEC_LEFT);
        around[2] = next_to(g, p, CODEC_UP, CODEC_DOWN);
        around[3] = next_to(g, p, CODEC_DOWN, CODEC_UP);
        for (int i = 0; i < 4; i++) /* up and down of left and right */
            around[SIDES + i] = i < 2 ? next_to(g, around[i], CODEC_UP, CODEC_DOWN)
                                      : next_to(g, around[i - 2], CODEC_DOWN, CODEC_UP);
    }
}

/* The middle of what is known of the pass's unit at p, in 1/16 of the threshold after the pass. */
static int32_t value_known(const codec_group *g, uint32_t u, uint32_t p) {
    const codec_code_tables *t = g->tables;
    size_t at = (size_t)u * g->stride + p;
    uint32_t q = (uint32_t)abs(g->level[at]);
    if (!q) return 0;
    uint32_t bin = codec_ratio_bin(codec_log_ratio(t, u, codec_group_depth(g, u, p)));
    uint32_t c = t->recon[bin][(q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS) - 1];
    int32_t v = (int32_t)(((q << 8) + c) >> (g->ahead[at] ? 4 : 3));
    return g->level[at] < 0 ? -v : v;
}

void codec_causal_begin(codec_group *g) {
    uint32_t u = g->tables->pass[g->pass].unit;
    for (uint32_t p = 0; p < g->n; p++) g->known[p] = value_known(g, u, p);
}

void codec_causal_settle(codec_group *g, uint32_t p) {
    g->known[p] = value_known(g, g->tables->pass[g->pass].unit, p);
}

/* The bin of x, in 1/16 T, among 16 of T / 4, `zero` of them below 0. */
static uint32_t place_of(int32_t x, int32_t zero) {
    int32_t bin = (x >> 2) + zero;
    return (uint32_t)(bin < 0 ? 0 : bin >= PLACES ? PLACES - 1 : bin);
}

static uint32_t spread_of(const int32_t value[SIDES]) {
    int32_t least = value[0], most = value[0];
    for (int i = 1; i < SIDES; i++) {
        least = value[i] < least ? value[i] : least;
        most = value[i] > most ? value[i] : most;
    }
    uint32_t bin = 0;
    while (bin + 1 < SPREADS && most - least >= spread_edge[bin]) bin++;
    return bin;
}

uint32_t codec_causal_context(const codec_group *g, uint32_t p, codec_kind kind) {
    uint32_t u = g->tables->pass[g->pass].unit;
    const int16_t *weight = g->tables->causal_weight[u];
    int32_t value[CODEC_AROUND];
    int64_t sum = 1 << (WEIGHT_BITS - 1);
    for (int i = 0; i < CODEC_AROUND; i++) {
        value[i] = g->known[g->around[p][i]];
        sum += (int64_t)weight[i] * value[i];
    }
    int32_t v = (int32_t)(sum >> WEIGHT_BITS), level = g->level[(size_t)u * g->stride + p];
    uint32_t place;
    if (kind == CODEC_SIGNIFICANCE)
        place = place_of(abs(v), 0);
    else if (kind == CODEC_SIGN)
        place = place_of(v, PLACES / 2);
    else
        place = place_of((level < 0 ? -v : v) - 16 * (2 * abs(level) + 1), PLACES / 2);
    return place * SPREADS + spread_of(value);
}

int32_t codec_causal_logit(const codec_group *g, uint32_t p, codec_kind kind) {
    if (!g->neighbours[p]) return 0;
    uint32_t class = codec_causal_class(kind, g->tables->pass[g->pass].unit);
    return g->tables->causal_logit[class][codec_causal_context(g, p, kind)] * 256;
}
