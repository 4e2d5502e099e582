/* philox.h -- counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011). A draw is a pure function of (seed, stream, index). Any
 * thread or device can compute any draw in any order, and a resumed run needs no generator state.
 * Kernels use the inline functions. */
#ifndef TRAIN_PHILOX_H
#define TRAIN_PHILOX_H
#include "codec/backend/simd.h"
#include <stddef.h>
#include <stdint.h>

/* The block function: four words from a 128-bit counter and a 64-bit key. */
CODEC_INLINE void train_philox_block(const uint32_t counter[4], const uint32_t key[2],
                                     uint32_t out[4]) {
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

/* Four words of draw `index` in `stream`. Different uses have different streams (see below), so
 * that they are uncorrelated. */
CODEC_INLINE void train_philox(uint64_t seed, uint64_t index, uint64_t stream, uint32_t out[4]) {
    const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream,
                                 (uint32_t)(stream >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    train_philox_block(counter, key, out);
}

/* A word as a float in [0, 1): 24 bits, exact. */
CODEC_INLINE float train_philox_uniform(uint32_t word) { return (float)(word >> 8) * 0x1p-24f; }

/* A word scaled to 0 .. n - 1 by multiplication (bias below n / 2^32). n >= 1. */
CODEC_INLINE uint32_t train_philox_below(uint32_t word, uint32_t n) {
    return (uint32_t)(((uint64_t)word * n) >> 32);
}

/* Two independent standard normal deviates from two words (Box and Muller). */
void train_philox_normal(const uint32_t word[2], float out[2]);

/* The streams of this program. Do not renumber them: that would change the results of a seed. */
enum {
    TRAIN_STREAM_WEIGHTS = 1,  /* initial weights; + layer number << 8 */
    TRAIN_STREAM_SHUFFLE = 2,  /* order of examples; + epoch << 8 */
    TRAIN_STREAM_CUT = 3,      /* per example: threshold, truncation; + step << 8 */
    TRAIN_STREAM_SPLIT = 5,    /* validation split */
    TRAIN_STREAM_CORRUPT = 6,  /* inputs set to 0; + step << 16 */
    TRAIN_STREAM_DROPOUT = 7,  /* hidden units set to 0; + layer << 8 + step << 16 */
    TRAIN_STREAM_PERTURB = 8,  /* normal noise on inputs; + step << 16 */
    TRAIN_STREAM_JITTER = 9,   /* motions of examples; + step << 8 */
    TRAIN_STREAM_CROP = 10,    /* squares of large images; + step << 8 */
    TRAIN_STREAM_STAGE = 11,   /* which stage of the order is trained; index: step */
    TRAIN_STREAM_SIGN = 12,    /* of a unit's pattern, per window; + unit << 8 */
    TRAIN_STREAM_CUT_OUT = 13, /* images to restore, and the cut; + step << 8 */
    TRAIN_STREAM_STATES = 14   /* of stochastic units; + step << 16 */
};

/* Initial weights of a layer: to[n] becomes normal deviates of mean 0 and this standard deviation,
 * from draws 0, 2, 4 ... of the layer's stream. */
void train_philox_weights(float *to, size_t n, float deviation, uint64_t seed, uint64_t layer);

#endif
