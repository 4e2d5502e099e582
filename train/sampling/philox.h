/* philox.h -- counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011). A draw is a pure function of (seed, stream, index): any
 * thread or device can make any draw, in any order, and a resumed run needs no generator state. */
#ifndef TRAIN_PHILOX_H
#define TRAIN_PHILOX_H
#include <stddef.h>
#include <stdint.h>

/* The block function itself: four words from a 128-bit counter and a 64-bit key. */
void train_philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Four words of draw `index` in `stream`. Streams keep apart what must not be correlated (see
 * below). */
void train_philox(uint64_t seed, uint64_t index, uint64_t stream, uint32_t out[4]);

/* A word as a float in [0, 1): 24 bits, exact. */
float train_philox_uniform(uint32_t word);

/* A word scaled to 0 .. n - 1 by multiplication (bias below n / 2^32). n >= 1. */
uint32_t train_philox_below(uint32_t word, uint32_t n);

/* Two independent standard normal deviates from two words (Box and Muller). */
void train_philox_normal(const uint32_t word[2], float out[2]);

/* The streams of this program. Numbers are part of what makes a seed repeat: append, never
 * renumber. */
enum {
    TRAIN_STREAM_WEIGHTS = 1, /* first weights; + layer number << 8 */
    TRAIN_STREAM_SHUFFLE = 2, /* order of examples; + epoch << 8 */
    TRAIN_STREAM_CUT = 3,     /* per example: threshold, truncation; + step << 8 */
    TRAIN_STREAM_NOISE = 4,   /* per code element; + step << 8 */
    TRAIN_STREAM_SPLIT = 5,   /* validation split */
    TRAIN_STREAM_CORRUPT = 6, /* inputs set to 0; + step << 16 */
    TRAIN_STREAM_DROPOUT = 7, /* hidden units set to 0; + layer << 8 + step << 16 */
    TRAIN_STREAM_PERTURB = 8, /* normal noise on inputs; + step << 16 */
    TRAIN_STREAM_JITTER = 9,  /* motions of examples; + step << 8 */
    TRAIN_STREAM_CROP = 10,   /* squares of large images; + step << 8 */
    TRAIN_STREAM_STAGE = 11,  /* which stage of the order is learned from; index: step */
    TRAIN_STREAM_SIGN = 12,   /* of a unit's pattern, per window; + unit << 8 */
    TRAIN_STREAM_CUT_OUT = 13 /* images to restore, and the cut; + step << 8 */
};

/* First weights of a layer: to[n] becomes normal deviates of mean 0, from draws 0, 2, 4 ... of the
 * layer's stream. */
void train_philox_weights(float *to, size_t n, float deviation, uint64_t seed, uint64_t layer);

#endif
