/* pixel_store.h -- decoded pixels of a pixel layer to images, in whole or scaled. */
#ifndef CODEC_PIXEL_STORE_H
#define CODEC_PIXEL_STORE_H
#include "codec/pixels/pixel_group.h"

/* Write an indexed image. to: of the image's channels, alpha included, 8 bits, and its size at
 * 1 / scale, rounded up. A pixel at 1 / scale is the mean of the pixels it covers, weighted by
 * their alpha. What is not known has the background, or is grey while there is none. */
void codec_pixels_store(const codec_pixel_image *from, uint32_t scale, taper_image *to);

/* Insert alpha into an image that has its colours alone, at the beginning of memory for all
 * channels. to->channels is 1 or 3 and becomes 2 or 4. Opaque where alpha is not known; where only
 * its upper bits are, they are scaled. At 1 / scale it is the mean of what a pixel covers. */
void codec_pixels_add_alpha(const codec_pixel_image *from, uint32_t scale, taper_image *to);

#endif
