/* head.c -- see head.h. Integers up to the last multiplication, so that pixels are reproducible. */
#include "codec/bitplane/head.h"
#include "codec/backend/int8_dot.h"
#include "codec/backend/simd.h"
#include "codec/bitplane/conditional_state.h"
#include "codec/bitplane/quantiser.h"
#include "codec/entropy/fixed_log.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 32, MOST_HIDDEN = CODEC_CONDITIONAL_MOST_HIDDEN };

typedef struct work {
    const codec_group *group;
    const codec_conditional *head;
    int8_t seen[2][CODEC_CONDITIONAL_MOST_UNITS][LEVELS]; /* a by level; [1]: one plane deeper */
    int32_t bias[CODEC_CONDITIONAL_BORDERS][MOST_HIDDEN];
} work;

taper_status codec_head_attach(codec_code_tables *t, codec_conditional *head) {
    t->head = head;
    t->head_depth = calloc(t->units, 1);
    if (!t->head_depth) return TAPER_ERR_NOMEM;
    for (uint32_t i = 0; i < head->end; i++)
        t->head_depth[t->pass[i].unit] += t->pass[i].fraction + 1u == t->fractions;
    return TAPER_OK;
}

/* 2^(e / 16), rounded down to 1/65536. (codec_scale_exp2 is for values that are clamped later.) */
static float scale_of(int32_t e) {
    return e < 0 ? (float)codec_scale_exp2(1 << 16, e) / 65536.0f
                 : ldexpf(codec_exp_fraction[e % 16], e / 16 - 15);
}

float codec_head_uncertainty(const codec_code_tables *t, uint32_t u, uint32_t depth) {
    float scale = scale_of(t->log_scale[u]);
    float half = depth ? 0.5f * (float)((uint32_t)1 << (t->planes[u] - depth)) : scale;
    return half < scale ? half : scale;
}

static void begin(work *w, const codec_group *g) {
    const codec_code_tables *t = g->tables;
    w->group = g;
    w->head = t->head;
    for (uint32_t u = 0; u < w->head->own; u++)
        for (uint32_t more = 0; more < 1u + (uint32_t)codec_group_is_split(g, u); more++)
            for (uint32_t q = 0; q < LEVELS; q++)
                w->seen[more][u][q] = (int8_t)codec_conditional_seen(t, u, g->depth[u] + more, q);
    for (uint32_t border = 0; border < CODEC_CONDITIONAL_BORDERS; border++)
        codec_conditional_bias(w->head,
                               codec_conditional_stage(w->head, codec_model_pass(t, g->pass)),
                               border, w->bias[border]);
}

/* The sums of the first layer at position p. */
static void sum_inputs(const work *w, uint32_t p, int32_t *sum) {
    const codec_conditional *head = w->head;
    const codec_group *g = w->group;
    memset(sum, 0, head->hidden * sizeof *sum);
    for (uint32_t side = 0; side < CODEC_CONDITIONAL_SIDES; side++) {
        int self = side == CODEC_CONDITIONAL_SELF;
        uint32_t from = self ? p : codec_conditional_neighbour(g, p, side);
        if (from == g->n) continue;
        for (uint32_t u = 0; u < (self ? head->own : head->neighbour_units); u++) {
            int32_t level = g->level[(size_t)u * g->stride + from];
            if (!level) continue;
            uint32_t q = (uint32_t)abs(level), more = g->plane_known[(size_t)u * g->stride + from];
            int32_t a = q < LEVELS ? w->seen[more][u][q]
                                   : codec_conditional_seen(g->tables, u, g->depth[u] + more, q);
            const int8_t *pairs = head->pairs + (size_t)codec_conditional_input(
                                                    head->own, head->neighbour_units, side, u) *
                                                    2 * head->hidden;
            codec_add_pairs(sum, pairs, level < 0 ? -a : a, a, head->hidden);
        }
    }
}

/* Positions and units that are processed at once. */
enum { POSITIONS = 32, UNITS = CODEC_CONDITIONAL_OUT_LANES };

/* 1/4096 of the uncertainty of a unit, on the scale of values; 0 after the head's passes. */
static float uncertainty_of(const codec_code_tables *t, uint32_t u, uint32_t depth) {
    if (depth > t->head_depth[u] || depth > t->planes[u]) return 0;
    return t->step[u] * codec_head_uncertainty(t, u, depth) / 4096.0f;
}

/* The expected remainder of n units from `first`, in 1/4096 of their uncertainty. */
CODEC_CLONES static void to_rest(const int32_t *restrict sum, const uint8_t *restrict shift,
                                 uint32_t n, int32_t *restrict rest) {
    for (uint32_t u = 0; u < n; u++) rest[u] = sum[u] * 256 >> shift[u];
}

static void expect(const codec_conditional *head, const uint8_t *h2, uint32_t first, uint32_t n,
                   int32_t *rest) {
    int32_t sum[UNITS];
    codec_weight_lanes(head->out_quads + (size_t)first * head->hidden, h2, head->hidden,
                       codec_conditional_out_lanes(head, first), sum);
    to_rest(sum, head->out_shift + first, n, rest);
}

/* Correct units from `first` on at n positions from p. x: of the first position; h2: [n][hidden].
 */
static void add_units(const work *w, uint32_t first, uint32_t p, uint32_t n, const uint8_t *h2,
                      float *x) {
    const codec_group *g = w->group;
    const codec_code_tables *t = g->tables;
    uint32_t units = t->units - first < UNITS ? t->units - first : UNITS;
    float uncertainty[2][UNITS]; /* [1]: one plane deeper */
    int32_t rest[UNITS];
    for (uint32_t u = 0; u < units; u++)
        for (uint32_t more = 0; more < 2; more++)
            uncertainty[more][u] = uncertainty_of(t, first + u, g->depth[first + u] + more);
    const uint8_t *plane_known = g->plane_known + (size_t)first * g->stride + p;
    for (uint32_t i = 0; i < n; i++, x += t->units) {
        expect(w->head, h2 + (size_t)i * w->head->hidden, first, units, rest);
        for (uint32_t u = 0; u < units; u++) {
            float scale = uncertainty[plane_known[(size_t)u * g->stride + i]][u];
            if (scale != 0) x[first + u] += (float)rest[u] * scale;
        }
    }
}

void codec_head_dequantise(const codec_group *g, uint32_t first, uint32_t n, float *x) {
    const codec_code_tables *t = g->tables;
    codec_dequantise(g, first, n, x);
    if (!codec_group_has_head(g)) return;
    int32_t sum[MOST_HIDDEN];
    uint8_t h2[POSITIONS * MOST_HIDDEN];
    work w;
    begin(&w, g);
    for (uint32_t end = first + n; first < end; first += POSITIONS, x += POSITIONS * t->units) {
        n = end - first < POSITIONS ? end - first : POSITIONS;
        for (uint32_t i = 0; i < n; i++) {
            sum_inputs(&w, first + i, sum);
            codec_conditional_layers(w.head, sum, w.bias[codec_conditional_border(g, first + i)],
                                     h2 + (size_t)i * w.head->hidden);
        }
        for (uint32_t u = 0; u < t->units; u += UNITS) add_units(&w, u, first, n, h2, x);
    }
}
