/* idx.h -- IDX files (the format of MNIST): images of unsigned bytes, and labels; plain or gzip.
 *
 * An IDX file is 0, 0, the element type (8: unsigned byte; 9, 11, 12: signed integers of 1, 2, 4
 * bytes), the number of dimensions, each dimension as a big-endian 32-bit number, then the
 * elements, big-endian, last dimension fastest.
 *
 *     1 dimension    labels of any of these types, with values 0 to 255
 *     2 dimensions   labels: one column, or the 8 of QMNIST (type 12), whose first is the class
 *     3 dimensions   grey images: count, height, width
 *     4 dimensions   interleaved images (count, height, width, channels) when the last is 1 to 4;
 *                    else planar images (count, channels, height, width) when the second is 1 or 3
 *
 * Safe on hostile input: a header is checked against the limits and the length of the file before
 * memory is allocated; for gzip, against the size to which the bytes can expand. A plain file must
 * have exactly the length that its header gives. limits may be NULL. Threads may call these
 * functions at once. */
#ifndef FORMATS_IDX_H
#define FORMATS_IDX_H
#include "formats/status.h"

/* Number of dimensions (1..) when the first n bytes belong to an IDX file, else 0. */
int formats_idx_detect(const void *bytes, size_t n);

typedef struct formats_idx {
    uint32_t count, width, height;
    uint8_t channels; /* 1..4 */
    uint8_t planar;   /* 1: channel planes one after another; 0: interleaved */
    uint32_t header_bytes;
    size_t image_bytes; /* of one image */
} formats_idx;

/* Read the header of a file of images and check its length. Not for gzip: see formats_idx_unpack.
 * TAPER_ERR_UNSUPPORTED: labels, or elements other than bytes; TAPER_ERR_TRUNCATED,
 * TAPER_ERR_CORRUPT: the length is wrong; TAPER_ERR_LIMIT: too many images or pixels. */
taper_status formats_idx_open(const taper_source *source, const taper_limits *limits,
                              formats_idx *out, taper_error *error);

/* Read image i, 0..count-1. *out is the caller's to free; pixels is NULL on failure. */
taper_status formats_idx_read(const taper_source *source, const formats_idx *idx, uint32_t i,
                              taper_image *out, taper_error *error);

/* Expand a gzip file of IDX images or labels. It must hold exactly the bytes that the IDX header
 * gives, at most limits->max_memory. *out is the caller's to free; NULL on failure. */
taper_status formats_idx_unpack(const void *bytes, size_t n, const taper_limits *limits,
                                uint8_t **out, size_t *out_size, taper_error *error);

/* Decode a label file, plain or gzip. *labels is the caller's to free; NULL on failure.
 * TAPER_ERR_CORRUPT also for fractions, values outside 0..255, and unknown columns. */
taper_status formats_idx_labels_decode(const void *bytes, size_t n, const taper_limits *limits,
                                       uint8_t **labels, size_t *count, taper_error *error);

/* Encode images: 3 dimensions for grey, else 4, interleaved. gzip: 1 to compress. TAPER_ERR_ARG:
 * the images differ in geometry or are not of 8 bits. *out is the caller's to free; NULL on
 * failure. */
taper_status formats_idx_encode_images(const taper_image *images, size_t count, int gzip,
                                       uint8_t **out, size_t *n, taper_error *error);
taper_status formats_idx_encode_labels(const uint8_t *labels, size_t count, int gzip, uint8_t **out,
                                       size_t *n, taper_error *error);

#endif
