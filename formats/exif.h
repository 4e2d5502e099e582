/* exif.h -- which way up a picture is, as EXIF says it.
 *
 * Safe on hostile input: every offset is checked against the bytes that are there, and nothing but
 * the one tag is read. */
#ifndef FORMATS_EXIF_H
#define FORMATS_EXIF_H
#include <stddef.h>

/* The orientation in n bytes of EXIF, from the TIFF header on ("II*" or "MM"): 1 to 8, see
 * formats_image_orient. 1, as stored, where none is said or the bytes are damaged. */
unsigned formats_exif_orientation(const void *bytes, size_t n);

#endif
