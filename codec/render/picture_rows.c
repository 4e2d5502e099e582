/* picture_rows.c -- see picture_rows.h. */
#include "codec/render/picture_rows.h"
#include <stdlib.h>
#include <string.h>

/* Pixels on either side of one that the restoration looks at, and the lap. */
static uint32_t reach_of_restoration(const taper_model *m) {
    return m->restoration.layers * CODEC_RESTORATION_PATCH;
}
static uint32_t reach_of_lap(const taper_model *m) {
    return m->window.lap ? m->window.lap->reach : 0;
}

static uint32_t even(uint32_t y) { return y / CODEC_RESTORATION_PATCH * CODEC_RESTORATION_PATCH; }

/* The windows of one axis that pixels at .. at + n - 1 need: *first and their number. */
static uint32_t windows_of(const taper_model *m, uint32_t at, uint32_t n, uint32_t side,
                           uint32_t all, uint32_t *first) {
    const uint64_t margin = reach_of_restoration(m) + reach_of_lap(m) + (m->restoration.layers > 0);
    const uint64_t last = ((uint64_t)at + n - 1 + margin) / side;
    *first = at > margin ? (uint32_t)((at - margin) / side) : 0;
    return (uint32_t)(last < all ? last : all - 1) - *first + 1;
}

codec_rectangle codec_picture_rows_windows(const taper_model *m, codec_grid grid,
                                           codec_rectangle crop) {
    codec_rectangle w;
    w.width = windows_of(m, crop.x, crop.width, m->window.width, grid.columns, &w.x);
    w.height = windows_of(m, crop.y, crop.height, m->window.height, grid.rows, &w.y);
    return w;
}

/* --- memory --------------------------------------------------------------------------------- */

static void set_shape(codec_picture_rows *r, const taper_model *m, const taper_image *image,
                      codec_rectangle crop, uint32_t most) {
    const codec_window w = m->window;
    *r = (codec_picture_rows){.model = m, .crop = crop, .most = most};
    r->grid = codec_windows_grid(w, image->width, image->height);
    r->windows = codec_picture_rows_windows(m, r->grid, crop);
    r->channels = image->channels, r->depth = image->depth;
    if (most > r->windows.height) r->most = r->windows.height;
    r->kept = 2 * reach_of_restoration(m) + reach_of_lap(m) + 2 * CODEC_RESTORATION_PATCH;
    r->top = r->end = r->windows.y * w.height;
    r->done = crop.y;
}

static codec_grid grid_of_rows(const codec_picture_rows *r) {
    const uint32_t height = r->model->window.height;
    return (codec_grid){r->windows.width, r->most + (r->kept - 1) / height + 1};
}

static uint64_t sample_bytes(const codec_picture_rows *r) {
    const uint64_t rows = (uint64_t)grid_of_rows(r).rows * r->model->window.height;
    return (rows < r->crop.height ? rows : r->crop.height) * r->crop.width * r->channels *
           (r->depth / 8u);
}

taper_status codec_picture_rows_begin(codec_picture_rows *r, const taper_model *m,
                                      const taper_image *image, codec_rectangle crop, uint32_t most,
                                      codec_row_taker to) {
    set_shape(r, m, image, crop, most);
    r->to = to;
    taper_status status = codec_picture_alloc(&r->picture, m->window, grid_of_rows(r));
    if (status == TAPER_OK && m->restoration.layers)
        status = codec_picture_alloc(&r->restored, m->window, grid_of_rows(r));
    if (status == TAPER_OK) r->samples = malloc((size_t)sample_bytes(r));
    if (status == TAPER_OK && r->samples) return TAPER_OK;
    codec_picture_rows_end(r);
    return TAPER_ERR_NOMEM;
}

void codec_picture_rows_end(codec_picture_rows *r) {
    codec_picture_free(&r->picture), codec_picture_free(&r->restored);
    free(r->samples);
    *r = (codec_picture_rows){0};
}

uint64_t codec_picture_rows_bytes(const taper_model *m, const taper_image *image,
                                  codec_rectangle crop, uint32_t most, unsigned threads) {
    codec_picture_rows r;
    set_shape(&r, m, image, crop, most);
    const codec_grid grid = grid_of_rows(&r);
    uint64_t bytes = codec_picture_bytes(m->window, grid) + sample_bytes(&r);
    if (m->restoration.layers)
        bytes += codec_picture_bytes(m->window, grid) +
                 codec_restoration_bytes(&m->restoration, m->window, grid, threads);
    return bytes;
}

/* --- rows ----------------------------------------------------------------------------------- */

void codec_picture_rows_place(const codec_picture_rows *r, uint32_t row, uint32_t column,
                              uint32_t n, const int16_t *value) {
    const codec_window w = r->model->window;
    const uint32_t y = r->end - r->top + row * w.height, x = (column - r->windows.x) * w.width;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < w.channels; c++)
            for (uint32_t k = 0; k < w.height; k++, value += w.width)
                memcpy(codec_picture_row(&r->picture, c, y + k) + x + (size_t)i * w.width, value,
                       w.width * sizeof *value);
}

/* A picture from this row and column on. */
static codec_picture view(const codec_picture *p, uint32_t from, uint32_t x) {
    return (codec_picture){p->width, p->height, p->channels,
                           p->value + (size_t)from * p->width + x};
}

/* Copy rows from .. end - 1, of the image, to a picture of its own. */
static codec_picture copy_rows(const codec_picture_rows *r, uint32_t from, uint32_t end) {
    codec_picture to = {r->picture.width, end - from, r->picture.channels, r->restored.value};
    for (uint32_t c = 0; c < to.channels; c++)
        memcpy(codec_picture_row(&to, c, 0), codec_picture_row(&r->picture, c, from - r->top),
               (size_t)to.width * to.height * sizeof *to.value);
    return to;
}

/* Restore and take the rows up to `end`; rows up to `lapped` are lapped. */
static taper_status finish_rows(codec_picture_rows *r, uint32_t end, uint32_t lapped) {
    const taper_model *m = r->model;
    const uint32_t reach = reach_of_restoration(m), first = even(r->done),
                   from = first > r->top + reach ? first - reach : r->top,
                   to = lapped - end < reach ? lapped : even(end + 1) + reach,
                   x = r->crop.x - r->windows.x * m->window.width;
    taper_image rows = {r->crop.width, end - r->done, r->channels, r->depth, r->samples};
    codec_picture shown = view(&r->picture, r->done - r->top, x);
    if (m->restoration.layers && !r->is_plain) {
        const codec_picture copy = copy_rows(r, from, to < lapped ? to : lapped);
        TAPER_TRY(codec_restoration_apply(&m->restoration, r->pass, r->pool, &copy));
        shown = view(&copy, r->done - from, x);
    }
    codec_picture_store(&shown, &rows);
    TAPER_TRY(r->to.take(r->to.user, r->done - r->crop.y, &rows));
    r->done = end;
    return TAPER_OK;
}

/* Drop the rows that no later row needs. */
static void drop_rows(codec_picture_rows *r) {
    const uint32_t reach = reach_of_restoration(r->model) + CODEC_RESTORATION_PATCH,
                   lap = reach_of_lap(r->model);
    uint32_t from = even(r->done > reach ? r->done - reach : 0);
    if (from + lap > r->end) from = even(r->end - lap);
    if (from <= r->top) return;
    const uint32_t rows = r->end - from;
    for (uint32_t c = 0; c < r->picture.channels; c++)
        memmove(codec_picture_row(&r->picture, c, 0),
                codec_picture_row(&r->picture, c, from - r->top),
                (size_t)r->picture.width * rows * sizeof *r->picture.value);
    r->top = from;
}

taper_status codec_picture_rows_put(codec_picture_rows *r, uint32_t rows) {
    const codec_window w = r->model->window;
    const uint32_t from = r->end - r->top, bottom = r->grid.rows * w.height,
                   crop_end = r->crop.y + r->crop.height;
    r->end += rows * w.height;
    if (w.lap) codec_lap_postfilter_from(w, &r->picture, from, r->end - r->top);
    uint32_t lapped = r->end, end = r->end;
    if (r->end < bottom) {
        const uint32_t reach = reach_of_restoration(r->model);
        lapped = even(r->end - reach_of_lap(r->model));
        end = lapped > reach ? lapped - reach : 0;
    }
    if (end > crop_end) end = crop_end;
    if (end > r->done && lapped > r->done) TAPER_TRY(finish_rows(r, end, lapped));
    drop_rows(r);
    return TAPER_OK;
}
