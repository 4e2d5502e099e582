/* render.c -- windows to pixels; see model.h. */
#include "codec/model/model.h"
#include <stdlib.h>
#include <string.h>

taper_status codec_model_render_over(const taper_model *m, uint32_t pass, codec_pool *pool,
                                     float *windows, taper_image *image) {
    codec_window w = m->window;
    codec_grid grid = codec_windows_grid(w, image->width, image->height);
    if (w.lap) codec_lap_postfilter(w, grid, windows);
    if (m->restoration.layers)
        TAPER_TRY(codec_restoration_apply(&m->restoration, pass, w, grid, pool, windows));
    codec_windows_store(w, windows, image);
    return TAPER_OK;
}

taper_status codec_model_render(const taper_model *m, uint32_t pass, codec_pool *pool,
                                const float *from, taper_image *image) {
    codec_window w = m->window;
    if (!m->restoration.layers) return codec_windows_write(w, from, image);
    codec_grid grid = codec_windows_grid(w, image->width, image->height);
    size_t bytes = (size_t)grid.columns * grid.rows * codec_window_values(w) * sizeof *from;
    float *windows = malloc(bytes); /* `from` is kept: the caller caches it */
    if (!windows) return TAPER_ERR_NOMEM;
    memcpy(windows, from, bytes);
    taper_status status = codec_model_render_over(m, pass, pool, windows, image);
    free(windows);
    return status;
}
