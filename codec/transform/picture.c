/* picture.c -- see picture.h. */
#include "codec/transform/picture.h"
#include "codec/backend/simd.h"
#include <stdlib.h>
#include <string.h>

enum { ONE = CODEC_PICTURE_ONE, ZERO = 128 * ONE, LEAST = -32768, MOST = 32767 };

uint64_t codec_picture_bytes(codec_window w, codec_grid grid) {
    return (uint64_t)grid.columns * grid.rows * codec_window_values(w) * sizeof(int16_t);
}

taper_status codec_picture_alloc(codec_picture *p, codec_window w, codec_grid grid) {
    uint64_t bytes = codec_picture_bytes(w, grid);
    *p = (codec_picture){0};
    void *value = bytes <= SIZE_MAX ? malloc((size_t)bytes) : NULL;
    if (!value) return TAPER_ERR_NOMEM;
    *p = (codec_picture){grid.columns * w.width, grid.rows * w.height, w.channels, value};
    return TAPER_OK;
}

void codec_picture_free(codec_picture *p) {
    free(p->value);
    *p = (codec_picture){0};
}

taper_status codec_picture_of_windows(codec_picture *p, codec_window w, codec_grid grid,
                                      const int16_t *value) {
    TAPER_TRY(codec_picture_alloc(p, w, grid));
    codec_picture_put(p, w, 0, grid.columns * grid.rows, value);
    return TAPER_OK;
}

void codec_picture_put(const codec_picture *p, codec_window w, uint32_t first, uint32_t n,
                       const int16_t *value) {
    uint32_t columns = p->width / w.width;
    for (uint32_t i = first; i < first + n; i++)
        for (uint32_t c = 0; c < w.channels; c++)
            for (uint32_t y = 0; y < w.height; y++, value += w.width)
                memcpy(codec_picture_row(p, c, i / columns * w.height + y) +
                           (size_t)(i % columns) * w.width,
                       value, w.width * sizeof *value);
}

CODEC_CLONES static void to_values(const float *restrict pixels, size_t n,
                                   int16_t *restrict value) {
    const float low = LEAST, high = MOST, zero = ZERO;
    for (size_t i = 0; i < n; i++) {
        float v = pixels[i] * ONE - zero + 0.5f;
        v = v > low ? v : low; /* also for NaN */
        v = v < high ? v : high;
        value[i] = (int16_t)((int32_t)(v - low) + LEAST); /* floor: the sum is not negative */
    }
}

void codec_picture_values(const float *pixels, size_t n, int16_t *value) {
    to_values(pixels, n, value);
}

/* --- averages ----------------------------------------------------------------------------- */

/* The mean of the values from (x, y) on, in a square of this side. */
static int16_t mean_at(const codec_picture *p, uint32_t c, uint32_t x, uint32_t y, uint32_t side) {
    uint32_t right = p->width - x < side ? p->width : x + side,
             below = p->height - y < side ? p->height : y + side;
    int32_t sum = 0, n = (int32_t)((right - x) * (below - y));
    for (uint32_t row = y; row < below; row++)
        for (uint32_t i = x; i < right; i++) sum += codec_picture_row(p, c, row)[i];
    /* + 32768 n: all sums are positive, so the division rounds down */
    return (int16_t)((sum + 32768 * n + n / 2) / n - 32768);
}

void codec_picture_shrink(codec_picture *p, uint32_t scale) {
    int16_t *to = p->value; /* never beyond the values that are still to be read */
    for (uint32_t c = 0; c < p->channels; c++)
        for (uint32_t y = 0; y < p->height; y += scale)
            for (uint32_t x = 0; x < p->width; x += scale) *to++ = mean_at(p, c, x, y, scale);
    p->width = (p->width - 1) / scale + 1;
    p->height = (p->height - 1) / scale + 1;
}

/* --- samples ------------------------------------------------------------------------------ */

CODEC_INLINE int32_t clamp(int32_t x, int32_t top) { return x < 0 ? 0 : x > top ? top : x; }

/* One channel of a row to samples that are `step` apart. */
CODEC_CLONES static void store_bytes(const int16_t *restrict from, uint32_t n, uint32_t step,
                                     uint8_t *restrict to) {
    CODEC_NO_VECTORS
    for (uint32_t i = 0; i < n; i++)
        to[(size_t)i * step] = (uint8_t)clamp((from[i] + ZERO + ONE / 2) / ONE, 255);
}

CODEC_CLONES static void store_words(const int16_t *restrict from, uint32_t n, uint32_t step,
                                     uint16_t *restrict to) {
    CODEC_NO_VECTORS
    for (uint32_t i = 0; i < n; i++)
        to[(size_t)i * step] = (uint16_t)clamp(((from[i] + ZERO) * 257 + ONE / 2) / ONE, 65535);
}

/* Three channels of a row at once: a compiler turns the 24 stores of 8 pixels into few. */
CODEC_CLONES static void store_colours(const int16_t *restrict r, const int16_t *restrict g,
                                       const int16_t *restrict b, uint32_t n,
                                       uint8_t *restrict to) {
    for (uint32_t i = 0; i < n; i++) {
        to[3 * (size_t)i] = (uint8_t)clamp((r[i] + ZERO + ONE / 2) / ONE, 255);
        to[3 * (size_t)i + 1] = (uint8_t)clamp((g[i] + ZERO + ONE / 2) / ONE, 255);
        to[3 * (size_t)i + 2] = (uint8_t)clamp((b[i] + ZERO + ONE / 2) / ONE, 255);
    }
}

/* The mean of three channels, rounded: 10923 / 32768 is a third. */
CODEC_CLONES static void to_grey(const int16_t *restrict r, const int16_t *restrict g,
                                 const int16_t *restrict b, uint32_t n, int16_t *restrict grey) {
    for (uint32_t i = 0; i < n; i++) {
        int32_t mean = ((r[i] + g[i] + b[i]) * 10923 + 16384) >> 15; /* one too far at both ends */
        grey[i] = (int16_t)(mean < LEAST ? LEAST : mean > MOST ? MOST : mean);
    }
}

static void store_channel(const int16_t *from, const taper_image *image, uint32_t x, uint32_t y,
                          uint32_t n, uint32_t c) {
    size_t at = ((size_t)y * image->width + x) * image->channels + c;
    if (image->depth == 16)
        store_words(from, n, image->channels, (uint16_t *)image->pixels + at);
    else
        store_bytes(from, n, image->channels, (uint8_t *)image->pixels + at);
}

static void store_grey(const int16_t *const row[3], const taper_image *image, uint32_t y) {
    enum { AT_ONCE = 256 };
    int16_t grey[AT_ONCE];
    for (uint32_t x = 0, n; x < image->width; x += n) {
        n = image->width - x < AT_ONCE ? image->width - x : AT_ONCE;
        to_grey(row[0] + x, row[1] + x, row[2] + x, n, grey);
        store_channel(grey, image, x, y, n, 0);
    }
}

void codec_picture_store(const codec_picture *p, taper_image *image) {
    for (uint32_t y = 0; y < image->height; y++) {
        const int16_t *row[3] = {0};
        for (uint32_t c = 0; c < p->channels; c++) row[c] = codec_picture_row(p, c, y);
        if (p->channels == 3 && image->channels == 1)
            store_grey(row, image, y);
        else if (p->channels == 3 && image->depth == 8)
            store_colours(row[0], row[1], row[2], image->width,
                          (uint8_t *)image->pixels + (size_t)y * image->width * 3);
        else
            for (uint32_t c = 0; c < image->channels; c++)
                store_channel(row[c], image, 0, y, image->width, c);
    }
}
