/* circles.c -- see circles.h. */
#include "bench/paper-embedding/circles.h"
#include "train/sampling/philox.h"
#include <math.h>

enum { STREAM = 0x636972 }; /* of its own */

void circles_draw(uint64_t seed, size_t n, float deviation, float *rows, uint32_t *label) {
    for (size_t i = 0; i < n; i++, rows += CIRCLES_INPUTS) {
        uint32_t word[4];
        float noise[2];
        train_philox(seed, i, STREAM, word);
        train_philox_normal(word + 2, noise);
        label[i] = (uint32_t)(i % CIRCLES_CLASSES);
        const double angle = 6.283185307179586 * (double)word[0] * 0x1p-32;
        const double radius = label[i] + 1.0;
        rows[0] = (float)(radius * cos(angle));
        rows[1] = (float)(radius * sin(angle));
        rows[2] = deviation * noise[0];
    }
}
