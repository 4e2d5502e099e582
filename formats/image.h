/* image.h -- making, comparing and converting taper_image, with every size checked.
 *
 * Images own their pixels (malloc); formats_image_free releases them. Conversions work in place, so
 * that a caller keeps one image whatever its kind. Nothing here depends on a file format. */
#ifndef FORMATS_IMAGE_H
#define FORMATS_IMAGE_H
#include "formats/status.h"

/* Check a geometry from an untrusted header before memory is taken; its size in *bytes (may be
 * NULL). TAPER_ERR_CORRUPT: not channels 1..4, depth 8 or 16, width and height at least 1.
 * TAPER_ERR_LIMIT: more pixels than limits->max_pixels or more bytes than limits->max_memory; the
 * text has the option to raise. limits may be NULL (defaults). */
taper_status formats_image_check(uint32_t width, uint32_t height, unsigned channels, unsigned depth,
                                 const taper_limits *limits, size_t *bytes, taper_error *error);

/* formats_image_check, then *out with pixels of undefined content; NULL on failure. */
taper_status formats_image_make(taper_image *out, uint32_t width, uint32_t height,
                                unsigned channels, unsigned depth, const taper_limits *limits,
                                taper_error *error);
void formats_image_free(taper_image *image);            /* also zeroes it; NULL is fine */
size_t formats_image_bytes(const taper_image *image);   /* of pixels; image must be a legal one */
size_t formats_image_samples(const taper_image *image); /* width * height * channels */

/* Has it pixels, and is it of a size and kind that there are? For images of a caller. */
static inline int formats_image_is_legal(const taper_image *image) {
    return image->pixels && image->width && image->height && image->channels >= 1 &&
           image->channels <= 4 && (image->depth == 8 || image->depth == 16);
}

/* 1 when the image has alpha (2 or 4 channels). */
int formats_image_has_alpha(const taper_image *image);
/* Remove an alpha channel that is fully opaque everywhere: 2 -> 1 or 4 -> 3 channels, losing
 * nothing. Any other image stays as it is. */
void formats_image_drop_opaque_alpha(taper_image *image);
/* Blend an alpha channel onto a uniform grey background (0..65535, 65535 is white) and remove it.
 * Rounded to nearest; samples are blended as stored, without linearising. */
void formats_image_flatten(taper_image *image, uint16_t background);

/* What becomes of an alpha channel; in the order of the choices of the option --alpha. */
typedef enum formats_alpha {
    FORMATS_ALPHA_REFUSE, /* it stays, for others to refuse */
    FORMATS_ALPHA_DROP,
    FORMATS_ALPHA_WHITE /* the image is laid on white */
} formats_alpha;
void formats_image_apply_alpha(taper_image *image, formats_alpha how);

/* Turn the picture upright, by EXIF's orientation: 1 as stored, 2 mirrored left to right, 3 half a
 * turn, 4 mirrored top to bottom, 5 rows become columns, 6 a quarter turn to the right, 7 rows
 * become columns and then half a turn, 8 a quarter turn to the left; any other number is 1. From 5
 * on width and height change places. For a moment there are two images, which limits->max_memory
 * must hold (TAPER_ERR_LIMIT); on failure the image stays as it was. */
taper_status formats_image_orient(taper_image *image, unsigned orientation,
                                  const taper_limits *limits, taper_error *error);

/* 16 -> 8 bits, rounded to nearest: (v + 128) / 257. 8-bit images stay as they are. */
void formats_image_to_8bit(taper_image *image);

#endif
