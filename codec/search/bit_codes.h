/* bit_codes.h -- codes of bits: rows of 64-bit words, how many leading bits two share, and in how
 * many they differ.
 *
 * A code of `bits` bits is codec_bits_words(bits) words. Its first bit is the highest of word 0, so
 * that codes in rising order of their words are in the order of their bits: those that share a
 * prefix lie side by side. Bits behind the last are 0. */
#ifndef CODEC_BIT_CODES_H
#define CODEC_BIT_CODES_H
#include "codec/backend/simd.h"
#include <stddef.h>
#include <stdint.h>

static inline size_t codec_bits_words(size_t bits) { return (bits + 63) / 64; }

/* How many bits of a word are 1. In functions with CODEC_COUNTING_CLONES it is an instruction. */
CODEC_INLINE uint32_t codec_bits_ones(uint64_t word) {
#ifdef __GNUC__
    return (uint32_t)__builtin_popcountll(word);
#else
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (uint32_t)(word * 0x0101010101010101u >> 56);
#endif
}

/* words[n][codec_bits_words(bits)] of codes[n][width], their first `bits` <= width numbers: a bit
 * is 1 where the number is above 0. Of a binary model that is the bit (taper_embed); of units of
 * mean 0 the side of the mean. */
void codec_bits_pack(const float *codes, size_t n, size_t width, size_t bits, uint64_t *words);

/* Clear all bits of a code but the first `bits`. */
void codec_bits_keep(uint64_t *code, size_t words, size_t bits);

/* < 0, 0, > 0: a comes before b, is b, comes after it, in the order of bits. */
int codec_bits_compare(const uint64_t *a, const uint64_t *b, size_t words);

/* Leading bits that a and b share: 64 words where they are the same. */
size_t codec_bits_shared(const uint64_t *a, const uint64_t *b, size_t words);

/* In how many bits a and b differ: Hamming's distance. */
uint32_t codec_bits_distance(const uint64_t *a, const uint64_t *b, size_t words);

/* distance[n] += those of `query` to the codes rows[n][words]. */
void codec_bits_add_distances(const uint64_t *query, const uint64_t *rows, size_t n, size_t words,
                              uint32_t *distance);

#endif
