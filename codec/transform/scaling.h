/* scaling.h -- scaling an image to any size: each new pixel is the mean of the area that it covers
 * (SPEC.md, 6.2). Integers only: the result is the same on every machine. */
#ifndef CODEC_SCALING_H
#define CODEC_SCALING_H
#include "formats/status.h"

/* Scale `from`, of 1 or 3 channels, to width x height with 8 bits and the same channels. The caller
 * frees the new pixels with formats_image_free. Samples of 16 bits are first rounded to 8. If the
 * new image is larger, pixels repeat, with a mean where two meet. TAPER_ERR_NOMEM. */
taper_status codec_scale(const taper_image *from, uint32_t width, uint32_t height, taper_image *to);

#endif
