/* philox.c -- Philox 4x32-10; see philox.h. */
#include "train/sampling/philox.h"
#include <math.h>

void train_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0],
             k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u; /* golden ratio */
        k1 += 0xBB67AE85u; /* square root of 3, less 1 */
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

void train_philox(uint64_t seed, uint64_t index, uint64_t stream, uint32_t out[4]) {
    const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream,
                                 (uint32_t)(stream >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    train_philox_block(counter, key, out);
}

float train_philox_uniform(uint32_t word) { return (float)(word >> 8) * 0x1p-24f; }

uint32_t train_philox_below(uint32_t word, uint32_t n) {
    return (uint32_t)(((uint64_t)word * n) >> 32);
}

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
