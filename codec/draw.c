/* draw.c -- from windows to pixels; see model.h. */
#include "model.h"
#include <stdlib.h>
#include <string.h>

taper_status codec_model_draw(const taper_model *m, uint32_t pass, codec_pool *pool,
                              const float *from, taper_image *image) {
    if (!m->restoration.layers) return codec_windows_write(m->window, from, image);
    codec_grid grid = codec_windows_grid(m->window, image->width, image->height);
    size_t bytes = (size_t)grid.columns * grid.rows * codec_window_values(m->window) * sizeof *from;
    float *windows = malloc(bytes);
    if (!windows) return TAPER_ERR_NOMEM;
    memcpy(windows, from, bytes);
    if (m->window.lap) codec_lap_synthesise(m->window, grid, windows);
    taper_status status =
        codec_restoration_apply(&m->restoration, pass, m->window, grid, pool, windows);
    if (status == TAPER_OK) codec_windows_store(m->window, windows, image);
    free(windows);
    return status;
}
