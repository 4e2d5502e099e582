/* causal.c -- see causal.h. Integers only (promise P4). */
#include "codec/bitplane/causal.h"
#include "codec/backend/simd.h"
#include "codec/bitplane/neighbours.h"
#include <stdlib.h>
#include <string.h>

enum {
    PLACES = 16,
    SPREADS = 6,
    WEIGHT_BITS = 12,
    HALF = 1 << (WEIGHT_BITS - 1),
    LEVELS = CODEC_RECON_LEVELS + 1,
    CONTEXTS = CODEC_CAUSAL_CONTEXTS
};

/* --- memory ---------------------------------------------------------------------------- */

/* Shifts by a row of windows read values before the first and after the last; they are not used. */
void codec_causal_lay_out(codec_causal *c, const codec_group *g, formats_layout *at) {
    const size_t margin = g->widest, row = g->n + 2 * margin;
    int32_t *memory = formats_lay(at, 3 * (uint64_t)row + g->stride, sizeof *memory);
    *c = (codec_causal){0};
    if (!memory) return;
    c->known = memory + margin;
    c->left = c->known + row;
    c->right = c->left + row;
    c->logit = memory + 3 * row;
}

/* --- values ---------------------------------------------------------------------------- */

/* The reconstructed value of a level, in 1/16 of the threshold after the pass. centre: the
 * reconstruction point of its interval, in 1/256. plane_known: the level is at that threshold. */
CODEC_INLINE int32_t middle(int32_t level, int32_t plane_known, int32_t centre) {
    int32_t v = ((abs(level) << 8) + centre) >> (3 + plane_known);
    return level < 0 ? -v : v;
}

CODEC_INLINE int32_t centre_of(int32_t level) {
    return abs(level) < LEVELS - 1 ? abs(level) : LEVELS - 1;
}

/* The reconstruction points by level; that of level 0 gives the value 0. */
static void list_centres(const codec_group *g, uint32_t u, uint32_t depth, int32_t centre[LEVELS]) {
    const uint8_t *recon = g->tables->recon[codec_ratio_bin(codec_log_ratio(g->tables, u, depth))];
    centre[0] = 0;
    for (int q = 1; q < LEVELS; q++) centre[q] = recon[q - 1];
}

/* Fill the known values. centre: [2 LEVELS]: first of levels without the next plane, then with it.
 */
CODEC_CLONES static void know(const int16_t *restrict level, const uint8_t *restrict plane_known,
                              const int32_t *restrict centre, uint32_t n, int32_t *restrict known) {
    for (uint32_t p = 0; p < n; p++)
        known[p] =
            middle(level[p], plane_known[p], centre[centre_of(level[p]) + LEVELS * plane_known[p]]);
}

void codec_causal_update(codec_causal *c, const codec_group *g, uint32_t p, int32_t level,
                         uint16_t *context) {
    int has_left = g->sides[p] & CODEC_HAS_LEFT, has_right = g->sides[p] & CODEC_HAS_RIGHT;
    int32_t v = middle(level, 1, c->centre[centre_of(level)]);
    c->known[p] = v;
    if (has_right) {
        c->left[p + 1] = v;
        if (!(g->sides[p + 1] & CODEC_HAS_RIGHT)) c->right[p + 1] = v;
        context[p + 1] = CODEC_STALE;
    }
    if (has_left) {
        c->right[p - 1] = v;
        if (!(g->sides[p - 1] & CODEC_HAS_LEFT)) c->left[p - 1] = v;
    }
    if (!has_left && !has_right) c->left[p] = c->right[p] = v;
    if (!(g->sides[p] & CODEC_HAS_DOWN)) return;
    uint16_t *below = context + g->neighbour[CODEC_DOWN][p];
    *below = CODEC_STALE;
    if (has_left) below[-1] = CODEC_STALE;
    if (has_right) below[1] = CODEC_STALE;
}

/* --- contexts -------------------------------------------------------------------------- */

CODEC_INLINE int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
CODEC_INLINE int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* The bin of x, in 1/16 T: one of 16 bins of T / 4, of which `zero` are below 0. */
CODEC_INLINE int32_t place_of(int32_t x, int32_t zero) {
    return larger(0, smaller((x >> 2) + zero, PLACES - 1));
}

/* The bin of v for a magnitude bit of this level. */
CODEC_INLINE int32_t magnitude_place(int32_t v, int32_t level) {
    int32_t beyond = (level < 0 ? -v : v) - 16 * (2 * abs(level) + 1);
    return place_of(level ? beyond : abs(v), level ? PLACES / 2 : 0);
}

/* The lower ends of the bins of the spread, in 1/16 T: from half a threshold to six, with growing
 * steps. The gain of 4 % of such bits was measured with these values
 * (bench/results/rate-distortion.md). */
enum { SPREAD_1 = 10, SPREAD_2 = 20, SPREAD_3 = 32, SPREAD_4 = 56, SPREAD_5 = 96 };

CODEC_INLINE int32_t spread_of(int32_t a, int32_t b, int32_t c, int32_t d) {
    int32_t x = larger(larger(a, b), larger(c, d)) - smaller(smaller(a, b), smaller(c, d));
    return (x >= SPREAD_1) + (x >= SPREAD_2) + (x >= SPREAD_3) + (x >= SPREAD_4) + (x >= SPREAD_5);
}

/* The distance to the window on this side. If it is missing, that to the opposite one; if both are
 * missing, 0. */
static int32_t step_to(const codec_group *g, uint32_t p, int side, int opposite) {
    if (g->sides[p] & 1 << side) return (int32_t)g->neighbour[side][p] - (int32_t)p;
    return g->sides[p] & 1 << opposite ? (int32_t)g->neighbour[opposite][p] - (int32_t)p : 0;
}

void codec_causal_around(const codec_group *g, uint32_t p, uint32_t around[CODEC_AROUND]) {
    int32_t left = step_to(g, p, CODEC_LEFT, CODEC_RIGHT),
            right = step_to(g, p, CODEC_RIGHT, CODEC_LEFT),
            up = step_to(g, p, CODEC_UP, CODEC_DOWN), down = step_to(g, p, CODEC_DOWN, CODEC_UP);
    int32_t step[CODEC_AROUND] = {left,      right,      up,          down,
                                  left + up, right + up, left + down, right + down};
    for (int i = 0; i < CODEC_AROUND; i++) around[i] = (uint32_t)((int32_t)p + step[i]);
}

uint32_t codec_causal_context(const codec_causal *c, const codec_group *g, uint32_t p,
                              codec_kind kind) {
    uint32_t u = g->tables->pass[g->pass].unit;
    const int16_t *weight = g->tables->causal_weight[u];
    uint32_t up = p, down = p;
    if (g->sides[p] & CODEC_HAS_UP) up = down = g->neighbour[CODEC_UP][p];
    if (g->sides[p] & CODEC_HAS_DOWN) down = g->neighbour[CODEC_DOWN][p];
    if (!(g->sides[p] & CODEC_HAS_UP)) up = down;
    const int32_t *known = c->known, *left = c->left, *right = c->right;
    int32_t x[4] = {left[p], right[p], known[up], known[down]};
    /* without a loop, which compilers vectorise, slowly */
    int64_t sum = HALF + (int64_t)weight[0] * x[0] + (int64_t)weight[1] * x[1] +
                  (int64_t)weight[2] * x[2] + (int64_t)weight[3] * x[3] +
                  (int64_t)weight[4] * left[up] + (int64_t)weight[5] * right[up] +
                  (int64_t)weight[6] * left[down] + (int64_t)weight[7] * right[down];
    int32_t v = (int32_t)(sum >> WEIGHT_BITS), level = g->level[(size_t)u * g->stride + p];
    int32_t place = kind == CODEC_SIGN ? place_of(v, PLACES / 2) : magnitude_place(v, level);
    return (uint32_t)(place * SPREADS + spread_of(x[0], x[1], x[2], x[3]));
}

int32_t codec_causal_logit(const codec_causal *c, const codec_group *g, uint32_t p,
                           codec_kind kind) {
    if (!g->sides[p]) return 0;
    uint32_t class = codec_causal_class(kind, g->tables->pass[g->pass].unit);
    return g->tables->causal_logit[class][codec_causal_context(c, g, p, kind)] * 256;
}

/* --- contexts of all positions at once -------------------------------------------------- */

/* The values of the windows to the left and right, or of their replacements, row by row. */
CODEC_CLONES static void fill_absent_sides(const int32_t *restrict known,
                                           const uint8_t *restrict sides, uint32_t n,
                                           int32_t *restrict left, int32_t *restrict right) {
    for (uint32_t p = 0; p < n; p++) {
        int32_t before = (known - 1)[p], here = known[p], after = (known + 1)[p];
        int has_left = sides[p] & CODEC_HAS_LEFT, has_right = sides[p] & CODEC_HAS_RIGHT;
        left[p] = has_left ? before : has_right ? after : here;
        right[p] = has_right ? after : has_left ? before : here;
    }
}

typedef struct rows { /* the rows of a run */
    const int32_t *known, *left, *right;
    const int16_t *level;
    const uint8_t *sides;
    ptrdiff_t columns;
    uint32_t n;
} rows;

/* x where the first or else the second of two rows is there, or else of the row itself. All three
 * are read, as compilers do not vectorise loads under a condition. */
CODEC_INLINE int32_t of_rows(const int32_t *x, ptrdiff_t first, int has_first, int has_second) {
    int32_t one = x[first], two = x[-first], here = x[0];
    return has_first ? one : has_second ? two : here;
}
#define ABOVE(x) of_rows((x) + p, -columns, has_up, has_down)
#define BELOW(x) of_rows((x) + p, columns, has_down, has_up)

/* CONTEXTS x kind + context of the next magnitude bit of each position; NO_CONTEXT without
 * neighbours. */
enum { NO_CONTEXT = CODEC_KINDS * CONTEXTS };
CODEC_CLONES static void all_contexts(const rows *r, const int16_t weight[CODEC_AROUND],
                                      int32_t *restrict context) {
    const int32_t *restrict known = r->known, *restrict left = r->left, *restrict right = r->right;
    const int16_t *restrict levels = r->level;
    const uint8_t *restrict sides = r->sides;
    ptrdiff_t columns = r->columns;
    int32_t w0 = weight[0], w1 = weight[1], w2 = weight[2], w3 = weight[3], w4 = weight[4],
            w5 = weight[5], w6 = weight[6], w7 = weight[7];
    CODEC_VECTORS
    for (uint32_t p = 0; p < r->n; p++) {
        int has_up = sides[p] & CODEC_HAS_UP, has_down = sides[p] & CODEC_HAS_DOWN;
        int32_t a = left[p], b = right[p], c = ABOVE(known), d = BELOW(known), level = levels[p];
        int32_t sum = HALF + w0 * a + w1 * b + w2 * c + w3 * d + w4 * ABOVE(left) +
                      w5 * ABOVE(right) + w6 * BELOW(left) + w7 * BELOW(right);
        int32_t kind = (int32_t)codec_kind_of_level(level);
        int32_t place = magnitude_place(sum >> WEIGHT_BITS, level);
        context[p] =
            sides[p] ? kind * CONTEXTS + place * SPREADS + spread_of(a, b, c, d) : NO_CONTEXT;
    }
}
#undef ABOVE
#undef BELOW

/* Nonzero if sums of products may exceed 32 bits. A value is below 2^(depth + 5) before a pass. */
static int is_wide(const int16_t weight[CODEC_AROUND], uint32_t depth) {
    int64_t sum = 0;
    for (int i = 0; i < CODEC_AROUND; i++) sum += abs(weight[i]);
    return (sum << (depth + 5)) + HALF > INT32_MAX;
}

/* Replace contexts by their logits. Without clones, as vector gathers are slower. */
static void look_up(const codec_group *g, uint32_t u, int32_t *logit) {
    int32_t table[NO_CONTEXT + 1] = {0};
    for (uint32_t kind = 0; kind < CODEC_KINDS; kind++)
        for (uint32_t c = 0; c < CONTEXTS; c++)
            table[kind * CONTEXTS + c] =
                g->tables->causal_logit[codec_causal_class(kind, u)][c] * 256;
    for (uint32_t p = 0; p < g->n; p++) logit[p] = table[logit[p]];
}

void codec_causal_predict(codec_causal *c, const codec_group *g) {
    const codec_code_tables *t = g->tables;
    uint32_t u = t->pass[g->pass].unit;
    const int16_t *level = g->level + (size_t)u * g->stride, *weight = t->causal_weight[u];
    int32_t centre[2 * LEVELS];
    list_centres(g, u, g->depth[u], centre);
    list_centres(g, u, g->depth[u] + 1u, centre + LEVELS);
    memcpy(c->centre, centre + LEVELS, sizeof c->centre);
    know(level, g->plane_known + (size_t)u * g->stride, centre, g->n, c->known);
    fill_absent_sides(c->known, g->sides, g->n, c->left, c->right);
    c->wide = is_wide(weight, g->depth[u]);
    if (c->wide) return;
    for (uint32_t i = 0; i < g->runs; i++) {
        codec_run run = g->run[i];
        rows r = {c->known + run.first, c->left + run.first,  c->right + run.first,
                  level + run.first,    g->sides + run.first, run.columns,
                  run.end - run.first};
        all_contexts(&r, weight, c->logit + run.first);
    }
    look_up(g, u, c->logit);
}
