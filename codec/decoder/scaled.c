/* scaled.c -- taper_decoder_render_scaled: the pixels of a small version of an image; see taper.h.
 * The basis of its scale is made when it is first needed, and kept. */
#include "codec/decoder/decoder.h"
#include "codec/pixels/pixel_store.h"
#include "codec/render/picture_renderer.h"
#include "codec/render/small_renderer.h"
#include <stdlib.h>

/* --- with a small basis --------------------------------------------------------------------- */

/* Memory that the image needs beside the group, with the basis if it is still to be made. */
static uint64_t small_bytes(const taper_decoder *d, const taper_image_info *info, uint32_t scale) {
    const taper_model *m = codec_decoder_model(d);
    codec_grid grid = codec_windows_grid(m->window, info->width, info->height);
    uint64_t bytes = codec_render_small_bytes(m, scale, grid, codec_pool_threads(d->backend.pool));
    if (d->small.scale != scale)
        bytes += codec_small_basis_most_bytes(m->network.units, m->window, scale);
    return bytes;
}

static taper_status make_basis(taper_decoder *d, uint32_t scale, taper_error *error) {
    if (d->small.scale == scale) return TAPER_OK;
    formats_account_give(&d->account, codec_small_basis_bytes(&d->small));
    codec_small_basis_free(&d->small);
    taper_status status = codec_model_make_small(codec_decoder_model(d), scale, &d->small);
    if (status != TAPER_OK)
        return formats_fail(error, status, "no memory for the model at 1/%u", (unsigned)scale);
    (void)formats_account_take(&d->account, codec_small_basis_bytes(&d->small));
    return TAPER_OK;
}

static taper_status render_small(taper_decoder *d, const codec_decoder_image *image, uint32_t scale,
                                 taper_image *out, taper_error *error) {
    TAPER_TRY(codec_decoder_need(d, &image->info, small_bytes(d, &image->info, scale), error));
    TAPER_TRY(make_basis(d, scale, error));
    codec_small_source source = {
        codec_decoder_model(d), &d->small, &image->group->strips, image->first,
        codec_windows_grid(codec_decoder_model(d)->window, image->info.width, image->info.height)};
    taper_status status = codec_render_small(&source, d->backend.pool, out);
    if (status == TAPER_OK) return status;
    return formats_fail(error, status, "no memory to render %u windows", image->n);
}

/* --- without one ---------------------------------------------------------------------------- */

static taper_status render_whole(taper_decoder *d, const codec_decoder_image *image, uint32_t scale,
                                 taper_image *out, taper_error *error) {
    codec_picture picture;
    TAPER_TRY(
        codec_decoder_need(d, &image->info, codec_decoder_picture_bytes(d, &image->info), error));
    TAPER_TRY(codec_decoder_picture(d, image, &picture, error));
    if (codec_decoder_model(d)->window.lap)
        codec_lap_postfilter(codec_decoder_model(d)->window, &picture);
    codec_picture_shrink(&picture, scale);
    codec_picture_store(&picture, out);
    codec_picture_free(&picture);
    return TAPER_OK;
}

/* --- the interface -------------------------------------------------------------------------- */

static taper_status check_arguments(uint32_t scale, const taper_image *out, taper_error *error) {
    if (scale != 2 && scale != 4 && scale != 8 && scale != CODEC_SMALL_MOST_SCALE)
        return formats_fail(error, TAPER_ERR_ARG, "the scale is %u, but must be 1, 2, 4, 8 or 16",
                            (unsigned)scale);
    if (!out || !out->pixels)
        return formats_fail(error, TAPER_ERR_ARG, "there is no memory for the pixels");
    return TAPER_OK;
}

taper_status taper_decoder_render_scaled(taper_decoder *d, uint64_t i, uint32_t scale,
                                         taper_image *out, taper_completeness *done,
                                         taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    codec_decoder_image image;
    if (scale == 1) return taper_decoder_render(d, i, out, done, error);
    TAPER_TRY(codec_decoder_find(d, i, &info, error));
    TAPER_TRY(check_arguments(scale, out, error));
    int is_small = codec_model_has_small(codec_decoder_model(d), scale);
    uint64_t n = (uint64_t)info.columns * info.rows, bytes = UINT64_MAX / 2;
    if (n < UINT32_MAX)
        bytes = is_small ? small_bytes(d, &info, scale) : codec_decoder_picture_bytes(d, &info);
    const codec_grid grid = {info.columns, info.rows};
    if (!info.is_indexed) TAPER_TRY(codec_decoder_check_memory(d, grid, bytes, error));
    TAPER_TRY(codec_decoder_load_image(d, i, d->passes, &image, error));
    out->width = (info.width - 1) / scale + 1, out->height = (info.height - 1) / scale + 1;
    out->channels = info.channels, out->depth = info.depth;
    if (info.is_indexed) {
        codec_pixels_store(image.pixels, scale, out);
    } else {
        if (image.pixels) out->channels--;
        TAPER_TRY((is_small ? render_small : render_whole)(d, &image, scale, out, error));
        if (image.pixels) codec_pixels_add_alpha(image.pixels, scale, out);
    }
    if (done) *done = codec_decoder_completeness(d, image.group);
    return codec_decoder_damage(image.group, error);
}
