/* writer.h -- one function for each format of image files to write, for picture_writer.c. */
#ifndef FORMATS_WRITER_H
#define FORMATS_WRITER_H
#include "formats/metadata/picture_metadata.h"
#include "formats/status.h"

typedef enum formats_written {
    FORMATS_WRITE_JPEG,
    FORMATS_WRITE_WEBP,
    FORMATS_WRITE_TIFF
} formats_written;

typedef struct formats_write_options {
    formats_written format;
    /* 1..100 for JPEG and WebP. Of JPEG from 90 on colours have full resolution, below half of it.
     * WebP of 100 is lossless. */
    int quality;
    /* Name of the program that writes, in the file, for own_mark.h: at most 60 bytes of ASCII;
     * NULL: none. */
    const char *program;
    /* NULL: none. The orientation in EXIF and XMP must be 1. */
    const formats_metadata *metadata;
} formats_write_options;

/* As formats_write_picture. The image has 8 bits, and for JPEG no alpha. */
taper_status formats_write_jpeg(const formats_write_options *options, const taper_image *image,
                                uint8_t **out, size_t *n, taper_error *error);
taper_status formats_write_webp(const formats_write_options *options, const taper_image *image,
                                uint8_t **out, size_t *n, taper_error *error);
taper_status formats_write_tiff(const formats_write_options *options, const taper_image *image,
                                uint8_t **out, size_t *n, taper_error *error);

#endif
