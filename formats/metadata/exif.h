/* exif.h -- the orientation tag of EXIF.
 *
 * Safe on hostile input: every offset is checked, and only this tag is read. */
#ifndef FORMATS_EXIF_H
#define FORMATS_EXIF_H
#include <stddef.h>

/* Results besides 1 to 8: no orientation is given (or it is 0); the data is damaged. */
enum { FORMATS_NO_ORIENTATION = 0, FORMATS_BAD_ORIENTATION = 9 };

/* The orientation in n bytes of EXIF that begin with the TIFF header ("II*" or "MM"): 1 to 8, see
 * formats_image_orient, or one of the values above. */
unsigned formats_exif_orientation(const void *bytes, size_t n);

#endif
