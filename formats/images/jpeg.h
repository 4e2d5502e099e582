/* jpeg.h -- JPEG input by libjpeg-turbo.
 *
 * libjpeg reports fatal errors by longjmp, which does not leave jpeg.c. Safe on hostile input: the
 * geometry is checked before pixels are allocated, the memory of libjpeg is limited, and the number
 * of scans of a progressive file is bounded. Threads may call this at once. */
#ifndef FORMATS_JPEG_H
#define FORMATS_JPEG_H
#include "formats/metadata/picture_metadata.h"
#include "formats/status.h"

/* 1 when a file that begins with these n bytes is a JPEG (n >= 3), else 0. */
int formats_jpeg_detect(const void *bytes, size_t n);

/* Decode a baseline or progressive JPEG. Grey files give 1 channel, all others 3; depth 8.
 * Uses the accurate integer inverse DCT and smooth chroma upsampling. The orientation (metadata.h)
 * is applied; a colour profile is not, except in CMYK and YCCK, which become sRGB by their profile
 * (srgb.h). The end-of-image marker may be missing. Bytes after the last
 * scan are ignored. limits may be NULL.
 * metadata: the caller frees it with formats_metadata_free; zeroed on failure. NULL: not wanted.
 * TAPER_ERR_UNSUPPORTED: 12-bit and other kinds; CMYK with a profile, but no lcms2.
 * TAPER_ERR_TRUNCATED: data is missing; an incomplete picture is never returned.
 * TAPER_ERR_CORRUPT: damaged. TAPER_ERR_LIMIT: above a limit. On failure out->pixels is NULL. */
taper_status formats_jpeg_decode(const void *bytes, size_t n, const taper_limits *limits,
                                 taper_image *out, formats_metadata *metadata, taper_error *error);

#endif
