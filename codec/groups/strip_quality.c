/* strip_quality.c -- see strip_quality.h. */
#include "codec/groups/strip_quality.h"
#include "codec/taper.h"
#include "codec/taper_quality.h"
#include <stdlib.h>
#include <string.h>

static size_t stride_of(const taper_image *image) {
    return (size_t)image->width * image->channels * (image->depth / 8u);
}

/* The original of row y. NULL: it cannot be read. */
static const char *original_row(codec_strip_quality *q, uint32_t y) {
    const codec_strip_codes *s = q->codes;
    const uint32_t height = q->model->window.height, row = y / height;
    const size_t stride = stride_of(&s->image);
    if (row != q->row) {
        const uint32_t left = s->image.height - row * height, n = left < height ? left : height;
        q->row = UINT32_MAX;
        if (s->in.read(s->in.user, s->pixel_at[row], q->original, n * stride) != TAPER_OK)
            return NULL;
        q->row = row;
    }
    return (const char *)q->original + (y - row * height) * stride;
}

/* Compare rows with their originals. */
static taper_status compare(void *user, uint32_t first, const taper_image *rows) {
    codec_strip_quality *q = user;
    const size_t stride = stride_of(rows);
    for (uint32_t y = 0; y < rows->height; y++) {
        taper_image a = *rows, b = *rows;
        double mse;
        a.height = b.height = 1;
        a.pixels = (char *)rows->pixels + y * stride;
        b.pixels = (void *)(uintptr_t)original_row(q, first + y);
        if (!b.pixels) return TAPER_ERR_IO;
        TAPER_TRY(taper_quality_mse(&a, &b, &mse, NULL));
        q->error += mse;
    }
    return TAPER_OK;
}

static codec_row_rendering rendering_of(const taper_model *m, const codec_backend *backend,
                                        const taper_image *image) {
    return (codec_row_rendering){.model = m,
                                 .backend = backend,
                                 .image = *image,
                                 .crop = {0, 0, image->width, image->height},
                                 .is_plain = 1};
}

taper_status codec_strip_quality_begin(codec_strip_quality *q, const taper_model *m,
                                       const codec_backend *backend, const codec_strip_codes *s) {
    *q = (codec_strip_quality){.model = m, .codes = s, .row = UINT32_MAX};
    q->how = rendering_of(m, backend, &s->image);
    q->how.to = (codec_row_taker){q, compare};
    q->original = malloc(stride_of(&s->image) * m->window.height);
    return q->original ? TAPER_OK : TAPER_ERR_NOMEM;
}

taper_status codec_strip_quality_put(codec_strip_quality *q, const codec_group *g, uint32_t i) {
    const codec_strip_codes *s = q->codes;
    const codec_strip_rows rows = {g, 0, codec_strip_row(s->grid, s->strips, i),
                                   codec_strip_row(s->grid, s->strips, i + 1)};
    if (!i) {
        codec_row_renderer_end(&q->renderer);
        q->error = 0;
        TAPER_TRY(codec_row_renderer_begin(&q->renderer, &q->how));
    }
    return codec_row_renderer_put(&q->renderer, rows);
}

void codec_strip_quality_get(const codec_strip_quality *q, codec_least_quality *out) {
    const double psnr = taper_quality_psnr_db(q->error / q->codes->image.height);
    *out = (codec_least_quality){.psnr_db = psnr, .poor = psnr < TAPER_POOR_PSNR_DB};
}

void codec_strip_quality_end(codec_strip_quality *q) {
    codec_row_renderer_end(&q->renderer);
    free(q->original);
    *q = (codec_strip_quality){0};
}

uint64_t codec_strip_quality_bytes(const taper_model *m, const taper_image *image) {
    codec_backend none = {0};
    const codec_row_rendering how = rendering_of(m, &none, image);
    const codec_grid grid = codec_windows_grid(m->window, image->width, image->height);
    return codec_row_renderer_bytes(&how, grid.rows / codec_strips_count(&grid, 1) + 1) +
           stride_of(image) * m->window.height;
}
