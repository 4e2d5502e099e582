/* conditional_state.c -- the conditional model's arithmetic; see conditional.h. Integers only
 * (promise P4). */
#include "codec/bitplane/conditional_state.h"
#include "codec/backend/int8_dot.h"
#include "codec/backend/pool.h"
#include "codec/backend/simd.h"
#include "codec/backend/wasm.h"
#include "codec/entropy/fixed_log.h"
#include <stdlib.h>
#include <string.h>

enum {
    INPUT_MAX = 127,
    ACTIVATION_MAX = 127,
    LANES = 64, /* positions whose logits are computed at once */
    VECTOR = 16 /* positions that kernels read beyond the last */
};

/* --- memory ---------------------------------------------------------------------------- */

void codec_conditional_lay_out(codec_conditional_state *s, const codec_conditional *c, uint32_t n,
                               codec_group_layout *at) {
    const uint64_t stride = ((uint64_t)n + LANES - 1) / LANES * LANES, hidden = c->hidden;
    s->model = c, s->stride = (uint32_t)stride;
    s->sum = formats_lay(&at->coding, n * hidden, sizeof *s->sum);
    s->hidden = formats_lay(&at->coding, n * hidden, sizeof *s->hidden);
    s->columns = formats_lay(&at->coding, stride * hidden, sizeof *s->columns);
    s->seen = formats_lay(&at->coding, (uint64_t)c->own * n, 1);
    s->planes = formats_lay(&at->core, c->own, 1);
    s->fractions = formats_lay(&at->core, c->own, 1);
    s->logit = formats_lay(&at->coding, stride + VECTOR, sizeof *s->logit);
    codec_input_changes_lay_out(&s->changes, n, &at->unset);
}

void codec_conditional_reset(codec_conditional_state *s, uint32_t n) {
    const codec_conditional *c = s->model;
    memset(s->sum, 0, (size_t)n * c->hidden * sizeof *s->sum);
    memset(s->seen, 0, (size_t)c->own * n);
    memset(s->planes, 0, c->own), memset(s->fractions, 0, c->own);
    s->stages = s->seen_pass = 0;
}

/* --- inputs ---------------------------------------------------------------------------- */

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

/* --- the first layer ------------------------------------------------------------------- */

/* Add all changes to the sums, in the caller's thread. */
__attribute__((noinline)) static void sum_changes(codec_conditional_state *s,
                                                  const codec_group *g) {
    codec_input_changes_sort(&s->changes, g->n);
    for (uint32_t p = 0; p < g->n; p++)
        codec_input_changes_sum(&s->changes, s->model, g, p, s->sum + (size_t)p * s->model->hidden);
    s->changes.count = 0;
}

/* Change the input of unit u at position p to a. */
static void change_input(codec_conditional_state *s, const codec_group *g, uint32_t u, uint32_t p,
                         int32_t a) {
    int8_t *seen = s->seen + (size_t)u * g->n + p;
    int32_t da = a - *seen, db = abs(a) - abs(*seen);
    *seen = (int8_t)a;
    codec_input_changes_add(&s->changes, p, (codec_pair_row){u, (int16_t)da, (int16_t)db});
}

/* List all inputs that have changed since the last stage. */
static void see_changes(codec_conditional_state *s, const codec_group *g) {
    enum { LEVELS = 64 };
    uint64_t coded[CODEC_CONDITIONAL_MOST_UNITS / 64] = {0}; /* units of passes since then */
    for (; s->seen_pass < g->pass; s->seen_pass++) {
        uint32_t u = g->tables->pass[s->seen_pass].unit;
        if (u < s->model->own) coded[u / 64] |= (uint64_t)1 << u % 64;
    }
    for (uint32_t u = 0; u < s->model->own; u++) {
        if (!(coded[u / 64] >> u % 64 & 1)) continue;
        uint32_t depth = g->depth[u];
        if (s->planes[u] == depth && s->fractions[u] == g->fraction[u]) continue;
        s->planes[u] = (uint8_t)depth, s->fractions[u] = g->fraction[u];
        if (s->changes.count + g->n > s->changes.most) sum_changes(s, g);
        int32_t table[2][LEVELS]; /* of levels that have occurred */
        uint64_t has[2] = {0, 0}; /* which ones these are */
        const int16_t *level = g->level + (size_t)u * g->stride;
        const uint8_t *plane_known = g->plane_known + (size_t)u * g->stride;
        for (uint32_t p = 0; (p = codec_next_nonzero(level, p, g->n)) < g->n; p++) {
            uint32_t q = (uint32_t)abs(level[p]), more = plane_known[p];
            int32_t a;
            if (q < LEVELS && has[more] >> q & 1)
                a = table[more][q];
            else {
                a = codec_conditional_seen(g->tables, u, depth + more, q);
                if (q < LEVELS) table[more][q] = a, has[more] |= (uint64_t)1 << q;
            }
            a = level[p] < 0 ? -a : a;
            if (a != s->seen[(size_t)u * g->n + p]) change_input(s, g, u, p, a);
        }
    }
}

/* --- the layers of a stage ------------------------------------------------------------- */

static inline int32_t activate(int32_t z) {
    z = (z + 8) >> 4;
    return z < 0 ? 0 : z > ACTIVATION_MAX ? ACTIVATION_MAX : z;
}

CODEC_INLINE int32_t dot(const int8_t *restrict w, const uint8_t *restrict x, uint32_t n) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += w[i] * x[i];
    return sum;
}

CODEC_CLONES static void first_layer(const int32_t *restrict sum, const uint8_t *restrict shift,
                                     const int32_t *restrict bias, uint32_t n,
                                     uint8_t *restrict to) {
    for (uint32_t i = 0; i < n; i++) to[i] = (uint8_t)activate((sum[i] * 8 >> shift[i]) + bias[i]);
}

void codec_conditional_layers(const codec_conditional *c, const int32_t *sum, const int32_t *bias,
                              uint8_t *h2) {
    first_layer(sum, c->first_shift, bias, c->hidden, h2);
    for (int l = 0; l < CODEC_CONDITIONAL_MIDDLES; l++)
        codec_middle_layer(c->quads[l], c->middle_shift[l], c->middle_bias[l], c->hidden, h2);
}

uint32_t codec_conditional_border(const codec_group *g, uint32_t p) {
    return g->sides ? g->sides[p] : 0;
}

CODEC_CLONES static void add_i32(const int32_t *restrict x, const int32_t *restrict y, uint32_t n,
                                 int32_t *restrict sum) {
    for (uint32_t i = 0; i < n; i++) sum[i] = x[i] + y[i];
}

void codec_conditional_bias(const codec_conditional *c, uint32_t stage, uint32_t border,
                            int32_t *bias) {
    const size_t hidden = c->hidden;
    add_i32(c->stage + stage * hidden, c->border + border * hidden, c->hidden, bias);
}

typedef struct stage_task {
    const codec_group *group;
    codec_conditional_state *state;
    int32_t bias[CODEC_CONDITIONAL_BORDERS][CODEC_CONDITIONAL_MOST_HIDDEN];
} stage_task;

enum { STAGE_BLOCK = 128 }; /* positions */

static void run_hidden_layers(void *context, size_t block) {
    const stage_task *t = context;
    const codec_conditional *c = t->state->model;
    uint32_t end = (uint32_t)(block + 1) * STAGE_BLOCK;
    for (uint32_t p = (uint32_t)block * STAGE_BLOCK; p < end && p < t->group->n; p++) {
        uint8_t *h2 = t->state->hidden + (size_t)p * c->hidden;
        int32_t *sum = t->state->sum + (size_t)p * c->hidden;
        codec_input_changes_sum(&t->state->changes, c, t->group, p, sum);
        codec_conditional_layers(c, sum, t->bias[codec_conditional_border(t->group, p)], h2);
        uint8_t *matrix = t->state->columns + (size_t)(p / LANES) * c->hidden * LANES;
        for (uint32_t h = 0; h < c->hidden; h += 4)
            memcpy(matrix + codec_quad_at(LANES, h, p % LANES), h2 + h, 4);
    }
}

/* The hidden layers of a stage, from all inputs that are listed or summed. Not inlined, for its
 * size. */
__attribute__((noinline)) static void run_stage(codec_conditional_state *s, const codec_group *g,
                                                uint32_t stage, codec_pool *pool) {
    stage_task task = {.group = g, .state = s};
    for (uint32_t border = 0; border < CODEC_CONDITIONAL_BORDERS; border++)
        codec_conditional_bias(s->model, stage, border, task.bias[border]);
    codec_input_changes_sort(&s->changes, g->n);
    codec_pool_run(pool, run_hidden_layers, &task, (g->n + STAGE_BLOCK - 1) / STAGE_BLOCK);
    s->changes.count = 0;
}

int codec_conditional_is_needed(const codec_conditional_state *s, const codec_group *g) {
    return g->tables->conditional && s->stages &&
           codec_model_pass(g->tables, g->pass) < g->tables->conditional->end;
}

/* List all inputs: sums begin with 0. */
static void list_seen(codec_conditional_state *s, const codec_group *g) {
    for (uint32_t u = 0; u < s->model->own; u++) {
        const int8_t *seen = s->seen + (size_t)u * g->n;
        if (s->changes.count + g->n > s->changes.most) sum_changes(s, g);
        for (uint32_t p = 0; p < g->n; p++)
            if (seen[p])
                codec_input_changes_add(&s->changes, p,
                                        (codec_pair_row){u, seen[p], (int16_t)abs(seen[p])});
    }
}

void codec_conditional_resume(codec_conditional_state *s, const codec_group *g, codec_pool *pool) {
    if (!codec_conditional_is_needed(s, g)) return;
    list_seen(s, g);
    if (s->stages == codec_conditional_stage(s->model, codec_model_pass(g->tables, g->pass)) + 1)
        run_stage(s, g, s->stages - 1, pool);
    else
        sum_changes(s, g);
}

/* --- a pass ---------------------------------------------------------------------------- */

#ifdef CODEC_WASM_KERNELS
static void to_logits(const int32_t *sum, uint8_t shift, int32_t bias, int32_t *logit) {
    for (uint32_t i = 0; i < LANES; i += 4) {
        uint32_t by = shift;
        CODEC_AS_IT_IS(by);
        v128_t scaled = wasm_i32x4_shr(wasm_i32x4_shl(wasm_v128_load(sum + i), 8), by);
        wasm_v128_store(logit + i, wasm_i32x4_add(scaled, wasm_i32x4_splat(bias)));
    }
}
#else
CODEC_CLONES static void to_logits(const int32_t *restrict sum, uint8_t shift, int32_t bias,
                                   int32_t *restrict logit) {
    for (uint32_t i = 0; i < LANES; i++) logit[i] = (sum[i] * 256 >> shift) + bias;
}
#endif

/* The logits of all positions. */
static void all_logits(const int8_t *w, uint8_t shift, int32_t bias, uint32_t hidden,
                       const uint8_t *columns, uint32_t n, int32_t *logit) {
    for (uint32_t p = 0; p < n; p += LANES, columns += hidden * LANES) {
        int32_t sum[LANES];
        codec_activation_lanes(columns, w, hidden, LANES, sum);
        to_logits(sum, shift, bias, logit + p);
    }
}

/* The logit of one position. */
CODEC_CLONES static int32_t one_logit(const int8_t *w, uint8_t shift, int32_t bias,
                                      const uint8_t *h, uint32_t hidden) {
    return (dot(w, h, hidden) * 256 >> shift) + bias;
}

int32_t codec_conditional_sign(const codec_conditional_state *s, uint32_t p) {
    uint32_t hidden = s->model->hidden;
    return s->sign ? one_logit(s->sign, s->sign_shift, s->sign_bias, s->hidden + (size_t)p * hidden,
                               hidden)
                   : 0;
}

void codec_conditional_predict(codec_conditional_state *s, const codec_group *g, codec_pool *pool) {
    const codec_conditional *c = s->model;
    codec_pass pass = g->tables->pass[g->pass];
    uint32_t hidden = c->hidden;
    s->sign = NULL;
    uint32_t at_pass = codec_model_pass(g->tables, g->pass);
    if (at_pass >= c->end || codec_pass_is_raised(g->tables, g->pass)) {
        memset(s->logit, 0, g->n * sizeof *s->logit);
        return;
    }
    uint32_t stage = codec_conditional_stage(c, at_pass);
    if (stage + 1 != s->stages) {
        see_changes(s, g);
        run_stage(s, g, stage, pool);
    }
    s->stages = stage + 1;
    int32_t bias[CODEC_CONDITIONAL_KINDS];
    for (uint32_t k = 0; k < CODEC_CONDITIONAL_KINDS; k++)
        bias[k] = c->bias[(size_t)k * c->end + at_pass] * 64;
    size_t row = (size_t)pass.unit * CODEC_CONDITIONAL_KINDS, at = (size_t)pass.unit * g->stride;
    const int8_t *w = c->out + row * hidden; /* significance, sign, refinement */
    const uint8_t *shift = c->out_shift + row;
    all_logits(w, shift[0], bias[0], hidden, s->columns, g->n, s->logit);
    const int16_t *level = g->level + at;
    uint32_t refined =
        pass.fraction + 1u == g->tables->fractions ? g->n : 0; /* only the last fraction refines */
    for (uint32_t p = 0; (p = codec_next_nonzero(level, p, refined)) < refined; p++)
        if (!g->plane_known[at + p])
            s->logit[p] = one_logit(w + 2 * hidden, shift[2], bias[2],
                                    s->hidden + (size_t)p * hidden, hidden);
    s->sign = w + hidden;
    s->sign_shift = shift[1], s->sign_bias = bias[1];
}
