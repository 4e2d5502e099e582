/* xmp.h -- which way up a picture is, as XMP says it.
 *
 * Safe on hostile input: time is linear in n. */
#ifndef FORMATS_XMP_H
#define FORMATS_XMP_H
#include <stddef.h>

/* The value of tiff:Orientation, an attribute or an element, in n bytes of an XMP packet: as
 * formats_exif_orientation. The first one counts. */
unsigned formats_xmp_orientation(const void *bytes, size_t n);

#endif
