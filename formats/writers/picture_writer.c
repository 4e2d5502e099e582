/* picture_writer.c -- see picture_writer.h. */
#include "formats/writers/picture_writer.h"
#include "formats/image.h"
#include <string.h>

enum { WHITE = 0xFFFF };

typedef taper_status writer(const formats_write_options *options, const taper_image *image,
                            uint8_t **out, size_t *n, taper_error *error);

static const struct {
    writer *write;
    const char *name;
    uint32_t most_side;
    int has_alpha, has_16_bits;
} formats[] = {
    [FORMATS_WRITE_JPEG] = {formats_write_jpeg, "JPEG", 65500, 0, 0},
    [FORMATS_WRITE_WEBP] = {formats_write_webp, "WebP", 16383, 1, 0},
    [FORMATS_WRITE_TIFF] = {formats_write_tiff, "TIFF", UINT32_MAX, 1, 1},
};

static taper_status copy(const taper_image *image, taper_image *to, taper_error *error) {
    const taper_limits all = {
        .size = sizeof all, .max_pixels = UINT64_MAX, .max_memory = UINT64_MAX};
    TAPER_TRY(formats_image_make(to, image->width, image->height, image->channels, image->depth,
                                 &all, error));
    memcpy(to->pixels, image->pixels, formats_image_bytes(image));
    return TAPER_OK;
}

taper_status formats_write_picture(const formats_write_options *options, const taper_image *image,
                                   uint8_t **out, size_t *n, taper_error *error) {
    const uint32_t most = formats[options->format].most_side;
    const int drops_alpha = formats_image_has_alpha(image) && !formats[options->format].has_alpha,
              drops_bits = image->depth == 16 && !formats[options->format].has_16_bits;
    taper_image own = {.pixels = NULL};
    *out = NULL;
    *n = 0;
    if (image->width > most || image->height > most)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "%u x %u pixels are more than %s has, %u a side; write PNG",
                            image->width, image->height, formats[options->format].name, most);
    if (drops_alpha || drops_bits) {
        TAPER_TRY(copy(image, &own, error));
        if (drops_alpha) formats_image_flatten(&own, WHITE);
        if (drops_bits) formats_image_to_8bit(&own);
    }
    const taper_status status =
        formats[options->format].write(options, own.pixels ? &own : image, out, n, error);
    formats_image_free(&own);
    return status;
}
