/* srgb.h -- CMYK to sRGB, by lcms2. */
#ifndef FORMATS_SRGB_H
#define FORMATS_SRGB_H
#include "formats/late/late_library.h"

/* Convert an image of 4 channels that are cyan, magenta, yellow and black to 3 channels of sRGB, in
 * place. is_inverted: 0 is full ink, as in JPEG; else 0 is none. profile: the ICC profile, [size]
 * bytes; converted with perceptual intent. Without one, and with one that is damaged or not for
 * CMYK, R = (1 - C)(1 - K) and so on, as browsers do. TAPER_ERR_UNSUPPORTED: there is a profile,
 * but no lcms2; the text names the package. TAPER_ERR_NOMEM. Threads may call this at once. */
taper_status formats_cmyk_to_srgb(taper_image *image, int is_inverted, const void *profile,
                                  size_t size, taper_error *error);

#endif
