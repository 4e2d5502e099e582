/* png.h -- PNG in memory to and from taper_image, by libpng.
 *
 * Safe on hostile input: before pixels are allocated, sizes are checked against the limits and
 * against the most that n bytes can expand to (deflate: 1032-fold). libpng reports errors by
 * longjmp, which does not leave png.c. Threads may call these functions at once.
 *
 * Directory formats/images/: image files of other programs, whose metadata is read in
 * formats/metadata/. Not part of the library.
 *
 *     png, pnm, jpeg   read images from memory; png and pnm also write them
 *     jpeg_noise       the error that a JPEG already has
 *     gzip             compresses and expands in memory
 *     idx, cifar       files of many images
 *     row_writer       writes PNG and PNM row by row
 *     own_mark         the mark by which taper recognises a picture that it wrote
 *     npy              arrays for numpy
 *     foreign          names formats that taper does not read */
#ifndef FORMATS_PNG_H
#define FORMATS_PNG_H
#include "formats/metadata/picture_metadata.h"
#include "formats/status.h"

/* 1 when a file that begins with these n bytes is a PNG (n >= 8), else 0. */
int formats_png_detect(const void *bytes, size_t n);

/* Decode a PNG of any colour type and depth, with palette, transparency and interlacing. 16-bit
 * files give depth 16, all others 8. Grey of 1, 2 and 4 bits is scaled to 0..255; palettes become
 * RGB. Transparency becomes an alpha channel, which is removed if it is opaque everywhere. The
 * orientation (metadata.h) is applied; gamma and colour profiles are not: they are in *metadata.
 * Bytes after the image data are ignored, and IEND may be missing. limits may be NULL.
 * metadata: the caller frees it with formats_metadata_free; zeroed on failure. NULL: not wanted.
 * TAPER_ERR_LIMIT: too many pixels. TAPER_ERR_TRUNCATED: the file ends early. TAPER_ERR_CORRUPT:
 * damaged; the text has libpng's reason. On failure out->pixels is NULL. */
taper_status formats_png_decode(const void *bytes, size_t n, const taper_limits *limits,
                                taper_image *out, formats_metadata *metadata, taper_error *error);

/* Encode at a fast deflate level. Decoding gives the same samples, channels and depth, except that
 * it removes an opaque alpha channel. *out is malloc'd and the caller's to free; NULL on failure.
 */
taper_status formats_png_encode(const taper_image *image, uint8_t **out, size_t *n,
                                taper_error *error);
/* The same, with the name of the program in a chunk tEXt ("Software") within the first 100 bytes.
 * program: at most 40 bytes of ASCII. */
taper_status formats_png_encode_by(const taper_image *image, const char *program, uint8_t **out,
                                   size_t *n, taper_error *error);

/* The same, with metadata (write_payloads.h) behind that chunk. program, metadata: NULL: none. */
taper_status formats_png_encode_with(const taper_image *image, const char *program,
                                     const formats_metadata *metadata, uint8_t **out, size_t *n,
                                     taper_error *error);

#endif
