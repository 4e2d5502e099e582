/* picture_metadata.h -- metadata of a picture that a set keeps: what changes its look, what tells
 * about it, and the time of its file.
 *
 * Decoders fill it. Payloads are raw: without the wrapping of the file's format.
 *
 * Directory formats/metadata/: metadata of image files. Not part of the library.
 *
 *     picture_metadata  metadata in memory
 *     read_payloads     metadata of JPEG and PNG files
 *     settle            metadata of an image whose pixels are upright
 *     write_payloads    metadata for PNG and JPEG files
 *     public_metadata   the same as the library has them
 *     pieces            segments of a JPEG, chunks of a PNG
 *     metadata          orientation, colour profile and length of JPEG and PNG files
 *     exif, xmp         orientation in EXIF and XMP, read and neutralised
 *     tiff_exif         EXIF of a TIFF file
 *     icc               recognises the colour profile of sRGB
 *     png_text          text chunks of PNG */
#ifndef FORMATS_PICTURE_METADATA_H
#define FORMATS_PICTURE_METADATA_H
#include <stddef.h>
#include <stdint.h>

/* Bits of formats_metadata.left_out: a payload is damaged, above FORMATS_MOST_BLOB, or, of a
 * profile, for another kind of colours than the image has. */
enum { FORMATS_LEFT_ICC = 1, FORMATS_LEFT_EXIF = 2, FORMATS_LEFT_XMP = 4 };
enum { FORMATS_MOST_BLOB = 1 << 24 };

typedef struct formats_blob {
    uint8_t *bytes; /* malloc'd; NULL, 0: none */
    size_t size;
} formats_blob;

typedef struct formats_metadata {
    formats_blob icc;  /* colour profile */
    formats_blob exif; /* TIFF structure, without "Exif\0\0" */
    formats_blob xmp;  /* XMP packet */
    uint8_t has_cicp;
    uint8_t cicp[4];               /* primaries, transfer, matrix, full range: ITU-T H.273 */
    uint32_t gamma;                /* PNG gAMA: 1/100000; 0: none */
    uint32_t chromaticities[8];    /* PNG cHRM: x, y of white, red, green, blue; all 0: none */
    uint32_t density_x, density_y; /* pixels per unit; x 0: none */
    uint8_t density_unit;          /* 0: only the ratio counts; 1: metre */
    uint8_t has_modified;
    int64_t modified_ns; /* time of the file: nanoseconds since 1970, UTC */
    uint8_t left_out;    /* FORMATS_LEFT_*: payloads that the file has, and this struct has not */
    /* Estimated mean squared error (8-bit levels, mean over RGB) that a lossy source has already.
     * 0: none, or not known. */
    double quantisation_mse;
} formats_metadata;

/* Set a payload to a copy of n bytes, or to none for n == 0. Returns 1; 0 without memory. */
int formats_blob_set(formats_blob *blob, const void *bytes, size_t n);
void formats_blob_free(formats_blob *blob);

/* Free the payloads and zero the struct. NULL is fine. */
void formats_metadata_free(formats_metadata *metadata);

#endif
