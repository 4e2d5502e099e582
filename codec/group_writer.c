/* group_writer.c -- see group_writer.h. */
#include "group_writer.h"
#include <stdlib.h>

enum { ROWS = 256 }; /* windows that go through the network at once */

/* Quantised codes of some images: q[units][stride], by blocks of rows to keep the floats few. */
static taper_status quantise_rows(const codec_group_writer *w, const float *pixels, uint32_t n,
                                  uint32_t first, uint32_t stride, float *code, int16_t *q) {
    const codec_code_tables *t = &w->model->tables;
    codec_backend backend = *w->backend;
    TAPER_TRY(codec_network_encode(w->network, &backend, pixels, n, code));
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t r = 0; r < n; r++)
            q[(size_t)u * stride + first + r] =
                codec_quantise(t, u, code[(size_t)r * t->units + u]);
    return TAPER_OK;
}

/* Codes that were quantised before (repack), into q[units][stride]. */
static void copy_codes(const codec_group_images *images, const codec_grid *grid, uint32_t units,
                       uint32_t stride, int16_t *q) {
    size_t first = 0;
    for (size_t i = 0; i < images->n; i++) {
        const int16_t *code = images->image[i].pixels;
        size_t windows = (size_t)grid[i].columns * grid[i].rows;
        for (size_t r = 0; r < windows; r++)
            for (uint32_t u = 0; u < units; u++)
                q[(size_t)u * stride + first + r] = code[r * units + u];
        first += windows;
    }
}

static taper_status quantise_images(const codec_group_writer *w, const codec_group_images *images,
                                    const codec_grid *grid, uint32_t stride, int16_t *q) {
    codec_window window = w->model->window;
    size_t inputs = codec_window_values(window), most = 0;
    for (size_t i = 0; i < images->n; i++) {
        size_t windows = (size_t)grid[i].columns * grid[i].rows;
        most = windows > most ? windows : most;
    }
    float *pixels = malloc((most + ROWS) * inputs * sizeof *pixels);
    float *code = malloc((most + ROWS) * w->model->tables.units * sizeof *code);
    taper_status status = pixels && code ? TAPER_OK : TAPER_ERR_NOMEM;
    uint32_t first = 0, waiting = 0; /* windows quantised, windows in `pixels` */
    for (size_t i = 0; i < images->n && status == TAPER_OK; i++) {
        codec_windows_read(window, &images->image[i], pixels + waiting * inputs);
        waiting += grid[i].columns * grid[i].rows;
        if (waiting < ROWS && i + 1 < images->n) continue;
        status = quantise_rows(w, pixels, waiting, first, stride, code, q);
        first += waiting;
        waiting = 0;
    }
    free(pixels), free(code);
    return status;
}

taper_status codec_group_write(const codec_group_writer *w, const codec_group_images *images,
                               formats_buffer *out, uint64_t *chunk_at, taper_error *error) {
    codec_grid *grid = malloc(images->n * sizeof *grid);
    if (!grid) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < images->n; i++)
        grid[i] =
            codec_windows_grid(w->model->window, images->image[i].width, images->image[i].height);
    codec_group group;
    taper_status status = codec_group_alloc(&group, &w->model->tables, grid, images->n, error);
    int16_t *q = NULL;
    if (status == TAPER_OK) {
        q = malloc((size_t)group.tables->units * group.stride * sizeof *q);
        if (!q)
            status = TAPER_ERR_NOMEM;
        else if (images->holds_codes)
            copy_codes(images, grid, group.tables->units, group.stride, q);
        else
            status = quantise_images(w, images, grid, group.stride, q);
        for (uint32_t l = 0; l < w->n_layers && status == TAPER_OK; l++) {
            uint32_t end = w->layer_end[(size_t)l * w->stride];
            if (group.pass < end) /* else the chunk is empty */
                status = codec_chunk_encode(&group, q, end, out, NULL);
            chunk_at[l + 1] = out->size;
        }
        codec_group_free(&group);
    }
    free(q), free(grid);
    return status;
}
