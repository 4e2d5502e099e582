/* jpeg.h -- JPEG input by libjpeg-turbo.
 *
 * libjpeg reports fatal errors only by leaving its error callback, that is by longjmp; jpeg.c
 * contains it. Safe on hostile input: geometry is checked before pixels are allocated, libjpeg's
 * own memory is held under the limit, and the number of scans of a progressive file is bounded.
 * Nothing is printed. Threads may call this at once. */
#ifndef FORMATS_JPEG_H
#define FORMATS_JPEG_H
#include "formats/status.h"

/* 1 when the first n bytes of a file are those of a JPEG (n >= 3), else 0. */
int formats_jpeg_detect(const void *bytes, size_t n);

/* Decode a baseline or progressive JPEG: grey files give 1 channel, YCbCr and RGB files 3; depth 8.
 * The accurate integer inverse DCT and smooth chroma upsampling are used. An orientation
 * (metadata.h) is applied: the picture comes upright. Colour profiles are not (metadata.h finds
 * them). The end-of-image marker may be missing, and what follows the last scan is ignored.
 * TAPER_ERR_UNSUPPORTED: CMYK, 12-bit and other kinds; TAPER_ERR_TRUNCATED: data are missing (a
 * half picture is never returned); TAPER_ERR_CORRUPT: damaged; TAPER_ERR_LIMIT: over a limit.
 * limits may be NULL. On failure out->pixels is NULL. */
taper_status formats_jpeg_decode(const void *bytes, size_t n, const taper_limits *limits,
                                 taper_image *out, taper_error *error);

#endif
