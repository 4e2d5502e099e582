/* fixed_log.h -- logarithm, power and logistic function in integers, from small tables. */
#ifndef CODEC_FIXED_LOG_H
#define CODEC_FIXED_LOG_H
#include <stdint.h>

/* round(16 log2(1 + (i + 1/2) / 16)) */
extern const uint8_t codec_log_fraction[16];
/* round(2^15 * 2^(i / 16)) */
extern const uint16_t codec_exp_fraction[16];
/* round(65536 / (1 + exp(-i / 64))) at i = -768 .. 768 in steps of 16; see codec_squash */
extern const uint16_t codec_logistic_table[97];

/* 16 log2(x), with an error below 1/2; 0 for x = 0. */
static inline int32_t codec_log16(uint32_t x) {
    if (x == 0) return 0;
    uint32_t zeros = (uint32_t)__builtin_clz(x);
    return 16 * (31 - (int32_t)zeros) + codec_log_fraction[((x << zeros) >> 27) & 15];
}

/* value * 2^(e / 16), rounded down; value < 2^40. From e = 16 * 24 on, 2^56 for any value except 0,
 * which exceeds the range of all callers. */
static inline uint64_t codec_scale_exp2(uint64_t value, int32_t e) {
    int32_t whole = e >= 0 ? e / 16 : -((-e + 15) / 16);           /* floor */
    uint64_t product = value * codec_exp_fraction[e - 16 * whole]; /* < 2^56 */
    int32_t shift = 15 - whole;
    if (shift >= 64) return 0;
    if (shift >= 0) return product >> shift;
    return product && shift < -8 ? (uint64_t)1 << 56 : product << -shift;
}

/* The logistic function: the probability in 1/65536, 32 .. 65504, of a logit in 1/64. Interpolates
 * linearly. */
static inline uint16_t codec_squash(int32_t logit) {
    int32_t x = logit < -767 ? -767 : logit > 767 ? 767 : logit;
    uint32_t at = (uint32_t)(x + 768), i = at / 16, part = at % 16;
    uint32_t p = (codec_logistic_table[i] * (16 - part) + codec_logistic_table[i + 1] * part) / 16;
    return (uint16_t)(p < 32 ? 32 : p > 65504 ? 65504 : p);
}

#endif
