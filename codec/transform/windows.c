/* windows.c -- see windows.h. */
#include "codec/transform/windows.h"
#include "codec/backend/simd.h"
#include "codec/transform/lap.h"
#include <stdlib.h>
#include <string.h>

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
    uint32_t channel = image->channels == 1 ? 0 : c;
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

/* Round values to samples. NaN becomes 0. */
CODEC_CLONES static void to_samples(const float *restrict value, uint32_t n, float scale, float top,
                                    uint16_t *restrict to) {
    for (uint32_t i = 0; i < n; i++) {
        float rounded = value[i] * scale + 0.5f;
        rounded = rounded > 0 ? rounded : 0;
        to[i] = (uint16_t)(int32_t)(rounded < top ? rounded : top);
    }
}

/* Grey from colour: the mean over channels. plane: distance between the rows of two channels. */
CODEC_CLONES static void to_grey(const float *restrict row, uint32_t plane, uint32_t n,
                                 float *restrict grey) {
    for (uint32_t i = 0; i < n; i++)
        grey[i] = (row[i] + row[plane + i] + row[2 * plane + i]) / 3.0f;
}

/* Store row y of one channel of a window, at column x0 of the image. */
static void store_row(codec_window w, const float *from, taper_image *image, uint32_t x0,
                      uint32_t y, uint32_t c) {
    float grey[CODEC_MAX_WINDOW_SIDE];
    uint16_t rounded[CODEC_MAX_WINDOW_SIDE];
    int deep = image->depth == 16;
    uint32_t n = image->width - x0 < w.width ? image->width - x0 : w.width, step = image->channels;
    size_t at = ((size_t)y * image->width + x0) * step + c;
    if (image->channels != w.channels) {
        to_grey(from, w.width * w.height, n, grey);
        from = grey;
    }
    to_samples(from, n, deep ? 257.0f : 1.0f, deep ? 65535.0f : 255.0f, rounded);
    if (deep)
        for (uint32_t i = 0; i < n; i++) ((uint16_t *)image->pixels)[at + i * step] = rounded[i];
    else
        for (uint32_t i = 0; i < n; i++)
            ((uint8_t *)image->pixels)[at + i * step] = (uint8_t)rounded[i];
}

void codec_windows_store(codec_window w, const float *from, taper_image *image) {
    codec_grid grid = codec_windows_grid(w, image->width, image->height);
    for (uint32_t y = 0; y < image->height; y++) {
        const float *line = from + (size_t)(y / w.height) * grid.columns * codec_window_values(w);
        for (uint32_t column = 0; column < grid.columns; column++)
            for (uint32_t c = 0; c < image->channels; c++)
                store_row(w,
                          line + (size_t)column * codec_window_values(w) +
                              ((size_t)c * w.height + y % w.height) * w.width,
                          image, column * w.width, y, c);
    }
}

taper_status codec_windows_write(codec_window w, const float *from, taper_image *image) {
    codec_grid grid = codec_windows_grid(w, image->width, image->height);
    size_t bytes = (size_t)grid.columns * grid.rows * codec_window_values(w) * sizeof *from;
    float *lapped = w.lap ? malloc(bytes) : NULL;
    if (w.lap && !lapped) return TAPER_ERR_NOMEM;
    if (lapped) {
        memcpy(lapped, from, bytes);
        codec_lap_postfilter(w, grid, lapped);
    }
    codec_windows_store(w, lapped ? lapped : from, image);
    free(lapped);
    return TAPER_OK;
}
