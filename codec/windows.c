/* windows.c -- see windows.h. */
#include "windows.h"
#include "lap.h"
#include <stdlib.h>
#include <string.h>

codec_grid codec_windows_grid(codec_window w, uint32_t width, uint32_t height) {
    return (codec_grid){(width - 1) / w.width + 1, (height - 1) / w.height + 1};
}

static float sample(const taper_image *image, size_t at) {
    if (image->depth == 16) return (float)((const uint16_t *)image->pixels)[at] / 257.0f;
    return (float)((const uint8_t *)image->pixels)[at];
}

static void store(taper_image *image, size_t at, float value) {
    float top = image->depth == 16 ? 65535.0f : 255.0f;
    float scaled = image->depth == 16 ? value * 257.0f : value;
    float rounded = scaled + 0.5f;
    if (!(rounded > 0)) rounded = 0; /* NaN too */
    if (rounded > top) rounded = top;
    if (image->depth == 16)
        ((uint16_t *)image->pixels)[at] = (uint16_t)rounded;
    else
        ((uint8_t *)image->pixels)[at] = (uint8_t)rounded;
}

/* One row of one channel of one window. */
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
    codec_lap_analyse(w, grid, windows);
}

/* The value of an image's sample: a window's, or the mean over channels for grey out of colour. */
static float value_of(codec_window w, const taper_image *image, const float *window, uint32_t at,
                      uint32_t c) {
    uint32_t plane = w.width * w.height;
    if (image->channels == w.channels) return window[c * plane + at];
    return (window[at] + window[plane + at] + window[2 * plane + at]) / 3.0f;
}

void codec_windows_store(codec_window w, const float *from, taper_image *image) {
    codec_grid grid = codec_windows_grid(w, image->width, image->height);
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++) {
            const float *window = from + ((size_t)(y / w.height) * grid.columns + x / w.width) *
                                             codec_window_values(w);
            uint32_t at = y % w.height * w.width + x % w.width;
            for (uint32_t c = 0; c < image->channels; c++)
                store(image, ((size_t)y * image->width + x) * image->channels + c,
                      value_of(w, image, window, at, c));
        }
}

taper_status codec_windows_write(codec_window w, const float *from, taper_image *image) {
    codec_grid grid = codec_windows_grid(w, image->width, image->height);
    size_t bytes = (size_t)grid.columns * grid.rows * codec_window_values(w) * sizeof *from;
    float *lapped = w.lap ? malloc(bytes) : NULL;
    if (w.lap && !lapped) return TAPER_ERR_NOMEM;
    if (lapped) {
        memcpy(lapped, from, bytes);
        codec_lap_synthesise(w, grid, lapped);
    }
    codec_windows_store(w, lapped ? lapped : from, image);
    free(lapped);
    return TAPER_OK;
}
