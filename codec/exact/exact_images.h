/* exact_images.h -- the exact images of a group, from its string and what decoders have without it.
 */
#ifndef CODEC_EXACT_IMAGES_H
#define CODEC_EXACT_IMAGES_H
#include "codec/exact/exact.h"
#include "formats/layout.h"

/* The known prefix of a group's string. */
typedef struct codec_exact_string {
    const uint8_t *bytes; /* [size] borrowed */
    size_t size;
    int whole; /* it is all of it */
} codec_exact_string;

/* Where lossy images come from. shape: the size, channels and depth of image i of the group, with
 * pixels NULL. render: write its lossy pixels to out->pixels; the other members are set. */
typedef struct codec_exact_source {
    void *user;
    size_t n;
    taper_image (*shape)(void *user, size_t i);
    taper_status (*render)(void *user, size_t i, taper_image *out, taper_error *error);
} codec_exact_source;

/* The images of a group, as far as its string went. Begins zeroed. */
typedef struct codec_exact_images {
    size_t n;
    taper_image *image; /* [n] */
    uint32_t *rows;     /* [n] how many rows are exact */
    size_t size;        /* of the string that was decoded */
    int whole;
    formats_block lists;
    uint64_t bytes; /* of pixels, charged */
    formats_account *account;
} codec_exact_images;

/* Decode the images unless the string is that of the last call. TAPER_ERR_LIMIT, _NOMEM, and what
 * render returns: *images is zeroed. account: borrowed; NULL: none. */
taper_status codec_exact_images_decode(codec_exact_images *images, const codec_exact_string *string,
                                       const codec_exact_source *from, formats_account *account,
                                       taper_error *error);
void codec_exact_images_free(codec_exact_images *images); /* leaves it zeroed */

/* The same of a group of one image, whose lossy pixels `image` has, in place. */
taper_status codec_exact_decode_alone(taper_image *image, const codec_exact_string *string,
                                      formats_account *account, uint32_t *rows, taper_error *error);

#endif
