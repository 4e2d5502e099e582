/* group_exact.c -- see group_exact.h. */
#include "codec/groups/group_exact.h"
#include "codec/exact/exact.h"
#include "codec/render/picture_renderer.h"
#include "codec/render/strip_renderer.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

taper_status codec_lossy_images_make(codec_lossy_images *out, const taper_image *original,
                                     size_t n) {
    *out = (codec_lossy_images){calloc(n, sizeof *out->image), n};
    for (size_t i = 0; out->image && i < n; i++) {
        out->image[i] = original[i];
        out->image[i].pixels = malloc(formats_image_bytes(&original[i]));
        if (out->image[i].pixels) continue;
        codec_lossy_images_free(out);
    }
    return out->image ? TAPER_OK : TAPER_ERR_NOMEM;
}

void codec_lossy_images_free(codec_lossy_images *images) {
    for (size_t i = 0; images->image && i < images->n; i++) free(images->image[i].pixels);
    free(images->image);
    *images = (codec_lossy_images){0};
}

static size_t sample_bytes(const taper_image *image) { return image->depth / 8u; }

/* Spread colours over the places of pixels with alpha, from the last on, and copy alpha. */
static void add_alpha(const taper_image *to, const taper_image *original) {
    const size_t size = sample_bytes(to), channels = to->channels;
    const size_t pixels = (size_t)to->width * to->height;
    char *at = to->pixels;
    const char *from = original->pixels;
    for (size_t i = pixels; i-- > 0;) {
        memmove(at + i * channels * size, at + i * (channels - 1) * size, (channels - 1) * size);
        memcpy(at + (i * channels + channels - 1) * size,
               from + (i * channels + channels - 1) * size, size);
    }
}

void codec_lossy_image_index(const taper_image *lossy, const taper_image *original) {
    const size_t channels = original->channels, size = sample_bytes(original);
    const size_t pixels = (size_t)original->width * original->height;
    static const char none[2] = {0};
    memcpy(lossy->pixels, original->pixels, formats_image_bytes(original));
    if (channels & 1) return;
    char *at = lossy->pixels;
    for (size_t i = 0; i < pixels; i++, at += channels * size)
        if (!memcmp(at + (channels - 1) * size, none, size)) memset(at, 0, channels * size);
}

/* Render one image: `windows` windows from `first`. */
static taper_status render(const codec_strip_renderer *r, const taper_model *model,
                           const codec_backend *backend, const codec_strips *strips, uint32_t first,
                           uint32_t windows, taper_image *to) {
    codec_backend own = *backend;
    const codec_group *last = codec_strips_last(strips);
    int16_t *value = malloc((size_t)windows * model->network.inputs * sizeof *value);
    if (!value) return TAPER_ERR_NOMEM;
    taper_status status = codec_strip_renderer_run(r, &own, first, windows, value);
    if (status == TAPER_OK)
        status = codec_render_windows(model, codec_model_pass(last->tables, last->pass), NULL,
                                      value, to);
    free(value);
    return status;
}

taper_status codec_lossy_images_render(const codec_lossy_images *images,
                                       const taper_image *original, const size_t *number, size_t n,
                                       const taper_model *model, const codec_backend *backend,
                                       const codec_strips *strips) {
    codec_strip_renderer renderer;
    const codec_strip_rendering all = {
        .model = model, .strips = strips, .n = strips->first[strips->n], .with_head = 1};
    TAPER_TRY(codec_strip_renderer_begin(&renderer, &all, NULL));
    taper_status status = TAPER_OK;
    uint32_t first = 0;
    for (size_t k = 0; k < n && status == TAPER_OK; k++) {
        const taper_image *to = &images->image[number[k]];
        const codec_grid grid = codec_windows_grid(model->window, to->width, to->height);
        const uint32_t windows = grid.columns * grid.rows;
        taper_image colours = *to;
        if (!(to->channels & 1)) colours.channels--;
        status = render(&renderer, model, backend, strips, first, windows, &colours);
        if (status == TAPER_OK && !(to->channels & 1)) add_alpha(to, &original[number[k]]);
        first += windows;
    }
    codec_strip_renderer_end(&renderer);
    return status;
}

taper_status codec_lossy_images_encode(const codec_lossy_images *images,
                                       const taper_image *original, formats_buffer *out) {
    uint32_t width = 1, channels = 1;
    const size_t start = out->size;
    codec_exact *exact;
    for (size_t i = 0; i < images->n; i++) {
        if (original[i].width > width) width = original[i].width;
        if (original[i].channels > channels) channels = original[i].channels;
    }
    TAPER_TRY(codec_exact_open(&exact, width, channels, NULL));
    taper_status status = codec_exact_encode(exact, original, images->image, images->n, out);
    codec_exact_close(exact);
    if (status == TAPER_OK && out->size == start) status = formats_write_u8(out, 0);
    return status;
}
