/* xmp.h -- the orientation in XMP.
 *
 * Safe on hostile input: time is linear in n. */
#ifndef FORMATS_XMP_H
#define FORMATS_XMP_H
#include <stddef.h>

/* The value of the first tiff:Orientation, attribute or element, in n bytes of an XMP packet.
 * Results as formats_exif_orientation. */
unsigned formats_xmp_orientation(const void *bytes, size_t n);

/* Set every orientation in it to 1, in place. */
void formats_xmp_make_upright(void *bytes, size_t n);

#endif
