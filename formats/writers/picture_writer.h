/* picture_writer.h -- image files to write: JPEG by libjpeg-turbo, WebP and TIFF by libraries that
 * are loaded when the first such file is written. PNG and PNM are in formats/images/.
 *
 * Directory formats/writers/: image files to write. Not part of the library.
 *
 *     picture_writer            one function for all of them
 *     writer                    what the writers have in common
 *     jpeg_writer webp_writer
 *     tiff_writer               one format each */
#ifndef FORMATS_PICTURE_WRITER_H
#define FORMATS_PICTURE_WRITER_H
#include "formats/writers/writer.h"

/* Encode an image as a file. *out is malloc'd and the caller's to free; NULL on failure.
 *
 * JPEG and WebP have 8 bits a sample; samples of 16 bits are rounded. JPEG has no alpha: the image
 * is blended onto white. WebP has no grey: it becomes RGB. TIFF keeps all samples, exactly.
 * TAPER_ERR_UNSUPPORTED: the library is missing, and the text names its package; or the image is
 * larger than the format allows: 65,500 pixels a side in JPEG, 16,383 in WebP. */
taper_status formats_write_picture(const formats_write_options *options, const taper_image *image,
                                   uint8_t **out, size_t *n, taper_error *error);

#endif
