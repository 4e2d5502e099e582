/* drawing.h -- which images are drawings: few colours, or large areas of one colour. An encoder
 * codes these as indexed images where that is smaller. */
#ifndef CODEC_DRAWING_H
#define CODEC_DRAWING_H
#include "formats/taper_types.h"

/* Nonzero if the image is a drawing. most_bytes: of its chunk, above which it is none. Photographs
 * are told by a part of their rows. Images of more than 2^24 pixels are none. If memory is short,
 * it is none. */
int codec_is_drawing(const taper_image *image, uint64_t most_bytes);

/* The most bytes that keeping an image exactly is worth: about three times what codes of a quality
 * that is as good to see take, by an estimate from some rows. UINT64_MAX: that is not estimated. */
uint64_t codec_drawing_worth(const taper_image *image);

#endif
