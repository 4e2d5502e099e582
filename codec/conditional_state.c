/* conditional_state.c -- the conditional model's arithmetic; see conditional.h. Integers only
 * (promise P4). */
#include "conditional_state.h"
#include "backend/pool.h"
#include "clones.h"
#include "fixed_log.h"
#include "group.h"
#include <stdlib.h>
#include <string.h>

enum {
    SIDES = CODEC_CONDITIONAL_SIDES,
    SELF = CODEC_CONDITIONAL_SELF,
    INPUT_MAX = 127,
    ACTIVATION_MAX = 127,
    USUAL = 64, /* hidden units: loops for it are compiled apart, with sums in registers */
    LANES = 64  /* positions whose logits are summed at a time, likewise */
};

/* --- memory ---------------------------------------------------------------------------- */

uint64_t codec_conditional_bytes(const codec_conditional *c, uint64_t n) {
    if (n >= (uint64_t)1 << 40) return UINT64_MAX;
    return (n + LANES) * (8 * (uint64_t)c->hidden + c->own + 8);
}

taper_status codec_conditional_begin(codec_conditional_state *s, const codec_conditional *c,
                                     uint32_t n) {
    *s = (codec_conditional_state){.model = c};
    s->stride = (n + LANES - 1) / LANES * LANES;
    s->sum = calloc((size_t)n * c->hidden, sizeof *s->sum);
    s->hidden = calloc((size_t)n * c->hidden, sizeof *s->hidden);
    s->columns = calloc((size_t)s->stride * c->hidden, sizeof *s->columns);
    s->seen = calloc((size_t)c->own * n, 1);
    s->planes = calloc(c->own, 1);
    s->parts = calloc(c->own, 1);
    s->logit = calloc(s->stride, sizeof *s->logit);
    if (s->sum && s->hidden && s->columns && s->seen && s->planes && s->parts && s->logit)
        return TAPER_OK;
    codec_conditional_end(s);
    return TAPER_ERR_NOMEM;
}

void codec_conditional_end(codec_conditional_state *s) {
    free(s->sum), free(s->hidden), free(s->seen), free(s->planes), free(s->parts);
    free(s->columns), free(s->logit);
    *s = (codec_conditional_state){0};
}

/* --- what is seen ---------------------------------------------------------------------- */

/* 16 log2(1 + 4 |x| / scale): 0 for 0, 37 at the scale, 127 from 61 scales on. */
int32_t codec_conditional_seen(const codec_code_tables *t, uint32_t u, uint32_t depth, uint32_t q) {
    if (!q || !depth) return 0;
    int32_t ratio = codec_log_ratio(t, u, depth);
    uint32_t c =
        t->recon[codec_ratio_bin(ratio)][(q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS) - 1];
    uint64_t quarters = codec_scale_exp2((uint64_t)((q << 8) + c) << 10, ratio) >> 8; /* 1/1024 */
    int32_t a = codec_log16(256 + (uint32_t)(quarters < 1 << 20 ? quarters : 1 << 20)) - 16 * 8;
    return a < INPUT_MAX ? a : INPUT_MAX;
}

/* With slot n of the neighbours being n itself, a diagonal is two steps. */
uint32_t codec_conditional_beside(const codec_group *g, uint32_t p, uint32_t side) {
    static const uint8_t across[3] = {CODEC_LEFT, 0, CODEC_RIGHT},
                         along[3] = {CODEC_UP, 0, CODEC_DOWN};
    uint32_t x = side % 3, y = side / 3;
    if (x != 1) p = g->neighbour[across[x]] ? g->neighbour[across[x]][p] : g->n;
    if (y != 1) p = g->neighbour[along[y]] ? g->neighbour[along[y]][p] : g->n;
    return p;
}

/* --- the first layer, kept ------------------------------------------------------------- */

/* |da|, |db| <= 254, so that products fit 16 bits. Static, as all clones: others would be exported.
 */
CODEC_CLONES static void add_change(int32_t *restrict sum, const int8_t *restrict w,
                                    const int8_t *restrict v, int16_t da, int16_t db, uint32_t n) {
    for (uint32_t h = 0; h < n; h++) sum[h] += (int16_t)(w[h] * da) + (int16_t)(v[h] * db);
}

void codec_conditional_add(int32_t *sum, const int8_t *w, const int8_t *v, int16_t da, int16_t db,
                           uint32_t hidden) {
    add_change(sum, w, v, da, db, hidden);
}

/* Unit u of position p is now seen as a. */
static void change_input(codec_conditional_state *s, const codec_group *g, uint32_t u, uint32_t p,
                         int32_t a) {
    const codec_conditional *c = s->model;
    int8_t *seen = s->seen + (size_t)u * g->n + p;
    int16_t da = (int16_t)(a - *seen), db = (int16_t)(abs(a) - abs(*seen));
    size_t hidden = c->hidden;
    *seen = (int8_t)a;
    for (uint32_t side = 0; side < SIDES; side++) {
        if (side != SELF && (u >= c->beside || !g->neighbour[0])) continue;
        uint32_t to = codec_conditional_beside(g, p, SIDES - 1 - side); /* p is on its `side` */
        if (to == g->n) continue;
        const int8_t *w =
            c->first + codec_conditional_input(c->own, c->beside, side, u) * 2 * hidden;
        codec_conditional_add(s->sum + to * hidden, w, w + hidden, da, db, c->hidden);
    }
}

/* Whatever has become known since the last stage. */
static void see_changes(codec_conditional_state *s, const codec_group *g) {
    enum { LEVELS = 64 };
    for (uint32_t u = 0; u < s->model->own; u++) {
        uint32_t depth = g->depth[u];
        if (s->planes[u] == depth && s->parts[u] == g->part[u]) continue;
        s->planes[u] = (uint8_t)depth, s->parts[u] = g->part[u];
        int32_t table[2][LEVELS];
        for (uint32_t more = 0; more < 1u + (g->part[u] > 0); more++)
            for (uint32_t q = 0; q < LEVELS; q++)
                table[more][q] = codec_conditional_seen(g->tables, u, depth + more, q);
        const int16_t *level = g->level + (size_t)u * g->stride;
        const uint8_t *ahead = g->ahead + (size_t)u * g->stride;
        for (uint32_t p = 0; p < g->n; p++) {
            if (!level[p]) continue;
            uint32_t q = (uint32_t)abs(level[p]), more = ahead[p];
            int32_t a =
                q < LEVELS ? table[more][q] : codec_conditional_seen(g->tables, u, depth + more, q);
            a = level[p] < 0 ? -a : a;
            if (a != s->seen[(size_t)u * g->n + p]) change_input(s, g, u, p, a);
        }
    }
}

/* --- the layers of a stage ------------------------------------------------------------- */

static inline int32_t part(int32_t z) {
    z = (z + 8) >> 4;
    return z < 0 ? 0 : z > ACTIVATION_MAX ? ACTIVATION_MAX : z;
}

CODEC_INLINE int32_t dot(const int16_t *restrict w, const int16_t *restrict x, uint32_t n) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += w[i] * x[i];
    return sum;
}

/* sum[h] += w[h] a + v[h] b. Weights are within +-127 and a and b within 0 .. 127, so that both
 * products together fit 16 bits; so written, compilers multiply twice as many at a time. */
CODEC_INLINE void add_two(int32_t *restrict sum, const int16_t *restrict w,
                          const int16_t *restrict v, int16_t a, int16_t b, uint32_t n) {
    for (uint32_t h = 0; h < n; h++) {
        uint16_t both = (uint16_t)((uint16_t)(w[h] * a) + (uint16_t)(v[h] * b));
        sum[h] += (int16_t)both;
    }
}

/* Where x is not 0, about half of it, and what it is there; then two zeros, for pairs. The list's
 * end is in its values lest compilers exchange the loops over it, which then take four times as
 * long. */
CODEC_INLINE void list_live(const int16_t *x, uint32_t n, uint32_t *at, int16_t *value) {
    uint32_t live = 0;
    for (uint32_t i = 0; i < n; i++) {
        at[live] = i, value[live] = x[i];
        live += x[i] != 0;
    }
    at[live] = 0, value[live] = value[live + 1] = 0;
}

CODEC_INLINE void middle_layer(const codec_conditional *c, int l, uint32_t n, const int16_t *x,
                               int16_t *to) {
    int32_t sum[CODEC_CONDITIONAL_MOST_HIDDEN];
    int16_t value[CODEC_CONDITIONAL_MOST_HIDDEN + 2];
    uint32_t at[CODEC_CONDITIONAL_MOST_HIDDEN + 2];
    memset(sum, 0, n * sizeof *sum);
    list_live(x, n, at, value);
    for (uint32_t i = 0; value[i]; i += 2)
        add_two(sum, c->middle[l] + at[i] * n, c->middle[l] + at[i + 1] * n, value[i], value[i + 1],
                n);
    for (uint32_t h = 0; h < n; h++) {
        int32_t z = x[h] + part((sum[h] * 16 >> c->middle_shift[l][h]) + c->middle_bias[l][h]);
        to[h] = (int16_t)(z > ACTIVATION_MAX ? ACTIVATION_MAX : z);
    }
}

CODEC_INLINE void all_layers(const codec_conditional *c, uint32_t n, const int32_t *sum,
                             const int32_t *bias, int16_t *to) {
    int16_t h[2][CODEC_CONDITIONAL_MOST_HIDDEN];
    for (uint32_t i = 0; i < n; i++)
        h[0][i] = (int16_t)part((sum[i] * 8 >> c->first_shift[i]) + bias[i]);
    middle_layer(c, 0, n, h[0], h[1]);
    middle_layer(c, 1, n, h[1], to);
}

CODEC_CLONES static void layers(const codec_conditional *c, const int32_t *sum, const int32_t *bias,
                                int16_t *to) {
    if (c->hidden == USUAL)
        all_layers(c, USUAL, sum, bias, to);
    else
        all_layers(c, c->hidden, sum, bias, to);
}

void codec_conditional_layers(const codec_conditional *c, const int32_t *sum, const int32_t *bias,
                              int16_t *h2) {
    layers(c, sum, bias, h2);
}

uint32_t codec_conditional_border(const codec_group *g, uint32_t p) {
    return g->sides ? g->sides[p] : 0;
}

/* Does a window of this place have one on this side? */
static int has_side(uint32_t border, uint32_t side) {
    uint32_t x = side % 3, y = side / 3;
    return (x != 0 || border & 1u << CODEC_LEFT) && (x != 2 || border & 1u << CODEC_RIGHT) &&
           (y != 0 || border & 1u << CODEC_UP) && (y != 2 || border & 1u << CODEC_DOWN);
}

void codec_conditional_bias(const codec_conditional *c, uint32_t stage, uint32_t border,
                            int32_t *bias) {
    memcpy(bias, c->stage + (size_t)stage * c->hidden, c->hidden * sizeof *bias);
    for (uint32_t side = 0; side < SIDES; side++)
        if (has_side(border, side))
            for (uint32_t h = 0; h < c->hidden; h++)
                bias[h] += c->place[(size_t)side * c->hidden + h];
}

typedef struct stage_task {
    const codec_group *group;
    codec_conditional_state *state;
    int32_t bias[CODEC_CONDITIONAL_BORDERS][CODEC_CONDITIONAL_MOST_HIDDEN];
} stage_task;

enum { STAGE_BLOCK = 128 }; /* positions */

static void think(void *context, size_t block) {
    const stage_task *t = context;
    const codec_conditional *c = t->state->model;
    uint32_t end = (uint32_t)(block + 1) * STAGE_BLOCK;
    for (uint32_t p = (uint32_t)block * STAGE_BLOCK; p < end && p < t->group->n; p++) {
        int16_t *h2 = t->state->hidden + (size_t)p * c->hidden;
        codec_conditional_layers(c, t->state->sum + (size_t)p * c->hidden,
                                 t->bias[codec_conditional_border(t->group, p)], h2);
        int16_t *column = t->state->columns + (size_t)(p / LANES) * c->hidden * LANES + p % LANES;
        for (uint32_t h = 0; h < c->hidden; h++) column[h * LANES] = h2[h];
    }
}

static void begin_stage(codec_conditional_state *s, const codec_group *g, uint32_t stage) {
    stage_task task = {.group = g, .state = s};
    for (uint32_t border = 0; border < CODEC_CONDITIONAL_BORDERS; border++)
        codec_conditional_bias(s->model, stage, border, task.bias[border]);
    see_changes(s, g);
    codec_pool_run(g->pool, think, &task, (g->n + STAGE_BLOCK - 1) / STAGE_BLOCK);
}

/* --- a pass ---------------------------------------------------------------------------- */

/* Of all positions, LANES at a time: two products fit 16 bits (see add_two). */
CODEC_CLONES static void all_logits(const int16_t *restrict w, uint8_t shift, int32_t bias,
                                    uint32_t hidden, const int16_t *restrict columns, uint32_t n,
                                    int32_t *restrict logit) {
    for (uint32_t p = 0; p < n; p += LANES, logit += LANES) {
        int32_t sum[LANES] = {0};
        for (uint32_t h = 0; h < hidden; h += 2, columns += 2 * LANES) {
            const int16_t *x = columns, *y = columns + LANES;
            for (uint32_t i = 0; i < LANES; i++) {
                uint16_t both = (uint16_t)((uint16_t)(w[h] * x[i]) + (uint16_t)(w[h + 1] * y[i]));
                sum[i] += (int16_t)both;
            }
        }
        for (uint32_t i = 0; i < LANES; i++) logit[i] = (sum[i] * 256 >> shift) + bias;
    }
}

/* Of one position. */
CODEC_CLONES static int32_t one_logit(const int16_t *w, uint8_t shift, int32_t bias,
                                      const int16_t *h, uint32_t hidden) {
    return (dot(w, h, hidden) * 256 >> shift) + bias;
}

int32_t codec_conditional_sign(const codec_conditional_state *s, uint32_t p) {
    uint32_t hidden = s->model->hidden;
    return s->sign ? one_logit(s->sign, s->sign_shift, s->sign_bias, s->hidden + (size_t)p * hidden,
                               hidden)
                   : 0;
}

void codec_conditional_predict(codec_conditional_state *s, const codec_group *g) {
    const codec_conditional *c = s->model;
    codec_pass pass = g->tables->pass[g->pass];
    uint32_t stage = s->stages ? s->stages - 1 : 0, hidden = c->hidden;
    s->sign = NULL;
    if (g->pass >= c->end) {
        memset(s->logit, 0, g->n * sizeof *s->logit);
        return;
    }
    while (stage + 1 < c->stages && c->begin[stage + 1] <= g->pass) stage++;
    if (stage + 1 != s->stages) begin_stage(s, g, stage);
    s->stages = stage + 1;
    int32_t bias[CODEC_CONDITIONAL_KINDS];
    for (uint32_t k = 0; k < CODEC_CONDITIONAL_KINDS; k++)
        bias[k] = c->bias[(size_t)k * c->end + g->pass] * 64;
    size_t row = (size_t)pass.unit * CODEC_CONDITIONAL_KINDS, at = (size_t)pass.unit * g->stride;
    const int16_t *w = c->out + row * hidden; /* significance, sign, refinement */
    const uint8_t *shift = c->out_shift + row;
    all_logits(w, shift[0], bias[0], hidden, s->columns, g->n, s->logit);
    for (uint32_t p = 0; p < g->n && pass.part + 1u == g->tables->parts; p++)
        if (g->level[at + p] && !g->ahead[at + p])
            s->logit[p] = one_logit(w + 2 * hidden, shift[2], bias[2],
                                    s->hidden + (size_t)p * hidden, hidden);
    s->sign = w + hidden;
    s->sign_shift = shift[1], s->sign_bias = bias[1];
}
