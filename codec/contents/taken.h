/* taken.h -- further names that take the places of removed images. */
#ifndef CODEC_TAKEN_H
#define CODEC_TAKEN_H
#include "formats/front.h"

/* Of a removed image that has further names which stay, the first takes its place: the image stays,
 * with that name and label. keep: [images, then further names] 1: it stays; changed. taken_by:
 * [images] NULL; set to the name that takes the image's place. Borrowed from *front. Memory is
 * charged to the account of *result. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status codec_take_places(formats_front *front, uint8_t *keep, const formats_also **taken_by,
                               formats_front *result, taper_error *error);

#endif
