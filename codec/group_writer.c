/* group_writer.c -- see group_writer.h. */
#include "group_writer.h"
#include "metrics.h"
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
                codec_quantise_wide(t, u, code[(size_t)r * t->units + u]);
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

/* Fill q[units][stride], and choose which planes to raise: codes that are given lose nothing. */
static taper_status fill_codes(const codec_group_writer *w, const codec_group_images *images,
                               const codec_grid *grid, size_t stride, int16_t *q,
                               codec_written_group *written) {
    const codec_code_tables *t = &w->model->tables;
    codec_clipping_image *parts = malloc(images->n * sizeof *parts);
    if (!parts) return TAPER_ERR_NOMEM;
    uint32_t first = 0;
    for (size_t i = 0; i < images->n; i++) {
        const taper_image *image = &images->image[i];
        uint32_t windows = grid[i].columns * grid[i].rows;
        parts[i] = (codec_clipping_image){
            first, windows, (uint64_t)image->width * image->height * w->model->window.channels};
        first += windows;
    }
    taper_status status = TAPER_OK;
    if (images->holds_codes)
        copy_codes(images, grid, t->units, (uint32_t)stride, q);
    else
        status = quantise_images(w, images, grid, (uint32_t)stride, q);
    if (status == TAPER_OK)
        status = codec_clipping_choose(t, q, stride, parts, images->n,
                                       images->holds_codes ? 0 : CODEC_CLIPPING_MAY_LOSE,
                                       &written->raised, &written->n_raised);
    free(parts);
    return status;
}

static taper_status write_layers(const codec_group_writer *w, codec_group *group, const int16_t *q,
                                 formats_buffer *out, uint64_t *chunk_at) {
    for (uint32_t l = 0; l < w->n_layers; l++) {
        uint32_t end = codec_raised_planes_end(group->tables, w->layer_end[(size_t)l * w->stride]);
        if (group->pass < end) /* else the chunk is empty */
            TAPER_TRY(codec_chunk_encode(group, q, end, out, NULL));
        chunk_at[l + 1] = out->size;
    }
    return TAPER_OK;
}

/* The group's state, with tables of its own where planes are raised, and its layers. */
static taper_status write_group(const codec_group_writer *w, const codec_group_images *images,
                                const codec_grid *grid, const int16_t *q, formats_buffer *out,
                                codec_written_group *written, taper_error *error) {
    const codec_code_tables *tables = &w->model->tables;
    codec_code_tables raised = {0};
    codec_group group;
    if (written->n_raised) {
        TAPER_TRY(
            codec_raised_planes_make(&raised, tables, written->raised, written->n_raised, error));
        tables = &raised;
    }
    taper_status status = codec_group_alloc(&group, tables, grid, images->n, error);
    if (status == TAPER_OK) {
        status = write_layers(w, &group, q, out, written->chunk_at);
        if (status == TAPER_OK && w->measure && !images->holds_codes)
            status = codec_group_quality(w->model, w->backend, &group, images->image, images->n,
                                         &written->least);
        codec_group_free(&group);
    }
    codec_raised_planes_free(&raised);
    return status;
}

void codec_written_group_free(codec_written_group *written) {
    free(written->chunk_at), free(written->raised);
    *written = (codec_written_group){0};
}

taper_status codec_group_write(const codec_group_writer *w, const codec_group_images *images,
                               formats_buffer *out, codec_written_group *written,
                               taper_error *error) {
    codec_grid *grid = malloc(images->n * sizeof *grid);
    uint64_t windows = 0;
    *written = (codec_written_group){.chunk_at = written->chunk_at,
                                     .least = {.psnr_db = 2 * CODEC_PSNR_CEILING_DB}};
    if (!grid) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < images->n; i++) {
        grid[i] =
            codec_windows_grid(w->model->window, images->image[i].width, images->image[i].height);
        windows += (uint64_t)grid[i].columns * grid[i].rows;
    }
    size_t stride = codec_group_stride(windows);
    int16_t *q = windows <= INT32_MAX ? malloc(w->model->tables.units * stride * sizeof *q) : NULL;
    taper_status status = q ? fill_codes(w, images, grid, stride, q, written) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = write_group(w, images, grid, q, out, written, error);
    free(q), free(grid);
    if (status == TAPER_OK) return status;
    free(written->raised);
    written->raised = NULL, written->n_raised = 0;
    return status;
}
