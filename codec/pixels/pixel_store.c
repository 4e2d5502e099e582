/* pixel_store.c -- see pixel_store.h. */
#include "codec/pixels/pixel_store.h"

/* The pixels that place (x, y) of an image at 1 / scale covers. */
typedef struct area {
    uint32_t x, y, right, bottom;
} area;

static area area_of(const formats_geometry *of, uint32_t scale, uint32_t x, uint32_t y) {
    const uint32_t right = (x + 1) * scale, bottom = (y + 1) * scale;
    return (area){x * scale, y * scale, right < of->width ? right : of->width,
                  bottom < of->height ? bottom : of->height};
}

/* --- indexed images ------------------------------------------------------------------------ */

static uint32_t mean_colour(const codec_pixel_image *from, area a) {
    uint64_t sum[3] = {0}, alpha = 0;
    for (uint32_t y = a.y; y < a.bottom; y++)
        for (uint32_t x = a.x; x < a.right; x++) {
            const uint32_t c = codec_plane_row(&from->plane, y)[x];
            alpha += c >> 24;
            for (int k = 0; k < 3; k++) sum[k] += (uint64_t)(c >> (8 * k) & 255) * (c >> 24);
        }
    const uint64_t n = (uint64_t)(a.right - a.x) * (a.bottom - a.y);
    uint32_t mean = (uint32_t)((alpha + n / 2) / n) << 24;
    for (int k = 0; alpha && k < 3; k++) mean |= (uint32_t)((sum[k] + alpha / 2) / alpha) << 8 * k;
    return mean;
}

static void put_colour(uint32_t c, const taper_image *to, size_t pixel) {
    uint8_t *s = (uint8_t *)to->pixels + pixel * to->channels;
    const int colours = to->channels - !(to->channels & 1);
    for (int k = 0; k < colours; k++) s[k] = (uint8_t)(c >> 8 * k);
    if (colours < to->channels) s[colours] = (uint8_t)(c >> 24);
}

void codec_pixels_store(const codec_pixel_image *from, uint32_t scale, taper_image *to) {
    size_t pixel = 0;
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++, pixel++) {
            uint32_t c = CODEC_UNKNOWN_COLOUR;
            if (from->plane.begun)
                c = scale == 1 ? codec_plane_row(&from->plane, y)[x]
                               : mean_colour(from, area_of(&from->of, scale, x, y));
            put_colour(c, to, pixel);
        }
}

/* --- alpha --------------------------------------------------------------------------------- */

/* Alpha at a pixel, as far as it is known. */
static uint32_t alpha_at(const codec_pixel_image *from, uint32_t x, uint32_t y) {
    const uint32_t depth = from->of.depth, most = ((uint32_t)1 << depth) - 1;
    const uint64_t pixel = (uint64_t)y * from->of.width + x;
    if (!from->plane.begun) return most;
    const uint32_t upper = codec_plane_row(&from->plane, y)[x];
    if (!from->shift) return upper;
    if (pixel < from->lows) return upper << from->shift | from->low[pixel];
    return upper * most / (((uint32_t)1 << (depth - from->shift)) - 1);
}

static uint32_t mean_alpha(const codec_pixel_image *from, area a) {
    uint64_t sum = 0;
    for (uint32_t y = a.y; y < a.bottom; y++)
        for (uint32_t x = a.x; x < a.right; x++) sum += alpha_at(from, x, y);
    const uint64_t n = (uint64_t)(a.right - a.x) * (a.bottom - a.y);
    return (uint32_t)((sum + n / 2) / n);
}

/* Move sample `from` to `to`. */
static void move_sample(const taper_image *image, size_t from, size_t to) {
    if (image->depth == 16)
        ((uint16_t *)image->pixels)[to] = ((uint16_t *)image->pixels)[from];
    else
        ((uint8_t *)image->pixels)[to] = ((uint8_t *)image->pixels)[from];
}

static void put_sample(const taper_image *image, size_t at, uint32_t sample) {
    if (image->depth == 16)
        ((uint16_t *)image->pixels)[at] = (uint16_t)sample;
    else
        ((uint8_t *)image->pixels)[at] = (uint8_t)sample;
}

void codec_pixels_add_alpha(const codec_pixel_image *from, uint32_t scale, taper_image *to) {
    const uint8_t colours = to->channels;
    size_t pixel = (size_t)to->width * to->height;
    to->channels++;
    for (uint32_t y = to->height; y-- > 0;) /* from the last on, as samples move up */
        for (uint32_t x = to->width; x-- > 0;) {
            pixel--;
            for (size_t k = colours; k-- > 0;)
                move_sample(to, pixel * colours + k, pixel * to->channels + k);
            put_sample(to, pixel * to->channels + colours,
                       scale == 1 ? alpha_at(from, x, y)
                                  : mean_alpha(from, area_of(&from->of, scale, x, y)));
        }
}
