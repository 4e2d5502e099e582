/* cifar.h -- the CIFAR binary format: records of label bytes and a planar 32 x 32 RGB image.
 *
 *   CIFAR-10    1 label byte 0..9,                            3072 bytes of R, G, B planes: 3073
 *   CIFAR-100   1 coarse label 0..19, 1 fine label 0..99,     3072 bytes:                   3074
 * There is no magic number. A source counts as CIFAR when its size is a positive multiple of a
 * record and every label byte is legal; CIFAR-10 is tried first. Callers should also require the
 * extension .bin. Safe on hostile input; threads may call these functions at once. */
#ifndef FORMATS_CIFAR_H
#define FORMATS_CIFAR_H
#include "formats/status.h"

enum { FORMATS_CIFAR_SIDE = 32, FORMATS_CIFAR_PIXEL_BYTES = 3072 };

typedef struct formats_cifar {
    uint32_t count;
    uint32_t label_bytes; /* 1: CIFAR-10; 2: CIFAR-100, whose fine label is used */
    uint32_t classes;     /* 10 or 100 */
} formats_cifar;

/* Recognise a source; reads every label byte. limits may be NULL. TAPER_ERR_CORRUPT: not CIFAR;
 * TAPER_ERR_LIMIT: more images than limits->max_images; other errors come from reading. */
taper_status formats_cifar_open(const taper_source *source, const taper_limits *limits,
                                formats_cifar *out, taper_error *error);

/* Read image i, 0..count-1. *out is the caller's to free; pixels is NULL on failure. */
taper_status formats_cifar_read(const taper_source *source, const formats_cifar *cifar, uint32_t i,
                                taper_image *out, taper_error *error);

/* Read the label of image i, 0..classes-1. */
taper_status formats_cifar_read_label(const taper_source *source, const formats_cifar *cifar,
                                      uint32_t i, uint8_t *label, taper_error *error);

/* Encode as CIFAR-10. Images must be RGB, 8 bits, 32 x 32, labels 0..9: else TAPER_ERR_ARG.
 * *out is malloc'd and the caller's to free; NULL on failure. */
taper_status formats_cifar_encode(const taper_image *images, const uint8_t *labels, size_t count,
                                  uint8_t **out, size_t *n, taper_error *error);

#endif
