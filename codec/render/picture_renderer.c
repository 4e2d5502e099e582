/* picture_renderer.c -- see picture_renderer.h. */
#include "codec/render/picture_renderer.h"

taper_status codec_render_picture(const taper_model *m, uint32_t pass, codec_pool *pool,
                                  const codec_picture *picture, taper_image *image) {
    if (m->window.lap) codec_lap_postfilter(m->window, picture);
    if (m->restoration.layers)
        TAPER_TRY(codec_restoration_apply(&m->restoration, pass, pool, picture));
    codec_picture_store(picture, image);
    return TAPER_OK;
}

taper_status codec_render_windows(const taper_model *m, uint32_t pass, codec_pool *pool,
                                  const int16_t *value, taper_image *image) {
    codec_grid grid = codec_windows_grid(m->window, image->width, image->height);
    codec_picture picture;
    TAPER_TRY(codec_picture_of_windows(&picture, m->window, grid, value));
    taper_status status = codec_render_picture(m, pass, pool, &picture, image);
    codec_picture_free(&picture);
    return status;
}

uint64_t codec_render_bytes(const taper_model *m, codec_grid grid, unsigned threads) {
    uint64_t bytes = codec_picture_bytes(m->window, grid);
    if (m->restoration.layers)
        bytes += codec_restoration_bytes(&m->restoration, m->window, grid, threads);
    return bytes;
}
