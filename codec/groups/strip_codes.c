/* strip_codes.c -- see strip_codes.h. */
#include "codec/groups/strip_codes.h"
#include "codec/bitplane/quantiser.h"
#include <stdlib.h>
#include <string.h>

/* --- shapes --------------------------------------------------------------------------------- */

codec_grid codec_strip_codes_grid(const codec_strip_codes *s, uint32_t i) {
    const uint32_t first = codec_strip_row(s->grid, s->strips, i);
    return (codec_grid){s->grid.columns, codec_strip_row(s->grid, s->strips, i + 1) - first};
}

size_t codec_strip_codes_stride(const codec_strip_codes *s, uint32_t i) {
    const codec_grid grid = codec_strip_codes_grid(s, i);
    return (size_t)codec_group_stride((uint64_t)grid.columns * grid.rows);
}

static void lay_out(codec_strip_codes *s, uint32_t units, int keep_pixels, formats_layout *at) {
    s->at = formats_lay(at, s->strips, sizeof *s->at);
    s->pixel_at = formats_lay(at, keep_pixels ? s->grid.rows : 0, sizeof *s->pixel_at);
    if (!keep_pixels) s->pixel_at = NULL;
    s->largest = formats_lay(at, units, sizeof *s->largest);
    s->loss = formats_lay(at, units, sizeof *s->loss);
}

/* What is in memory while an image is analysed. */
typedef struct analysis {
    const codec_strip_analysis *by;
    codec_strip_codes *to;
    void *pixels;       /* a row of windows */
    float *row[2];      /* two rows of windows; the lap reaches over their edge */
    float *code;        /* of a block */
    int16_t *value;     /* of a strip: [units][stride] */
    size_t stride;      /* of the current strip */
    uint32_t strip;     /* the current one */
    uint32_t quantised; /* windows of it */
} analysis;

static uint64_t row_bytes(const taper_image *image, codec_window w) {
    return (uint64_t)image->width * w.height * image->channels * (image->depth / 8u);
}

static void lay_out_analysis(analysis *a, const taper_model *m, const codec_strip_codes *s,
                             formats_layout *at) {
    const uint64_t rows = (s->grid.rows - 1) / s->strips + 1,
                   stride = codec_group_stride(rows * s->grid.columns),
                   values = (uint64_t)s->grid.columns * m->network.inputs;
    a->pixels = formats_lay(at, row_bytes(&s->image, m->window), 1);
    for (int i = 0; i < 2; i++) a->row[i] = formats_lay(at, values, sizeof *a->row[i]);
    a->code = formats_lay(at, CODEC_ROWS_AT_ONCE * (uint64_t)m->tables.units, sizeof *a->code);
    a->value = formats_lay(at, stride * m->tables.units, sizeof *a->value);
}

static void set_shape(codec_strip_codes *s, const taper_model *m, const taper_image *image) {
    *s = (codec_strip_codes){.image = *image};
    s->image.pixels = NULL;
    s->grid = codec_windows_grid(m->window, image->width, image->height);
    s->strips = codec_strips_count(&s->grid, 1);
}

uint64_t codec_strip_codes_bytes(const taper_model *m, const taper_image *image) {
    codec_strip_codes s;
    analysis a;
    formats_layout at = {0};
    set_shape(&s, m, image);
    lay_out(&s, m->tables.units, 1, &at);
    lay_out_analysis(&a, m, &s, &at);
    return at.used + codec_network_scratch_bytes(&m->network);
}

/* --- analysis ------------------------------------------------------------------------------- */

/* Quantise a row of windows, the next of the strip. */
static taper_status quantise_row(analysis *a, const float *windows) {
    const codec_code_tables *t = &a->by->model->tables;
    const uint32_t columns = a->to->grid.columns;
    codec_backend backend = *a->by->backend;
    for (uint32_t at = 0, n; at < columns; at += n) {
        n = columns - at < CODEC_ROWS_AT_ONCE ? columns - at : CODEC_ROWS_AT_ONCE;
        TAPER_TRY(codec_network_encode(a->by->network, &backend,
                                       windows + (size_t)at * a->by->network->inputs, n, a->code));
        for (uint32_t u = 0; u < t->units; u++)
            for (uint32_t r = 0; r < n; r++)
                a->value[u * a->stride + a->quantised + at + r] =
                    codec_quantise_wide(t, u, a->code[(size_t)r * t->units + u]);
    }
    a->quantised += columns;
    return TAPER_OK;
}

/* Add the strip to what clipping takes: sums in the order of positions, as clipping.c. */
static void measure_clipping(const analysis *a) {
    const codec_code_tables *t = &a->by->model->tables;
    for (uint32_t u = 0; u < t->units && !t->density; u++) {
        const int16_t *value = a->value + u * a->stride;
        const int32_t top = (int32_t)(((uint32_t)1 << t->planes[u]) - 1);
        const double step = t->step[u];
        for (uint32_t p = 0; p < a->quantised; p++) {
            const int32_t m = abs(value[p]), over = m - top;
            if (m > a->to->largest[u]) a->to->largest[u] = m;
            if (over > 0) a->to->loss[u] += (double)over * over * step * step;
        }
    }
}

/* The windows of a row are final: quantise them, and end the strip if they are its last. */
static taper_status finish_row(analysis *a, const float *windows) {
    codec_strip_codes *s = a->to;
    const codec_grid grid = codec_strip_codes_grid(s, a->strip);
    a->stride = codec_strip_codes_stride(s, a->strip);
    TAPER_TRY(quantise_row(a, windows));
    if (a->quantised < grid.columns * grid.rows) return TAPER_OK;
    measure_clipping(a);
    TAPER_TRY(s->in.append(s->in.user, a->value,
                           a->stride * a->by->model->tables.units * sizeof *a->value,
                           &s->at[a->strip]));
    a->strip++;
    a->quantised = 0;
    return TAPER_OK;
}

/* Read the pixels of row y of windows, and make its windows. */
static taper_status read_row(const analysis *a, const codec_row_input *rows, uint32_t y,
                             float *windows) {
    codec_strip_codes *s = a->to;
    const codec_window w = a->by->model->window;
    const uint32_t first = y * w.height, left = s->image.height - first;
    taper_image pixels = s->image;
    pixels.height = left < w.height ? left : w.height;
    pixels.pixels = a->pixels;
    TAPER_TRY(rows->read(rows->user, &pixels));
    codec_windows_read(w, &pixels, windows);
    if (!s->pixel_at) return TAPER_OK;
    return s->in.append(s->in.user, a->pixels,
                        (size_t)(row_bytes(&s->image, w) / w.height * pixels.height),
                        &s->pixel_at[y]);
}

static taper_status analyse(analysis *a, const codec_row_input *rows) {
    const codec_strip_codes *s = a->to;
    TAPER_TRY(read_row(a, rows, 0, a->row[0]));
    for (uint32_t y = 0; y < s->grid.rows; y++) {
        float *row = a->row[y % 2], *below = a->row[(y + 1) % 2];
        if (y + 1 < s->grid.rows) {
            TAPER_TRY(read_row(a, rows, y + 1, below));
            codec_lap_prefilter_below(a->by->model->window, s->grid.columns, row, below);
        }
        TAPER_TRY(finish_row(a, row));
    }
    return TAPER_OK;
}

taper_status codec_strip_codes_make(codec_strip_codes *s, const codec_strip_analysis *by,
                                    const taper_image *image, const codec_row_input *rows,
                                    const codec_waiting_bytes *in) {
    const taper_model *m = by->model;
    formats_layout at = {0}, work = {0};
    formats_block block;
    analysis a = {.by = by, .to = s};
    set_shape(s, m, image);
    lay_out(s, m->tables.units, by->keep_pixels, &at);
    lay_out_analysis(&a, m, s, &work);
    taper_status status = formats_block_take(&s->block, &at, NULL);
    if (status == TAPER_OK) status = formats_block_take_unset(&block, &work, NULL);
    if (status == TAPER_OK) {
        lay_out(s, m->tables.units, by->keep_pixels, &at);
        lay_out_analysis(&a, m, s, &work);
        s->in = *in;
        status = analyse(&a, rows);
        formats_block_free(&block);
    }
    if (status != TAPER_OK) codec_strip_codes_free(s);
    return status;
}

void codec_strip_codes_free(codec_strip_codes *s) {
    formats_block_free(&s->block);
    *s = (codec_strip_codes){0};
}
