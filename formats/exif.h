/* exif.h -- which way up a picture is, as EXIF says it.
 *
 * Safe on hostile input: every offset is checked against the bytes that are there, and nothing but
 * the one tag is read. */
#ifndef FORMATS_EXIF_H
#define FORMATS_EXIF_H
#include <stddef.h>

/* Beside 1 to 8: nothing is said (also by the value 0); what is said is damaged. */
enum { FORMATS_NO_ORIENTATION = 0, FORMATS_BAD_ORIENTATION = 9 };

/* The orientation in n bytes of EXIF, from the TIFF header on ("II*" or "MM"): 1 to 8, see
 * formats_image_orient, or one of the two above. */
unsigned formats_exif_orientation(const void *bytes, size_t n);

#endif
