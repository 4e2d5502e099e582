/* mixed_bit.h -- the probability of a bit of a binary unit: a mixture of the model's density and an
 * adaptive estimate.
 *
 * There are two experts: the fixed share of ones, and an adaptive estimate that starts with it. The
 * probability is their mean, weighted by the trust in the fixed expert. Bayes' rule updates the
 * trust after every bit. For any data, a pass needs at most log2(65536 / CODEC_TRUST_START) = 0.023
 * bits more than with the fixed expert. (That one needs n bits if the share is 1/2.) A pass needs
 * at most 6 bits more than with the adaptive expert. So random units cost next to nothing extra,
 * and sorted or unusual sets get shorter. Integers only. */
#ifndef CODEC_MIXED_BIT_H
#define CODEC_MIXED_BIT_H
#include "codec/entropy/range_coder.h"

enum {
    CODEC_TRUST_START = 64512, /* 63/64 */
    CODEC_TRUST_MIN = 64,
    CODEC_TRUST_MAX = 65472,
    CODEC_MIXED_CONFIDENCE = 12 /* initial confidence of the adaptive expert, in observations */
};

typedef struct codec_mixed_bit {
    uint32_t fixed;     /* P(bit = 1) of the fixed expert, in 1/65536 */
    uint32_t trust;     /* weight of the fixed expert, in 1/65536 */
    codec_bit adaptive; /* the adaptive expert */
} codec_mixed_bit;

/* density: share of ones in 1/256. */
static inline codec_mixed_bit codec_mixed_bit_start(uint32_t density) {
    uint32_t p = density << 8;
    p = p < CODEC_P_MIN ? CODEC_P_MIN : p > CODEC_P_MAX ? CODEC_P_MAX : p;
    return (codec_mixed_bit){p, CODEC_TRUST_START, {(uint16_t)p, CODEC_MIXED_CONFIDENCE}};
}

/* P(bit = 1) in 1/65536, CODEC_P_MIN .. CODEC_P_MAX. */
static inline uint32_t codec_mixed_bit_p1(const codec_mixed_bit *m) {
    uint64_t sum = (uint64_t)m->trust * m->fixed + (uint64_t)(65536 - m->trust) * m->adaptive.p1;
    return (uint32_t)(sum >> 16);
}

static inline void codec_mixed_bit_update(codec_mixed_bit *m, int bit) {
    uint32_t p = m->adaptive.p1;
    uint64_t a = (uint64_t)m->trust * (bit ? m->fixed : 65536 - m->fixed);
    uint64_t b = (uint64_t)(65536 - m->trust) * (bit ? p : 65536 - p);
    uint64_t trust = ((a << 16) + (a + b) / 2) / (a + b);
    m->trust = trust < CODEC_TRUST_MIN   ? CODEC_TRUST_MIN
               : trust > CODEC_TRUST_MAX ? CODEC_TRUST_MAX
                                         : (uint32_t)trust;
    codec_bit_update(&m->adaptive, bit);
}

#endif
