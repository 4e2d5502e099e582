/* image.h -- creates, checks and converts taper_image, with every size checked.
 *
 * An image owns its pixels (malloc); formats_image_free frees them. Conversions work in place. */
#ifndef FORMATS_IMAGE_H
#define FORMATS_IMAGE_H
#include "formats/status.h"

/* Check a geometry from an untrusted header before allocating. *bytes: its size; may be NULL.
 * limits may be NULL (defaults).
 * TAPER_ERR_CORRUPT unless channels are 1..4, depth is 8 or 16, width and height are at least 1.
 * TAPER_ERR_LIMIT: above limits->max_pixels or limits->max_memory; the text names the option. */
taper_status formats_image_check(uint32_t width, uint32_t height, unsigned channels, unsigned depth,
                                 const taper_limits *limits, size_t *bytes, taper_error *error);

/* formats_image_check, then allocate. Pixels are undefined; NULL on failure. */
taper_status formats_image_make(taper_image *out, uint32_t width, uint32_t height,
                                unsigned channels, unsigned depth, const taper_limits *limits,
                                taper_error *error);
void formats_image_free(taper_image *image);            /* also zeroes it; NULL is fine */
size_t formats_image_bytes(const taper_image *image);   /* of pixels; image must be a legal one */
size_t formats_image_samples(const taper_image *image); /* width * height * channels */

/* 1 if an image from a caller has pixels, and a legal size, number of channels and depth. */
static inline int formats_image_is_legal(const taper_image *image) {
    return image->pixels && image->width && image->height && image->channels >= 1 &&
           image->channels <= 4 && (image->depth == 8 || image->depth == 16);
}

/* 1 when the image has alpha (2 or 4 channels). */
int formats_image_has_alpha(const taper_image *image);
/* Remove an alpha channel that is opaque everywhere: 2 -> 1 or 4 -> 3 channels. Other images are
 * unchanged. */
void formats_image_drop_opaque_alpha(taper_image *image);
/* Blend an image with alpha onto a uniform grey background (0..65535, 65535 is white) and remove
 * the alpha channel. Rounds to nearest; samples are blended as stored, not linearised. */
void formats_image_flatten(taper_image *image, uint16_t background);

/* How an alpha channel is handled; in the order of the choices of the option --alpha. */
typedef enum formats_alpha {
    FORMATS_ALPHA_REFUSE, /* unchanged; a later function refuses it */
    FORMATS_ALPHA_DROP,
    FORMATS_ALPHA_WHITE, /* blended onto white */
    FORMATS_ALPHA_KEEP   /* unchanged */
} formats_alpha;
void formats_image_apply_alpha(taper_image *image, formats_alpha how);

/* Apply an EXIF orientation:
 *     1   none               5   transpose
 *     2   mirror left-right  6   rotate 90 degrees clockwise
 *     3   rotate 180 degrees 7   transpose, then rotate 180 degrees
 *     4   mirror top-bottom  8   rotate 90 degrees counterclockwise
 * Any other number counts as 1. With 5 to 8, width and height are exchanged. Needs memory for two
 * images: TAPER_ERR_LIMIT if they exceed limits->max_memory. On failure the image is unchanged. */
taper_status formats_image_orient(taper_image *image, unsigned orientation,
                                  const taper_limits *limits, taper_error *error);

/* Convert 16 to 8 bits, rounded to nearest: (v + 128) / 257. 8-bit images are unchanged. */
void formats_image_to_8bit(taper_image *image);

#endif
