/* row_renderer.c -- see row_renderer.h. */
#include "codec/render/row_renderer.h"
#include "codec/backend/pool.h"
#include <stdatomic.h>
#include <stdlib.h>

/* Rows of windows that are rendered at once, and windows that a thread renders at once. */
enum { ROWS = 16, BLOCK = 256 };

taper_status codec_row_renderer_begin(codec_row_renderer *r, const codec_row_rendering *of) {
    *r = (codec_row_renderer){.backend = of->backend, .is_plain = of->is_plain};
    TAPER_TRY(codec_picture_rows_begin(&r->rows, of->model, &of->image, of->crop, ROWS, of->to));
    r->rows.is_plain = of->is_plain;
    r->rows.pool = of->backend->pool, r->rows.pass = of->pass;
    return TAPER_OK;
}

void codec_row_renderer_end(codec_row_renderer *r) {
    codec_picture_rows_end(&r->rows);
    if (r->has_like) codec_window_renderer_end(&r->like);
    *r = (codec_row_renderer){0};
}

/* Some rows of windows of a strip. */
typedef struct task {
    const codec_row_renderer *renderer;
    const codec_window_renderer *windows;
    uint32_t position; /* of the first window that is needed */
    uint32_t in_row;   /* blocks of a row */
    atomic_int failed;
} task;

static void render_block(void *context, size_t number) {
    task *t = context;
    const codec_picture_rows *rows = &t->renderer->rows;
    const uint32_t row = (uint32_t)(number / t->in_row),
                   at = (uint32_t)(number % t->in_row) * BLOCK, left = rows->windows.width - at,
                   n = left < BLOCK ? left : BLOCK;
    codec_backend backend = *t->renderer->backend;
    backend.pool = NULL; /* threads work on separate blocks */
    int16_t *value = malloc((size_t)n * rows->model->network.inputs * sizeof *value);
    if (!value ||
        codec_window_renderer_run(t->windows, &backend, t->position + row * rows->grid.columns + at,
                                  n, value) != TAPER_OK)
        t->failed = 1;
    else
        codec_picture_rows_place(rows, row, rows->windows.x + at, n, value);
    free(value);
}

static taper_status render_rows(codec_row_renderer *r, const codec_window_renderer *windows,
                                uint32_t position, uint32_t n) {
    task t = {.renderer = r, .windows = windows, .position = position};
    for (uint32_t at = 0, more; at < n; at += more) {
        more = n - at < r->rows.most ? n - at : r->rows.most;
        t.in_row = (r->rows.windows.width - 1) / BLOCK + 1;
        codec_pool_run(r->backend->pool, render_block, &t, (size_t)more * t.in_row);
        if (t.failed) return TAPER_ERR_NOMEM;
        TAPER_TRY(codec_picture_rows_put(&r->rows, more));
        t.position += more * r->rows.grid.columns;
    }
    return TAPER_OK;
}

taper_status codec_row_renderer_put(codec_row_renderer *r, codec_strip_rows strip) {
    const codec_rectangle *needed = &r->rows.windows;
    const uint32_t columns = r->rows.grid.columns, last = needed->y + needed->height,
                   first = strip.first > needed->y ? strip.first : needed->y,
                   end = strip.end < last ? strip.end : last;
    if (first >= end) return TAPER_OK;
    const uint32_t position = strip.position + (first - strip.first) * columns;
    codec_window_renderer windows;
    TAPER_TRY(codec_window_renderer_begin(&windows, r->rows.model, strip.group, position,
                                          (end - first) * columns, !r->is_plain,
                                          r->has_like ? &r->like : NULL));
    const taper_status status = render_rows(r, &windows, position + needed->x, end - first);
    if (status == TAPER_OK && !r->has_like) {
        windows.group = NULL;
        r->like = windows, r->has_like = 1;
    } else
        codec_window_renderer_end(&windows);
    return status;
}

uint64_t codec_row_renderer_bytes(const codec_row_rendering *of, uint32_t strip_rows) {
    const taper_model *m = of->model;
    const codec_grid grid = codec_windows_grid(m->window, of->image.width, of->image.height);
    const codec_rectangle needed = codec_picture_rows_windows(m, grid, of->crop);
    const uint32_t rows = strip_rows < needed.height ? strip_rows : needed.height;
    const unsigned threads = codec_pool_threads(of->backend->pool);
    const uint64_t block = needed.width < BLOCK ? needed.width : BLOCK;
    return codec_picture_rows_bytes(m, &of->image, of->crop, ROWS, threads) +
           2 * codec_window_renderer_bytes(m, (uint64_t)rows * grid.columns, grid.columns) +
           threads * (codec_window_renderer_run_bytes(m, block) +
                      block * m->network.inputs * sizeof(int16_t));
}
