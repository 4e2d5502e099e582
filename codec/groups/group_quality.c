/* group_quality.c -- see group_quality.h. */
#include "codec/groups/group_quality.h"
#include "codec/taper_quality.h"
#include "codec/taper.h"
#include "formats/image.h"
#include "codec/render/strip_renderer.h"
#include <stdlib.h>

typedef struct work {
    const taper_model *model;
    codec_backend backend;
    codec_strip_renderer renderer;
    int16_t *value; /* windows: [CODEC_ROWS_AT_ONCE + the largest image's] */
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
    w->value = malloc((windows + CODEC_ROWS_AT_ONCE) * w->model->network.inputs * sizeof *w->value);
    w->samples = malloc(bytes);
    return w->value && w->samples ? TAPER_OK : TAPER_ERR_NOMEM;
}

static void take(codec_least_quality *least, double psnr, size_t image) {
    if (psnr < least->psnr_db) least->psnr_db = psnr, least->image = image;
    least->sum_db += psnr;
    least->images++;
    least->poor += psnr < TAPER_POOR_PSNR_DB;
}

/* An image's windows to samples, without restoration. */
static taper_status store(const work *w, const int16_t *value, codec_grid grid, taper_image *to) {
    codec_window window = w->model->window;
    codec_picture picture;
    TAPER_TRY(codec_picture_of_windows(&picture, window, grid, value));
    if (window.lap) codec_lap_postfilter(window, &picture);
    codec_picture_store(&picture, to);
    codec_picture_free(&picture);
    return TAPER_OK;
}

/* Measure images from .. end - 1, whose windows are rendered. */
static taper_status compare(const work *w, const taper_image *image, size_t from, size_t end,
                            codec_least_quality *least) {
    const int16_t *value = w->value;
    for (size_t i = from; i < end; i++) {
        taper_image rendered = image[i];
        double mse;
        rendered.pixels = w->samples;
        rendered.channels = image[i].channels < 3 ? 1 : 3; /* alpha is not measured */
        codec_grid grid = codec_windows_grid(w->model->window, image[i].width, image[i].height);
        TAPER_TRY(store(w, value, grid, &rendered));
        TAPER_TRY(taper_quality_mse(&image[i], &rendered, &mse, NULL));
        take(least, taper_quality_psnr_db(mse), i);
        value += (size_t)windows_of(w, &image[i]) * w->model->network.inputs;
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
        TAPER_TRY(codec_strip_renderer_run(&w->renderer, &w->backend, first, waiting, w->value));
        TAPER_TRY(compare(w, image, from, i + 1, least));
        first += waiting;
        waiting = 0, from = i + 1;
    }
    return TAPER_OK;
}

taper_status codec_group_quality(const taper_model *model, const codec_backend *backend,
                                 const codec_strips *group, const taper_image *image, size_t n,
                                 codec_least_quality *out) {
    work w = {.model = model, .backend = *backend};
    *out = (codec_least_quality){.psnr_db = 2 * TAPER_PSNR_CEILING_DB};
    codec_strip_rendering all = {.model = model, .strips = group, .n = group->first[group->n]};
    TAPER_TRY(codec_strip_renderer_begin(&w.renderer, &all, NULL));
    taper_status status = grow_memory(&w, image, n);
    if (status == TAPER_OK) status = render_all(&w, image, n, out);
    codec_strip_renderer_end(&w.renderer);
    free(w.value), free(w.samples);
    return status;
}
