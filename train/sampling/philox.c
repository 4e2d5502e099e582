/* philox.c -- Philox 4x32-10; see philox.h. */
#include "train/sampling/philox.h"
#include <math.h>

void train_philox_normal(const uint32_t word[2], float out[2]) {
    double u = ((double)word[0] + 0.5) * 0x1p-32,
           angle = 6.283185307179586 * ((double)word[1] * 0x1p-32);
    double radius = sqrt(-2.0 * log(u));
    out[0] = (float)(radius * cos(angle));
    out[1] = (float)(radius * sin(angle));
}

void train_philox_weights(float *to, size_t n, float deviation, uint64_t seed, uint64_t layer) {
    for (size_t i = 0; i < n; i += 2) {
        uint32_t word[4];
        float pair[2];
        train_philox(seed, i, TRAIN_STREAM_WEIGHTS + (layer << 8), word);
        train_philox_normal(word, pair);
        to[i] = deviation * pair[0];
        if (i + 1 < n) to[i + 1] = deviation * pair[1];
    }
}
