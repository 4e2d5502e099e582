/* tiff_exif.h -- the EXIF of a TIFF file, taken out of its directories.
 *
 * Safe on hostile input: every offset is checked, and at most four directories are read. */
#ifndef FORMATS_TIFF_EXIF_H
#define FORMATS_TIFF_EXIF_H
#include "formats/bytes.h"

/* The entries that tell about a picture (maker, dates, rights, the EXIF and GPS directories) of the
 * directory at an offset of a TIFF or BigTIFF of n bytes, as a TIFF structure of its own in the
 * same byte order. Entries of the pixels are left out, the orientation too. Appended to the empty
 * *out; nothing, if there are none. Damaged entries are left out. See out->status:
 * TAPER_ERR_LIMIT: longer than its ceiling. */
void formats_tiff_exif(const void *bytes, size_t n, uint64_t directory, formats_buffer *out);

#endif
