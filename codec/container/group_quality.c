/* group_quality.c -- see group_quality.h. */
#include "codec/container/group_quality.h"
#include "codec/quality/metrics.h"
#include "codec/taper.h"
#include "formats/image.h"
#include "codec/transform/lap.h"
#include <stdlib.h>

typedef struct work {
    const taper_model *model;
    codec_backend backend;
    const codec_group *group;
    float *code,
        *pixels; /* windows: [CODEC_ROWS_AT_ONCE], [CODEC_ROWS_AT_ONCE + the largest image's] */
    void *samples;
} work;

static uint32_t windows_of(const work *w, const taper_image *image) {
    codec_grid grid = codec_windows_grid(w->model->window, image->width, image->height);
    return grid.columns * grid.rows;
}

static taper_status grow_memory(work *w, const taper_image *image, size_t n) {
    size_t windows = 0, bytes = 0;
    for (size_t i = 0; i < n; i++) {
        windows = windows_of(w, &image[i]) > windows ? windows_of(w, &image[i]) : windows;
        bytes = formats_larger(bytes, formats_image_bytes(&image[i]));
    }
    w->code = malloc(CODEC_ROWS_AT_ONCE * w->model->network.units * sizeof *w->code);
    w->pixels =
        malloc((windows + CODEC_ROWS_AT_ONCE) * w->model->network.inputs * sizeof *w->pixels);
    w->samples = malloc(bytes);
    return w->code && w->pixels && w->samples ? TAPER_OK : TAPER_ERR_NOMEM;
}

static void take(codec_least_quality *least, double psnr, size_t image) {
    if (psnr < least->psnr_db) least->psnr_db = psnr, least->image = image;
    least->poor += psnr < TAPER_POOR_PSNR_DB;
}

/* Measure images from .. end - 1, whose windows are rendered. */
static taper_status compare(const work *w, const taper_image *image, size_t from, size_t end,
                            codec_least_quality *least) {
    float *pixels = w->pixels;
    for (size_t i = from; i < end; i++) {
        taper_image rendered = image[i];
        double mse;
        rendered.pixels = w->samples;
        codec_grid grid = codec_windows_grid(w->model->window, image[i].width, image[i].height);
        codec_lap_postfilter(w->model->window, grid, pixels);
        codec_windows_store(w->model->window, pixels, &rendered);
        TAPER_TRY(codec_mse(&image[i], &rendered, &mse, NULL));
        take(least, codec_psnr_db(mse), i);
        pixels += (size_t)windows_of(w, &image[i]) * w->model->network.inputs;
    }
    return TAPER_OK;
}

/* Render windows first .. first + n - 1 into w->pixels. */
static taper_status render(work *w, uint32_t first, uint32_t n) {
    const codec_network *network = &w->model->network;
    for (uint32_t at = 0; at < n; at += CODEC_ROWS_AT_ONCE) {
        uint32_t rows = n - at < CODEC_ROWS_AT_ONCE ? n - at : CODEC_ROWS_AT_ONCE;
        codec_dequantise(w->group, first + at, rows, w->code);
        TAPER_TRY(codec_network_decode_units(network, &w->backend, w->code, rows,
                                             codec_group_units_known(w->group),
                                             w->pixels + (size_t)at * network->inputs));
    }
    return TAPER_OK;
}

static taper_status render_all(work *w, const taper_image *image, size_t n,
                               codec_least_quality *least) {
    uint32_t first = 0, waiting = 0; /* rendered windows, windows to render next */
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        waiting += windows_of(w, &image[i]);
        if (waiting < CODEC_ROWS_AT_ONCE && i + 1 < n) continue;
        TAPER_TRY(render(w, first, waiting));
        TAPER_TRY(compare(w, image, from, i + 1, least));
        first += waiting;
        waiting = 0, from = i + 1;
    }
    return TAPER_OK;
}

taper_status codec_group_quality(const taper_model *model, const codec_backend *backend,
                                 const codec_group *group, const taper_image *image, size_t n,
                                 codec_least_quality *out) {
    work w = {.model = model, .backend = *backend, .group = group};
    *out = (codec_least_quality){.psnr_db = 2 * CODEC_PSNR_CEILING_DB};
    taper_status status = grow_memory(&w, image, n);
    if (status == TAPER_OK) status = render_all(&w, image, n, out);
    free(w.code), free(w.pixels), free(w.samples);
    return status;
}
