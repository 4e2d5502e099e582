/* exif.h -- the orientation tag and the thumbnail of EXIF. The bytes begin with the TIFF header
 * ("II*" or "MM").
 *
 * Safe on hostile input: every offset is checked, and directories are followed at most three
 * deep, and at most 16 of them: time is linear in n. */
#ifndef FORMATS_EXIF_H
#define FORMATS_EXIF_H
#include <stddef.h>

/* Results besides 1 to 8: no orientation is given (or it is 0); the data is damaged. */
enum { FORMATS_NO_ORIENTATION = 0, FORMATS_BAD_ORIENTATION = 9 };

/* The orientation in n bytes of EXIF that begin with the TIFF header ("II*" or "MM"): 1 to 8, see
 * formats_image_orient, or one of the values above. */
unsigned formats_exif_orientation(const void *bytes, size_t n);

/* 1 if n bytes begin like EXIF. */
int formats_exif_detect(const void *bytes, size_t n);
/* Set the orientation to 1 and remove the thumbnail, in place. Returns the number of bytes that are
 * left, which begin at the same place. Other data stay where they are. */
size_t formats_exif_make_upright(void *bytes, size_t n);

#endif
