/* grey.c -- see grey.h. Large images are first reduced by whole factors, which is fast: rows are
 * added up, and then columns. The rest is done by taper_image_scale. */
#include "cli/copies/grey.h"
#include "codec/taper_quality.h"
#include <stdlib.h>
#include <string.h>

/* A reduced side has at least LEAST pixels; a factor of 256 keeps the sums of rows in 16 bits. */
enum { LEAST = 2 * CLI_GREY_SIDE, MOST_FACTOR = 256, RED = 77, GREEN = 150, BLUE = 29 };

static uint32_t factor_of(uint32_t side) {
    const uint32_t factor = side / LEAST;
    return factor < 1 ? 1 : factor > MOST_FACTOR ? MOST_FACTOR : factor;
}

/* Add n samples of a row. */
static void add_row(const uint8_t *row, size_t n, uint16_t *sum) {
    for (size_t i = 0; i < n; i++) sum[i] = (uint16_t)(sum[i] + row[i]);
}

static uint8_t mean_of(uint64_t sum, uint64_t n) { return (uint8_t)((sum + n / 2) / n); }

/* One row of the reduced image, of sums of `rows` rows. */
static void reduce_row(const uint16_t *sum, const taper_image *image, uint32_t rows,
                       uint32_t factor, uint8_t *to) {
    const size_t step = image->channels;
    for (uint32_t x = 0, i = 0; x < image->width; x += factor, i++) {
        const uint32_t end = image->width - x < factor ? image->width : x + factor;
        const uint64_t n = (uint64_t)(end - x) * rows;
        uint64_t all[3] = {0, 0, 0};
        for (size_t c = 0; c < step; c++)
            for (uint32_t k = x; k < end; k++) all[c] += sum[k * step + c];
        to[i] = step == 1
                    ? mean_of(all[0], n)
                    : mean_of(RED * all[0] + GREEN * all[1] + BLUE * all[2], n * (RED + GREEN + BLUE));
    }
}

/* The luma of an image of 8 bits with 1 or 3 channels, reduced by whole factors. */
static taper_status reduce(const taper_image *image, taper_image *out) {
    const uint32_t across = factor_of(image->width), down = factor_of(image->height);
    const size_t samples = (size_t)image->width * image->channels;
    *out = (taper_image){.width = (image->width - 1) / across + 1,
                         .height = (image->height - 1) / down + 1,
                         .channels = 1,
                         .depth = 8};
    uint16_t *sum = malloc(samples * sizeof *sum);
    uint8_t *to = out->pixels = malloc((size_t)out->width * out->height);
    for (uint32_t y = 0; sum && to && y < image->height; y += down) {
        const uint32_t end = image->height - y < down ? image->height : y + down;
        memset(sum, 0, samples * sizeof *sum);
        for (uint32_t k = y; k < end; k++)
            add_row((const uint8_t *)image->pixels + k * samples, samples, sum);
        reduce_row(sum, image, end - y, across, to + (size_t)(y / down) * out->width);
    }
    free(sum);
    if (sum && to) return TAPER_OK;
    formats_image_free(out);
    return TAPER_ERR_NOMEM;
}

/* True if what shows on white is white alone. */
static bool is_blank(const taper_image *image) {
    const uint8_t *pixel = image->pixels;
    const size_t n = formats_image_samples(image), step = image->channels;
    for (size_t i = 0; i < n; i += step) {
        const unsigned alpha = pixel[i + step - 1];
        for (size_t c = 0; alpha && c + 1 < step; c++)
            if (pixel[i + c] != 255) return false;
    }
    return true;
}

taper_status cli_grey_make(taper_image *image, uint8_t grey[CLI_GREY_PIXELS]) {
    taper_image reduced, small = {.pixels = NULL};
    formats_image_to_8bit(image);
    if (formats_image_has_alpha(image))
        formats_image_flatten(image, is_blank(image) ? 0 : UINT16_MAX);
    TAPER_TRY(reduce(image, &reduced));
    const taper_status status =
        taper_image_scale(&reduced, CLI_GREY_SIDE, CLI_GREY_SIDE, &small, NULL);
    formats_image_free(&reduced);
    if (status != TAPER_OK) return status;
    memcpy(grey, small.pixels, CLI_GREY_PIXELS);
    formats_image_free(&small);
    return TAPER_OK;
}

void cli_grey_turn(const uint8_t from[CLI_GREY_PIXELS], unsigned turn,
                   uint8_t to[CLI_GREY_PIXELS]) {
    const unsigned last = CLI_GREY_SIDE - 1;
    for (unsigned y = 0; y < CLI_GREY_SIDE; y++)
        for (unsigned x = 0; x < CLI_GREY_SIDE; x++) {
            unsigned column = turn & 4 ? last - x : x, row = y;
            for (unsigned k = turn & 3; k > 0; k--) { /* where the pixel was a quarter turn ago */
                const unsigned before = column;
                column = row, row = last - before;
            }
            to[y * CLI_GREY_SIDE + x] = from[row * CLI_GREY_SIDE + column];
        }
}
