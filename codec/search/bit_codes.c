/* bit_codes.c -- see bit_codes.h. Loops that count bits are compiled for several processors: the
 * instruction for it, of 2008, is missing in the first x86-64. */
#include "codec/search/bit_codes.h"
#include "codec/backend/simd.h"
#include <string.h>

static uint32_t leading_zeros(uint64_t word) { /* 64 of 0 */
    uint32_t n = 0;
    if (!word) return 64;
    for (uint32_t step = 32; step; step /= 2)
        if (!(word >> (64 - step))) {
            n += step;
            word <<= step;
        }
    return n;
}

void codec_bits_pack(const float *codes, size_t n, size_t width, size_t bits, uint64_t *words) {
    const size_t row = codec_bits_words(bits);
    memset(words, 0, n * row * sizeof *words);
    for (size_t i = 0; i < n; i++, codes += width, words += row)
        for (size_t j = 0; j < bits; j++)
            if (codes[j] > 0) words[j / 64] |= (uint64_t)1 << (63 - j % 64);
}

void codec_bits_keep(uint64_t *code, size_t words, size_t bits) {
    for (size_t w = 0; w < words; w++) {
        if (64 * w >= bits)
            code[w] = 0;
        else if (64 * w + 64 > bits)
            code[w] &= ~(uint64_t)0 << (64 * w + 64 - bits);
    }
}

int codec_bits_compare(const uint64_t *a, const uint64_t *b, size_t words) {
    for (size_t w = 0; w < words; w++)
        if (a[w] != b[w]) return a[w] < b[w] ? -1 : 1;
    return 0;
}

size_t codec_bits_shared(const uint64_t *a, const uint64_t *b, size_t words) {
    for (size_t w = 0; w < words; w++)
        if (a[w] != b[w]) return 64 * w + leading_zeros(a[w] ^ b[w]);
    return 64 * words;
}

CODEC_COUNTING_CLONES
static uint32_t distance_of(const uint64_t *a, const uint64_t *b, size_t words) {
    uint32_t distance = 0;
    for (size_t w = 0; w < words; w++) distance += codec_bits_ones(a[w] ^ b[w]);
    return distance;
}

uint32_t codec_bits_distance(const uint64_t *a, const uint64_t *b, size_t words) {
    return distance_of(a, b, words);
}

CODEC_COUNTING_CLONES
static void add_distances(const uint64_t *query, const uint64_t *rows, size_t n, size_t words,
                          uint32_t *distance) {
    if (words == 1) { /* a separate loop, vectorised along the codes */
        for (size_t i = 0; i < n; i++) distance[i] += codec_bits_ones(query[0] ^ rows[i]);
        return;
    }
    for (size_t i = 0; i < n; i++, rows += words) {
        uint32_t sum = 0;
        for (size_t w = 0; w < words; w++) sum += codec_bits_ones(query[w] ^ rows[w]);
        distance[i] += sum;
    }
}

void codec_bits_add_distances(const uint64_t *query, const uint64_t *rows, size_t n, size_t words,
                              uint32_t *distance) {
    add_distances(query, rows, n, words, distance);
}
