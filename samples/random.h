/* random.h -- counter-based random numbers for the generators: the same on every machine.
 *
 * Value number c of stream s is a mix of (s, c) alone: the finalizer of SplitMix64 (Steele, Lea &
 * Flood 2014, "Fast splittable pseudorandom number generators", figure 16) over a counter. Streams
 * are cheap: one per image, so that image i does not depend on how many images were asked for.
 *
 * C leaves the order open in which a call's arguments, an initializer's members and the sides of +
 * are evaluated. So: never two draws in one of these; each gets its own statement. */
#ifndef SAMPLES_RANDOM_H
#define SAMPLES_RANDOM_H
#include <stdint.h>

typedef struct samples_random {
    uint64_t stream, counter;
} samples_random;

static inline uint64_t samples_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Streams for different (seed, index) do not overlap in practice. */
static inline samples_random samples_random_start(uint64_t seed, uint64_t index) {
    return (samples_random){samples_mix(samples_mix(seed + 0x9e3779b97f4a7c15u) + index), 0};
}

static inline uint64_t samples_bits(samples_random *r) {
    return samples_mix(r->stream + 0x9e3779b97f4a7c15u * ++r->counter);
}

/* [0, 1), 24 bits: exact in single precision. */
static inline float samples_unit(samples_random *r) {
    return (float)(samples_bits(r) >> 40) * 0x1p-24f;
}

static inline float samples_between(samples_random *r, float low, float high) {
    return low + (high - low) * samples_unit(r);
}

/* 0 .. n - 1; n is small, so the bias of the product (below n / 2^32) does not matter. */
static inline int samples_below(samples_random *r, int n) {
    return (int)((samples_bits(r) >> 32) * (uint64_t)n >> 32);
}

/* True with probability p. */
static inline int samples_chance(samples_random *r, float p) { return samples_unit(r) < p; }

/* Near normal with mean 0 and variance 1: the sum of four uniforms, scaled. No logarithm, so no
 * libm. */
static inline float samples_normal(samples_random *r) {
    uint64_t b = samples_bits(r);
    int sum =
        (int)(b & 0xffff) + (int)(b >> 16 & 0xffff) + (int)(b >> 32 & 0xffff) + (int)(b >> 48);
    return (float)(sum - 131070) * (1.7320508f / 65536.0f);
}

#endif
