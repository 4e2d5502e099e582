/* image.c -- allocation and conversions of images; see image.h. */
#include "formats/image.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

taper_status formats_image_check(uint32_t width, uint32_t height, unsigned channels, unsigned depth,
                                 const taper_limits *limits, size_t *bytes, taper_error *error) {
    taper_limits l = formats_limits_or_default(limits);
    if (!width || !height || channels < 1 || channels > 4 || (depth != 8 && depth != 16))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the header asks for %u x %u pixels of %u channels and %u bits, which "
                            "is no image",
                            width, height, channels, depth);
    uint64_t pixels = (uint64_t)width * height, size;
    if (pixels > l.max_pixels)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_PIXELS, pixels,
                                 "the header asks for %u x %u pixels, more than the limit of %llu",
                                 width, height, (unsigned long long)l.max_pixels);
    taper_status fits = formats_mul_u64(pixels, (uint64_t)channels * (depth / 8), &size);
    if (fits != TAPER_OK || size > SIZE_MAX / 2)
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "the header asks for %u x %u pixels, more than memory can hold; make "
                            "the image smaller",
                            width, height);
    if (size > l.max_memory)
        return formats_fail_fact(
            error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_memory_needed(&l, size),
            "the header asks for %llu bytes of pixels, more than the limit of %llu",
            (unsigned long long)size, (unsigned long long)l.max_memory);
    if (bytes) *bytes = (size_t)size;
    return TAPER_OK;
}

taper_status formats_image_make(taper_image *out, uint32_t width, uint32_t height,
                                unsigned channels, unsigned depth, const taper_limits *limits,
                                taper_error *error) {
    *out = (taper_image){0};
    size_t bytes = 0;
    TAPER_TRY(formats_image_check(width, height, channels, depth, limits, &bytes, error));
    void *pixels = malloc(bytes);
    if (!pixels)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u x %u pixels", width, height);
    *out = (taper_image){width, height, (uint8_t)channels, (uint8_t)depth, pixels};
    return TAPER_OK;
}

void formats_image_free(taper_image *image) {
    if (!image) return;
    free(image->pixels);
    *image = (taper_image){0};
}

size_t formats_image_samples(const taper_image *image) {
    return (size_t)image->width * image->height * image->channels;
}

size_t formats_image_bytes(const taper_image *image) {
    return formats_image_samples(image) * (image->depth / 8);
}

int formats_image_has_alpha(const taper_image *image) {
    return image->channels == 2 || image->channels == 4;
}

static unsigned get_sample(const taper_image *image, size_t i) {
    return image->depth == 8 ? ((const uint8_t *)image->pixels)[i]
                             : ((const uint16_t *)image->pixels)[i];
}

static void set_sample(taper_image *image, size_t i, unsigned value) {
    if (image->depth == 8)
        ((uint8_t *)image->pixels)[i] = (uint8_t)value;
    else
        ((uint16_t *)image->pixels)[i] = (uint16_t)value;
}

/* Shrink the pixels after a conversion. If realloc fails, the larger block is kept. */
static void shrink(taper_image *image) {
    void *pixels = realloc(image->pixels, formats_image_bytes(image));
    if (pixels) image->pixels = pixels;
}

/* Keep the first channels - 1 of each pixel. Data moves to lower addresses, so in place is safe. */
static void remove_last_channel(taper_image *image) {
    size_t pixels = (size_t)image->width * image->height, channels = image->channels, to = 0;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c + 1 < channels; c++)
            set_sample(image, to++, get_sample(image, i * channels + c));
    image->channels--;
    shrink(image);
}

void formats_image_drop_opaque_alpha(taper_image *image) {
    if (!formats_image_has_alpha(image)) return;
    unsigned opaque = image->depth == 8 ? 255 : 65535;
    size_t samples = formats_image_samples(image);
    for (size_t i = image->channels - 1u; i < samples; i += image->channels)
        if (get_sample(image, i) != opaque) return;
    remove_last_channel(image);
}

/* Remove an alpha channel without blending: the colours of transparent pixels become visible. */
static void drop_alpha(taper_image *image) {
    if (formats_image_has_alpha(image)) remove_last_channel(image);
}

void formats_image_flatten(taper_image *image, uint16_t background) {
    if (!formats_image_has_alpha(image)) return;
    uint64_t one = image->depth == 8 ? 255 : 65535;
    uint64_t behind = image->depth == 8 ? (background + 128u) / 257 : background;
    size_t pixels = (size_t)image->width * image->height, channels = image->channels;
    for (size_t i = 0; i < pixels; i++) {
        uint64_t alpha = get_sample(image, i * channels + channels - 1);
        for (size_t c = 0; c + 1 < channels; c++) {
            uint64_t front = get_sample(image, i * channels + c);
            uint64_t mixed = (front * alpha + behind * (one - alpha) + one / 2) / one;
            set_sample(image, i * channels + c, (unsigned)mixed);
        }
    }
    remove_last_channel(image);
}

void formats_image_apply_alpha(taper_image *image, formats_alpha how) {
    if (how == FORMATS_ALPHA_DROP) drop_alpha(image);
    if (how == FORMATS_ALPHA_WHITE) formats_image_flatten(image, 65535);
}

/* Offset of the first pixel of the oriented picture in the stored one, and the steps to the next
 * pixel and row. */
typedef struct reading_order {
    ptrdiff_t start, right, down; /* in pixels */
} reading_order;

static reading_order order_of(unsigned orientation, ptrdiff_t width, ptrdiff_t height) {
    ptrdiff_t last = width * height - 1, last_row = width * (height - 1);
    switch (orientation) {
    case 2: return (reading_order){width - 1, -1, width};
    case 3: return (reading_order){last, -1, -width};
    case 4: return (reading_order){last_row, 1, -width};
    case 5: return (reading_order){0, width, 1};
    case 6: return (reading_order){last_row, -width, 1};
    case 7: return (reading_order){last, -width, -1};
    default: return (reading_order){width - 1, width, -1};
    }
}

taper_status formats_image_orient(taper_image *image, unsigned orientation,
                                  const taper_limits *limits, taper_error *error) {
    if (orientation < 2 || orientation > 8) return TAPER_OK;
    size_t bytes = formats_image_bytes(image), size = (size_t)image->channels * (image->depth / 8u);
    taper_limits l = formats_limits_or_default(limits);
    if (bytes > l.max_memory / 2)
        return formats_fail_fact(
            error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
            formats_memory_needed(&l, 2 * (uint64_t)bytes),
            "turning the picture upright takes %llu bytes, more than the limit of %llu",
            2 * (unsigned long long)bytes, (unsigned long long)l.max_memory);
    uint8_t *to = malloc(bytes);
    if (!to) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to turn the picture upright");
    int turned = orientation >= 5;
    uint32_t width = turned ? image->height : image->width;
    uint32_t height = turned ? image->width : image->height;
    reading_order order = order_of(orientation, image->width, image->height);
    const uint8_t *stored = image->pixels;
    uint8_t *at = to;
    for (uint32_t y = 0; y < height; y++) {
        ptrdiff_t from = order.start + (ptrdiff_t)y * order.down;
        for (uint32_t x = 0; x < width; x++, from += order.right, at += size)
            memcpy(at, stored + (size_t)from * size, size);
    }
    free(image->pixels);
    image->pixels = to;
    image->width = width;
    image->height = height;
    return TAPER_OK;
}

void formats_image_to_8bit(taper_image *image) {
    if (image->depth == 8) return;
    size_t samples = formats_image_samples(image);
    const uint16_t *from = image->pixels;
    uint8_t *to = image->pixels; /* byte i is written after sample i was read, which overlaps it */
    for (size_t i = 0; i < samples; i++) to[i] = (uint8_t)((from[i] + 128u) / 257);
    image->depth = 8;
    shrink(image);
}
