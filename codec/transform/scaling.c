/* scaling.c -- scaling an image to any size (SPEC.md, 6.2); see codec/taper_quality.h.
 *
 * Lengths along a side of n old and m new pixels are measured in parts: an old pixel has m parts, a
 * new one has n. So all edges are integers. A new sample is a weighted sum of the old ones, divided
 * by n_x n_y and rounded. A weight is the product of the parts of width and height within the new
 * pixel. */
#include "codec/taper_quality.h"
#include "formats/image.h"
#include <stdlib.h>

/* The old pixels that a new pixel covers: first .. end - 1. */
typedef struct span {
    uint32_t first, end;
    uint64_t from, to; /* the edges of the new pixel, in parts */
} span;

static span span_of(uint32_t i, uint32_t of_old, uint32_t of_new) {
    const uint64_t from = (uint64_t)i * of_old, to = from + of_old;
    return (span){(uint32_t)(from / of_new), (uint32_t)((to + of_new - 1) / of_new), from, to};
}

/* The parts of old pixel k within the new pixel. */
static uint64_t within(const span *s, uint32_t k, uint32_t of_new) {
    const uint64_t left = (uint64_t)k * of_new, right = left + of_new;
    return (right < s->to ? right : s->to) - (left > s->from ? left : s->from);
}

/* A sample, reduced to 8 bits. */
static uint64_t sample_at(const taper_image *image, size_t at) {
    if (image->depth == 16) return ((uint32_t)((const uint16_t *)image->pixels)[at] + 128) / 257;
    return ((const uint8_t *)image->pixels)[at];
}

static uint8_t mean_of(const taper_image *f, const span *x, const span *y, uint32_t width,
                       uint32_t height, uint32_t channel) {
    const uint64_t whole = (uint64_t)f->width * f->height;
    uint64_t sum = 0;
    for (uint32_t j = y->first; j < y->end; j++) {
        uint64_t row = 0;
        for (uint32_t i = x->first; i < x->end; i++)
            row += within(x, i, width) *
                   sample_at(f, ((size_t)j * f->width + i) * f->channels + channel);
        sum += within(y, j, height) * row;
    }
    return (uint8_t)((sum + whole / 2) / whole);
}

taper_status taper_image_scale(const taper_image *from, uint32_t width, uint32_t height,
                               taper_image *to, taper_error *error) {
    TAPER_TRY(formats_need(to, "the new image", error));
    *to = (taper_image){0};
    if (!from || !formats_image_is_legal(from) || !(from->channels & 1) || !width || !height)
        return formats_fail(error, TAPER_ERR_ARG,
                            "only images of 1 or 3 channels are scaled, to at "
                            "least 1 x 1 pixels");
    const uint32_t channels = from->channels;
    uint8_t *at = NULL;
    if (height <= SIZE_MAX / channels / width) at = malloc((size_t)width * height * channels);
    if (!at)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u x %u pixels", width, height);
    *to = (taper_image){width, height, from->channels, 8, at};
    for (uint32_t j = 0; j < height; j++) {
        const span y = span_of(j, from->height, height);
        for (uint32_t i = 0; i < width; i++) {
            const span x = span_of(i, from->width, width);
            for (uint32_t c = 0; c < channels; c++) *at++ = mean_of(from, &x, &y, width, height, c);
        }
    }
    return TAPER_OK;
}
