/* scaling.h -- an image of any size scaled to another, by the mean of what each new pixel covers:
 * SPEC 6.2. Whole numbers alone: the same everywhere. */
#ifndef CODEC_SCALING_H
#define CODEC_SCALING_H
#include "formats/status.h"

/* to: width x height of 8 bits, as many channels as `from`, which has 1 or 3; its pixels are the
 * caller's to free (formats_image_free). Samples of 16 bits are rounded to 8 first. Larger images
 * repeat pixels, with a mean where two meet. TAPER_ERR_NOMEM. */
taper_status codec_scale(const taper_image *from, uint32_t width, uint32_t height, taper_image *to);

#endif
