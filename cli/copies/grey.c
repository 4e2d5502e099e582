/* grey.c -- see grey.h. Large images are first reduced by whole factors, which is fast: rows are
 * added up, and then columns. The rest is done by taper_image_scale. */
#include "cli/copies/grey.h"
#include "codec/backend/simd.h"
#include "codec/taper_quality.h"
#include <stdlib.h>
#include <string.h>

/* A reduced side has at least LEAST pixels; 256 samples of 8 bits keep sums in 16 bits. */
enum {
    LEAST = 2 * CLI_GREY_SIDE,
    MOST_FACTOR = 256,
    MOST_FOLDED = 256,
    RED = 77,
    GREEN = 150,
    BLUE = 29
};

static uint32_t factor_of(uint32_t side) {
    if (side % CLI_GREY_SIDE == 0 && side / CLI_GREY_SIDE <= MOST_FACTOR)
        return side / CLI_GREY_SIDE; /* nothing is left to scale */
    const uint32_t factor = side / LEAST;
    return factor < 1 ? 1 : factor > MOST_FACTOR ? MOST_FACTOR : factor;
}

/* Add n samples of four rows that are `stride` apart, or of one. */
CODEC_CLONES static void add_four(const uint8_t *restrict row, size_t stride, size_t n,
                                  uint16_t *restrict sum) {
    const uint8_t *second = row + stride, *third = second + stride, *last = third + stride;
    for (size_t i = 0; i < n; i++)
        sum[i] = (uint16_t)(sum[i] + row[i] + second[i] + third[i] + last[i]);
}

CODEC_CLONES static void add_one(const uint8_t *restrict row, size_t n, uint16_t *restrict sum) {
    for (size_t i = 0; i < n; i++) sum[i] = (uint16_t)(sum[i] + row[i]);
}

/* The mean of n pixels of each channel whose sums are in `sum`, as luma. */
CODEC_INLINE uint8_t luma_of(const uint16_t *sum, size_t pixels, size_t channels, double per_luma) {
    uint32_t all[3] = {0, 0, 0};
    for (size_t k = 0; k < pixels * channels; k += channels)
        for (size_t c = 0; c < channels; c++) all[c] += sum[k + c];
    const double luma = channels == 1
                            ? (double)all[0] * (RED + GREEN + BLUE)
                            : (double)RED * all[0] + (double)GREEN * all[1] + (double)BLUE * all[2];
    return (uint8_t)(luma * per_luma + 0.5);
}

/* Add up `factor` pixels, a power of two, at the first of them; the sums fit 16 bits. The last
 * pixels of the row, which have too few after them, are left as they are. */
CODEC_CLONES static void fold(uint16_t *sum, size_t samples, size_t channels, uint32_t factor) {
    for (size_t step = channels; step < factor * channels && step < samples; step *= 2)
        for (size_t i = 0; i + step < samples; i++) sum[i] = (uint16_t)(sum[i] + sum[i + step]);
}

/* One row of the reduced image, of sums of `rows` rows, which are changed. */
CODEC_CLONES static void reduce_row(uint16_t *sum, const taper_image *image, uint32_t rows,
                                    uint32_t factor, uint8_t *to) {
    const size_t channels = image->channels;
    const double per_luma = 1.0 / ((double)factor * rows * (RED + GREEN + BLUE));
    const uint32_t whole = image->width / factor, left = image->width % factor;
    const bool folds = !left && (factor & (factor - 1)) == 0 && factor * rows <= MOST_FOLDED;
    const uint32_t pixels = folds ? 1 : factor;
    if (folds) fold(sum, image->width * channels, channels, factor);
    if (channels == 3) /* a constant is faster */
        for (uint32_t i = 0; i < whole; i++)
            to[i] = luma_of(sum + (size_t)i * factor * 3, pixels, 3, per_luma);
    else
        for (uint32_t i = 0; i < whole; i++)
            to[i] = luma_of(sum + (size_t)i * factor, pixels, 1, per_luma);
    if (left)
        to[whole] = luma_of(sum + (size_t)whole * factor * channels, left, channels,
                            per_luma * factor / left);
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
        const uint8_t *rows = image->pixels;
        uint32_t row = y;
        memset(sum, 0, samples * sizeof *sum);
        for (; row + 4 <= end; row += 4) add_four(rows + row * samples, samples, samples, sum);
        for (; row < end; row++) add_one(rows + row * samples, samples, sum);
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
    const bool is_done = reduced.width == CLI_GREY_SIDE && reduced.height == CLI_GREY_SIDE;
    taper_status status = TAPER_OK;
    if (!is_done) status = taper_image_scale(&reduced, CLI_GREY_SIDE, CLI_GREY_SIDE, &small, NULL);
    if (status == TAPER_OK) memcpy(grey, is_done ? reduced.pixels : small.pixels, CLI_GREY_PIXELS);
    formats_image_free(&reduced), formats_image_free(&small);
    return status;
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
