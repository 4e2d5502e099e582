/* icc.h -- recognises colour profiles that mean sRGB.
 *
 * A profile is judged by its three primaries and by its curve at one half, not by its name. Safe on
 * hostile input. */
#ifndef FORMATS_ICC_H
#define FORMATS_ICC_H
#include <stddef.h>

/* 1 when the ICC profile means sRGB or a similar gamma; a grey profile, when it has that gamma.
 * Most software assumes sRGB for pixels without a profile. 0 for others, and if it is damaged. */
int formats_icc_is_srgb(const void *bytes, size_t n);

#endif
