/* strip_renderer.c -- see strip_renderer.h. */
#include "codec/render/strip_renderer.h"
#include "codec/backend/pool.h"
#include <stdatomic.h>
#include <stdlib.h>

/* Windows of one strip: n from `first` of its group. */
typedef struct part {
    uint32_t strip, first, n;
} part;

/* The first part of n windows from `first` of all. */
static part part_of(const codec_strips *strips, uint32_t first, uint32_t n) {
    part p = {.strip = codec_strip_of(strips, first)};
    uint32_t left = strips->first[p.strip + 1] - first;
    p.first = first - strips->first[p.strip];
    p.n = n < left ? n : left;
    return p;
}

typedef struct begin_task {
    const codec_strip_rendering *of;
    codec_strip_renderer *renderer;
    uint32_t from;                     /* the first strip of the task */
    const codec_window_renderer *like; /* that of an earlier strip, or NULL */
    atomic_int failed;
} begin_task;

static void begin_strip(void *context, size_t block) {
    begin_task *t = context;
    const codec_strip_rendering *of = t->of;
    const codec_strips *strips = of->strips;
    uint32_t strip = t->from + (uint32_t)block,
             at = of->first > strips->first[strip] ? of->first : strips->first[strip];
    part p = part_of(strips, at, of->first + of->n - at);
    const codec_group *g = &strips->coder[strip].group;
    codec_window_renderer *r = &t->renderer->strip[strip];
    taper_status status =
        of->basis
            ? codec_window_renderer_begin_small(r, of->model, g, p.first, p.n, of->basis, t->like)
            : codec_window_renderer_begin(r, of->model, g, p.first, p.n, of->with_head, t->like);
    if (status != TAPER_OK) t->failed = 1;
}

taper_status codec_strip_renderer_begin(codec_strip_renderer *r, const codec_strip_rendering *of,
                                        codec_pool *pool) {
    const codec_strips *strips = of->strips;
    *r = (codec_strip_renderer){strips, calloc(strips->n, sizeof *r->strip), strips->n};
    if (!r->strip) return TAPER_ERR_NOMEM;
    uint32_t from = codec_strip_of(strips, of->first),
             end = codec_strip_of(strips, of->first + of->n - 1);
    begin_task task = {.of = of, .renderer = r, .from = from};
    if (of->like && codec_strip_renderer_has_rows(of->like)) task.like = of->like->strip;
    begin_strip(&task, 0);
    task.from = from + 1, task.like = &r->strip[from];
    if (!task.failed) codec_pool_run(pool, begin_strip, &task, end - from);
    if (!task.failed) return TAPER_OK;
    codec_strip_renderer_end(r);
    return TAPER_ERR_NOMEM;
}

int codec_strip_renderer_has_rows(const codec_strip_renderer *r) {
    return r->strip && r->strip->has_head && codec_head_rows_owns(&r->strip->head);
}

void codec_strip_renderer_end(codec_strip_renderer *r) {
    for (uint32_t i = 0; r->strip && i < r->n; i++) codec_window_renderer_end(&r->strip[i]);
    free(r->strip);
    *r = (codec_strip_renderer){0};
}

taper_status codec_strip_renderer_run(const codec_strip_renderer *r, codec_backend *be,
                                      uint32_t first, uint32_t n, int16_t *value) {
    for (uint32_t at = 0; at < n;) {
        part p = part_of(r->strips, first + at, n - at);
        const codec_window_renderer *w = &r->strip[p.strip];
        TAPER_TRY(codec_window_renderer_run(w, be, p.first, p.n,
                                            value + (size_t)at * w->model->network.inputs));
        at += p.n;
    }
    return TAPER_OK;
}

taper_status codec_strip_renderer_sums(const codec_strip_renderer *r, uint32_t first, uint32_t n,
                                       int32_t *sum) {
    for (uint32_t at = 0; at < n;) {
        part p = part_of(r->strips, first + at, n - at);
        const codec_window_renderer *w = &r->strip[p.strip];
        TAPER_TRY(
            codec_window_renderer_sums(w, p.first, p.n, sum + (size_t)at * w->synthesis->lanes));
        at += p.n;
    }
    return TAPER_OK;
}

/* A strip has at most a row of windows more than its share. */
uint64_t codec_strip_renderer_bytes(const taper_model *m, uint64_t n, uint64_t columns) {
    const uint64_t strips = codec_strips_most(n), each = strips > 1 ? n / strips + columns : n;
    return strips * (sizeof(codec_window_renderer) + codec_window_renderer_bytes(m, each, columns));
}
