/* drawing.c -- see drawing.h. */
#include "codec/pixels/drawing.h"
#include "codec/pixels/pixel_group.h"
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_PIXELS = 64,     /* smaller ones tell nothing */
    MOST_PIXELS = 1 << 24, /* larger ones are coded strip by strip, which drawings are not */
    SAMPLED_ROWS = 16,     /* rows whose pixels are compared with those to the left and above */
    FLAT_PART = 4,         /* of a drawing, one in so many pixels equals one of them, at least */
    GREY_LEVELS = 32       /* a grey image with more is none: digits and scans are drawn softly */
};

/* What an exact copy is worth. Of 32 drawings, screenshots and photographs, codes at a quality that
 * is as good to see take about 0.05 bits a pixel, and 2.3 for each bit of bending. */
enum {
    SMALL_PIXELS = 1 << 14, /* any small image is worth SMALL_BITS a pixel, also of a larger one */
    SMALL_BITS = 3,
    BENT_ROWS = 64,     /* rows whose pixels are compared with those at all four sides */
    UNSEEN_LEVELS = 8,  /* a smaller difference to their mean, times two, costs no bits */
    QUARTERS_EACH = 24, /* quarters of a bit a pixel, for each bit of bending */
    QUARTERS_LEAST = 1
};

static int same_pixels(const taper_image *image, size_t a, size_t b) {
    const uint8_t *pixels = image->pixels;
    return !memcmp(pixels + a * image->channels, pixels + b * image->channels, image->channels);
}

/* Are there many equal neighbours in rows all over the image? */
static int is_flat(const taper_image *image) {
    const uint32_t w = image->width, h = image->height, rows = h < SAMPLED_ROWS ? h : SAMPLED_ROWS;
    size_t equal = 0;
    for (uint32_t k = 0; k < rows; k++) {
        const uint32_t y = (uint32_t)((uint64_t)(2 * k + 1) * h / (2 * rows));
        const size_t row = (size_t)y * w;
        for (uint32_t x = 0; x < w; x++)
            equal += (x && same_pixels(image, row + x, row + x - 1)) ||
                     (y && same_pixels(image, row + x, row + x - w));
    }
    return equal * FLAT_PART >= (size_t)rows * w;
}

static int has_few_levels(const taper_image *image) {
    const uint8_t *pixels = image->pixels;
    const size_t n = (size_t)image->width * image->height;
    uint8_t used[256] = {0};
    int levels = 0;
    for (size_t i = 0; i < n; i++) {
        levels += !used[pixels[i * image->channels]];
        used[pixels[i * image->channels]] = 1;
        if (levels > GREY_LEVELS) return 0;
    }
    return 1;
}

static const formats_geometry *the_geometry(const void *user, size_t i) {
    (void)i;
    return user;
}

/* The bytes of its chunk, if it is the only image; UINT64_MAX: more than most, or no memory. */
static uint64_t chunk_bytes(const taper_image *image, uint64_t most) {
    const formats_geometry of = {.width = image->width,
                                 .height = image->height,
                                 .channels = image->channels < 3 ? 1 : 3,
                                 .depth = 8,
                                 .alpha = !(image->channels & 1),
                                 .indexed = 1};
    codec_pixel_group group;
    formats_buffer out =
        formats_buffer_make(most < FORMATS_MOST_BYTES ? (size_t)most : FORMATS_MOST_BYTES);
    uint64_t bytes = UINT64_MAX;
    if (codec_pixel_group_open(&group, 1, the_geometry, &of, NULL) != TAPER_OK) return bytes;
    if (codec_pixel_image_take(&group, 0, image) == TAPER_OK &&
        codec_pixel_group_encode(&group, FORMATS_LAYER_FIRST, &out) == TAPER_OK)
        bytes = out.size;
    formats_buffer_free(&out);
    codec_pixel_group_close(&group);
    return bytes;
}

/* The bits of how far a pixel is from the line between its neighbours. */
static unsigned bending(const uint8_t *pixel, size_t before, size_t channels) {
    unsigned most = 0, bits = 0;
    for (size_t c = 0; c < channels; c++) {
        const uint8_t *p = pixel + c;
        const int across = 2 * p[0] - p[-(ptrdiff_t)channels] - p[channels];
        const int down = 2 * p[0] - p[-(ptrdiff_t)before] - p[before];
        const unsigned a = (unsigned)abs(across), d = (unsigned)abs(down), m = a > d ? a : d;
        most = m > most ? m : most;
    }
    for (most /= UNSEEN_LEVELS; most; most /= 2) bits++;
    return bits;
}

uint64_t codec_drawing_worth(const taper_image *image) {
    const uint64_t w = image->width, h = image->height, pixels = w * h;
    const size_t channels = image->channels, before = (size_t)w * channels;
    const uint8_t *all = image->pixels;
    const uint64_t rows = h - 2 < BENT_ROWS ? h - 2 : BENT_ROWS, seen = rows * (w - 2);
    uint64_t bits = 0;
    if (image->depth != 8 || w < 3 || h < 3 || pixels <= SMALL_PIXELS || pixels > MOST_PIXELS)
        return UINT64_MAX;
    for (uint64_t k = 0; k < rows; k++) {
        const uint64_t y = 1 + (2 * k + 1) * (h - 2) / (2 * rows);
        for (uint64_t x = 1; x + 1 < w; x++)
            bits += bending(all + (size_t)(y * before + x * channels), before, channels);
    }
    const uint64_t quarters = QUARTERS_LEAST * seen + QUARTERS_EACH * bits;
    return SMALL_PIXELS * SMALL_BITS / 8 + (pixels - SMALL_PIXELS) * quarters / seen / 32;
}

int codec_is_drawing(const taper_image *image, uint64_t most_bytes) {
    const uint64_t pixels = (uint64_t)image->width * image->height;
    if (pixels < LEAST_PIXELS || pixels > MOST_PIXELS) return 0;
    if (image->depth != 8 || !is_flat(image)) return 0;
    if (image->channels < 3 && !has_few_levels(image)) return 0;
    return chunk_bytes(image, most_bytes) <= most_bytes;
}
