/* png.h -- PNG in memory to and from taper_image, by libpng.
 *
 * Safe on hostile input: sizes are checked against the limits and against what a file of n bytes
 * can hold at all (deflate expands at most 1032-fold) before memory for pixels is taken. libpng
 * leaves a failed call by longjmp only; png.c contains that. Its warnings are not printed. Threads
 * may call these at once. */
#ifndef FORMATS_PNG_H
#define FORMATS_PNG_H
#include "formats/status.h"

/* 1 when the first n bytes of a file are those of a PNG (n >= 8), else 0. */
int formats_png_detect(const void *bytes, size_t n);

/* Decode a whole PNG: every colour type and depth, palettes, transparency chunks, interlacing.
 * 16-bit files give depth 16, all others 8; grey of 1, 2 and 4 bits is scaled to 0..255; palettes
 * become RGB. Transparency becomes an alpha channel, which is dropped when it is opaque everywhere.
 * An orientation (metadata.h) is applied: the picture comes upright. Gamma, colour profiles
 * (metadata.h finds them) and other ancillary chunks are not. What follows the image data is
 * ignored, and IEND may be missing. limits may be NULL. TAPER_ERR_LIMIT: too many pixels;
 * TAPER_ERR_TRUNCATED: the file ends early; TAPER_ERR_CORRUPT: damaged, libpng's reason is in the
 * text. On failure out->pixels is NULL. */
taper_status formats_png_decode(const void *bytes, size_t n, const taper_limits *limits,
                                taper_image *out, taper_error *error);

/* Encode at a fast deflate level; lossless: decoding gives the same samples, channels and depth (an
 * opaque alpha channel aside). *out is malloc'd and the caller's to free; NULL on failure. */
taper_status formats_png_encode(const taper_image *image, uint8_t **out, size_t *n,
                                taper_error *error);
/* The same, with a chunk tEXt, Software, that names the program, within the first 100 bytes;
 * program: at most 40 bytes of ASCII. */
taper_status formats_png_encode_by(const taper_image *image, const char *program, uint8_t **out,
                                   size_t *n, taper_error *error);

#endif
