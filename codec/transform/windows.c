/* windows.c -- see windows.h. */
#include "codec/transform/windows.h"
#include "codec/transform/lap.h"
#include <stdlib.h>

codec_grid codec_windows_grid(codec_window w, uint32_t width, uint32_t height) {
    return (codec_grid){(width - 1) / w.width + 1, (height - 1) / w.height + 1};
}

static float sample(const taper_image *image, size_t at) {
    if (image->depth == 16) return (float)((const uint16_t *)image->pixels)[at] / 257.0f;
    return (float)((const uint8_t *)image->pixels)[at];
}

/* Read one row of one channel of a window. */
static void read_row(codec_window w, const taper_image *image, uint32_t x0, uint32_t y, uint32_t c,
                     float *to) {
    uint32_t channel = image->channels < 3 ? 0 : c; /* alpha is passed over */
    for (uint32_t i = 0; i < w.width; i++) {
        uint32_t x = x0 + i < image->width ? x0 + i : image->width - 1;
        to[i] = sample(image, ((size_t)y * image->width + x) * image->channels + channel);
    }
}

void codec_windows_read(codec_window w, const taper_image *image, float *to) {
    codec_grid grid = codec_windows_grid(w, image->width, image->height);
    float *windows = to;
    for (uint32_t row = 0; row < grid.rows; row++)
        for (uint32_t column = 0; column < grid.columns; column++)
            for (uint32_t c = 0; c < w.channels; c++)
                for (uint32_t j = 0; j < w.height; j++, to += w.width) {
                    uint32_t y = row * w.height + j;
                    read_row(w, image, column * w.width, y < image->height ? y : image->height - 1,
                             c, to);
                }
    codec_lap_prefilter(w, grid, windows);
}

taper_status codec_windows_write(codec_window w, const float *from, taper_image *image) {
    codec_grid grid = codec_windows_grid(w, image->width, image->height);
    size_t n = (size_t)grid.columns * grid.rows, values = codec_window_values(w);
    codec_picture picture;
    int16_t *value = malloc(values * sizeof *value);
    taper_status status = codec_picture_alloc(&picture, w, grid);
    if (!value) status = TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n && status == TAPER_OK; i++) {
        codec_picture_values(from + i * values, values, value);
        codec_picture_put(&picture, w, (uint32_t)i, 1, value);
    }
    if (status == TAPER_OK) {
        if (w.lap) codec_lap_postfilter(w, &picture);
        codec_picture_store(&picture, image);
    }
    free(value);
    codec_picture_free(&picture);
    return status;
}
