/* image_equal.h -- compares two images. */
#ifndef TESTS_IMAGE_EQUAL_H
#define TESTS_IMAGE_EQUAL_H
#include "formats/image.h"
#include <string.h>

/* 1 when geometry, channels, depth and every sample are equal, else 0. */
static inline int image_equal(const taper_image *a, const taper_image *b) {
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->depth == b->depth && memcmp(a->pixels, b->pixels, formats_image_bytes(a)) == 0;
}

#endif
