/* bit_codes.h -- codes of bits: rows of 64-bit words, shared leading bits, Hamming distances.
 *
 * A code of `bits` bits has codec_bits_words(bits) words. Its first bit is the highest of word 0,
 * so comparing words compares bits in order: sorted codes with a common prefix are adjacent. The
 * bits after the last are 0. */
#ifndef CODEC_BIT_CODES_H
#define CODEC_BIT_CODES_H
#include "codec/backend/simd.h"
#include <stddef.h>
#include <stdint.h>

static inline size_t codec_bits_words(size_t bits) { return (bits + 63) / 64; }

/* The number of 1 bits of a word. In functions with CODEC_COUNTING_CLONES it is one instruction. */
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

/* Pack codes[n][width] into words[n][codec_bits_words(bits)]: their first `bits` <= width numbers.
 * A bit is 1 if the number is above 0. For a binary model (taper_embedder_codes) that is the unit's
 * bit. */
void codec_bits_pack(const float *codes, size_t n, size_t width, size_t bits, uint64_t *words);

/* Clear all bits of a code except the first `bits`. */
void codec_bits_keep(uint64_t *code, size_t words, size_t bits);

/* Compare in the order of bits: < 0: a is before b; 0: equal; > 0: a is after b. */
int codec_bits_compare(const uint64_t *a, const uint64_t *b, size_t words);

/* The number of leading bits that a and b share; 64 * words if they are equal. */
size_t codec_bits_shared(const uint64_t *a, const uint64_t *b, size_t words);

/* The Hamming distance of a and b. */
uint32_t codec_bits_distance(const uint64_t *a, const uint64_t *b, size_t words);

/* distance[i] += the Hamming distance of `query` and rows[i], for rows[n][words]. */
void codec_bits_add_distances(const uint64_t *query, const uint64_t *rows, size_t n, size_t words,
                              uint32_t *distance);

#endif
