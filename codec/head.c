/* head.c -- see head.h. Integers up to the last multiplication, so that pixels repeat too. */
#include "head.h"
#include "fixed_log.h"
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 32, MOST_HIDDEN = CODEC_CONDITIONAL_MOST_HIDDEN };

typedef struct work {
    const codec_group *group;
    const codec_conditional *head;
    int8_t seen[2][CODEC_CONDITIONAL_MOST_UNITS][LEVELS]; /* a by level; [1]: a plane deeper */
    int32_t bias[CODEC_CONDITIONAL_BORDERS][MOST_HIDDEN];
} work;

taper_status codec_head_attach(codec_code_tables *t, codec_conditional *head) {
    t->head = head;
    t->head_depth = calloc(t->units, 1);
    if (!t->head_depth) return TAPER_ERR_NOMEM;
    for (uint32_t i = 0; i < head->end; i++)
        t->head_depth[t->pass[i].unit] += t->pass[i].part + 1u == t->parts;
    return TAPER_OK;
}

float codec_head_open(const codec_code_tables *t, uint32_t u, uint32_t depth) {
    float scale = (float)codec_scale_exp2(1 << 16, t->log_scale[u]) / 65536.0f;
    float half = depth ? 0.5f * (float)((uint32_t)1 << (t->planes[u] - depth)) : scale;
    return half < scale ? half : scale;
}

static uint32_t stage_of(const codec_conditional *head, uint32_t pass) {
    uint32_t stage = 0;
    while (stage + 1 < head->stages && head->begin[stage + 1] <= pass) stage++;
    return stage;
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
        codec_conditional_bias(w->head, stage_of(w->head, g->pass), border, w->bias[border]);
}

/* The first layer's sums of position p. */
static void sum_inputs(const work *w, uint32_t p, int32_t *sum) {
    const codec_conditional *head = w->head;
    const codec_group *g = w->group;
    memset(sum, 0, head->hidden * sizeof *sum);
    for (uint32_t side = 0; side < CODEC_CONDITIONAL_SIDES; side++) {
        int self = side == CODEC_CONDITIONAL_SELF;
        uint32_t from = self ? p : codec_conditional_beside(g, p, side);
        if (from == g->n) continue;
        for (uint32_t u = 0; u < (self ? head->own : head->beside); u++) {
            int32_t level = g->level[(size_t)u * g->stride + from];
            if (!level) continue;
            uint32_t q = (uint32_t)abs(level), more = g->ahead[(size_t)u * g->stride + from];
            int32_t a = q < LEVELS ? w->seen[more][u][q]
                                   : codec_conditional_seen(g->tables, u, g->depth[u] + more, q);
            const int8_t *row =
                head->first + (size_t)codec_conditional_input(head->own, head->beside, side, u) *
                                  2 * head->hidden;
            codec_conditional_add(sum, row, row + head->hidden, (int16_t)(level < 0 ? -a : a),
                                  (int16_t)a, head->hidden);
        }
    }
}

/* What a unit of position p is expected to be beyond x, as a multiple of its step. */
static float rest(const work *w, const int16_t *h2, uint32_t u, uint32_t depth) {
    const codec_conditional *head = w->head;
    const int16_t *row = head->out + (size_t)u * head->hidden;
    int32_t sum = 0;
    for (uint32_t h = 0; h < head->hidden; h++) sum += row[h] * h2[h];
    float part = (float)(sum * 256 >> head->out_shift[u]) / 4096.0f;
    return part * codec_head_open(w->group->tables, u, depth);
}

void codec_head_add(const codec_group *g, uint32_t first, uint32_t n, float *x) {
    const codec_code_tables *t = g->tables;
    int32_t sum[MOST_HIDDEN];
    int16_t h2[MOST_HIDDEN];
    work w;
    begin(&w, g);
    for (uint32_t p = first; p < first + n; p++, x += t->units) {
        sum_inputs(&w, p, sum);
        codec_conditional_layers(w.head, sum, w.bias[codec_conditional_border(g, p)], h2);
        for (uint32_t u = 0; u < t->units; u++) {
            uint32_t depth = codec_group_depth(g, u, p);
            if (depth <= t->head_depth[u]) x[u] += t->step[u] * rest(&w, h2, u, depth);
        }
    }
}
