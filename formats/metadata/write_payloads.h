/* write_payloads.h -- metadata as the chunks of a PNG and the segments of a JPEG. */
#ifndef FORMATS_WRITE_PAYLOADS_H
#define FORMATS_WRITE_PAYLOADS_H
#include "formats/bytes.h"
#include "formats/metadata/picture_metadata.h"

/* Append PNG chunks, complete with lengths and checksums: cICP, iCCP, gAMA, cHRM, pHYs, eXIf, and
 * XMP in iTXt. They go between IHDR and PLTE or IDAT. channels: 1 to 4; a profile for other colours
 * is left out. TAPER_ERR_NOMEM. */
taper_status formats_png_chunks(const formats_metadata *metadata, unsigned channels,
                                formats_buffer *out);

/* Append JPEG segments: JFIF with the density, EXIF, XMP, and the profile in parts. They go behind
 * the marker SOI, in place of JFIF of another writer. cICP, gamma and chromaticities have no place
 * in a JPEG. Returns FORMATS_LEFT_*: what is left out because it is too large for a segment, or a
 * profile for other colours. See out->status. */
unsigned formats_jpeg_segments(const formats_metadata *metadata, unsigned channels,
                               formats_buffer *out);

#endif
