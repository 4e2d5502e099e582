/* samples.h -- conversions of decoded samples, and what readers share. In place where an image is
 * given. */
#ifndef FORMATS_SAMPLES_H
#define FORMATS_SAMPLES_H
#include "formats/metadata/picture_metadata.h"
#include "formats/status.h"

/* 3 to 1 and 4 to 2 channels: red is kept, for images whose colours are all grey. */
void formats_samples_keep_grey(taper_image *image);
/* Divide colours by alpha, rounded to nearest. Where alpha is 0 they become 0. */
void formats_samples_unpremultiply(taper_image *image);
/* Scale samples of `bits` bits, 9..16, in an image of depth 16 to 0..65535, rounded to nearest. */
void formats_samples_widen(taper_image *image, unsigned bits);

/* TAPER_ERR_LIMIT: decoding width x height pixels takes `each` bytes a pixel, and that is more than
 * limits->max_memory. Call it before the library decodes. */
taper_status formats_samples_check_room(uint32_t width, uint32_t height, unsigned each,
                                        const taper_limits *limits, taper_error *error);

/* Copy a payload of metadata of a kind (FORMATS_LEFT_*), unless there is one already. EXIF may
 * begin with "Exif\0\0". NULL or n == 0: none. More than FORMATS_MOST_BLOB, or no EXIF: noted in
 * m->left_out. TAPER_ERR_NOMEM. */
taper_status formats_samples_take(formats_metadata *m, unsigned kind, const void *bytes, size_t n,
                                  taper_error *error);

#endif
