/* pictures.h -- small images and seeded random numbers for tests. */
#ifndef TESTS_PICTURES_H
#define TESTS_PICTURES_H
#include "image_equal.h"
#include <assert.h>
#include <stdlib.h>

/* xorshift64*: the seed must not be 0; advances the state. */
static inline uint64_t picture_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du;
}

/* An image of random samples, the caller's to free. */
static inline taper_image picture_noise(uint32_t width, uint32_t height, unsigned channels,
                                        unsigned depth, uint64_t seed) {
    taper_image image;
    taper_status status = formats_image_make(&image, width, height, channels, depth, NULL, NULL);
    if (status != TAPER_OK) abort();
    uint8_t *bytes = image.pixels;
    for (size_t i = 0; i < formats_image_bytes(&image); i++)
        bytes[i] = (uint8_t)(picture_random(&seed) >> 56);
    return image;
}

/* A smooth picture with an edge, which compresses like a photograph. 8 bits. */
static inline taper_image picture_scene(uint32_t width, uint32_t height, unsigned channels,
                                        unsigned phase) {
    taper_image image = picture_noise(width, height, channels, 8, 1);
    uint8_t *to = image.pixels;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (unsigned c = 0; c < channels; c++) {
                unsigned value = 3 * x + (2 + c) * y + 17 * c + 5 * phase;
                *to++ = (uint8_t)(x > width / 2 ? value / 2 : 255 - value / 2);
            }
    return image;
}

#endif
