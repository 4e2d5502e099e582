/* jitter.c -- see jitter.h. */
#include "train/sampling/jitter.h"
#include <string.h>

static void move_plane(const uint8_t *from, uint32_t width, uint32_t height, const train_motion *m,
                       uint8_t *to) {
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            to[(size_t)y * width + x] =
                train_pixel_at(from, width, train_place_of(m, x, y, width, height));
}

void train_jitter_row(const train_jitter *j, const uint8_t *from, uint64_t seed, uint64_t step,
                      uint64_t i, uint8_t *to) {
    const size_t plane = (size_t)j->width * j->height;
    train_motion m;
    if (!train_motion_of(j, seed, step, i, &m)) {
        memcpy(to, from, plane * j->channels);
        return;
    }
    for (uint32_t c = 0; c < j->channels; c++)
        move_plane(from + c * plane, j->width, j->height, &m, to + c * plane);
}
