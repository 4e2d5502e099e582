/* waves.h -- a small training set with predictable bits, for tests. */
#ifndef TESTS_WAVES_H
#define TESTS_WAVES_H
#include "pictures.h"
#include "train/sampling/dataset.h"
#include <math.h>

enum { WAVES_IMAGES = 160, WAVES_SIDE = 16 };

/* Waves: all windows of an image have one direction, so that a window predicts its neighbours. */
static inline train_dataset waves_make(uint64_t seed) {
    train_dataset d = {.image = calloc(WAVES_IMAGES, sizeof *d.image),
                       .n = WAVES_IMAGES,
                       .available = WAVES_IMAGES,
                       .channels = 1,
                       .pixels = (uint64_t)WAVES_IMAGES * WAVES_SIDE * WAVES_SIDE,
                       .one_size = 1};
    for (size_t i = 0; i < WAVES_IMAGES; i++) {
        taper_image *image = &d.image[i];
        *image = picture_noise(WAVES_SIDE, WAVES_SIDE, 1, 8, seed + i);
        double angle = (double)(picture_random(&seed) % 628) / 100,
               phase = (double)(picture_random(&seed) % 628) / 100,
               length = 3.0 + (double)(picture_random(&seed) % 40) / 10;
        uint8_t *to = image->pixels;
        for (int y = 0; y < WAVES_SIDE; y++)
            for (int x = 0; x < WAVES_SIDE; x++, to++)
                *to = (uint8_t)(128 +
                                90 * sin(phase +
                                         6.2832 / length * (x * cos(angle) + y * sin(angle))) +
                                (*to & 7));
    }
    return d;
}

static inline void waves_drop(train_dataset *d) {
    for (size_t i = 0; i < d->n; i++) free(d->image[i].pixels);
    free(d->image);
}

#endif
