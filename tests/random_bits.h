/* random_bits.h -- random binary codes that are similar to each other, and an index of them made by
 * its definition. Include after cmocka.h. The seed is printed; TAPER_TEST_SEED=n repeats a run. */
#ifndef TESTS_RANDOM_BITS_H
#define TESTS_RANDOM_BITS_H
#include "codec/search/ordered_index.h"
#include "train/sampling/philox.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits_seed = 20140622, bits_drawn;

/* Setup of a group of tests. */
static inline int bits_begin(void **state) {
    (void)state;
    const char *given = getenv("TAPER_TEST_SEED");
    if (given) bits_seed = strtoull(given, NULL, 10);
    printf("seed %llu\n", (unsigned long long)bits_seed);
    return 0;
}

static inline uint64_t bits_word(void) {
    uint32_t word[4];
    train_philox(bits_seed, bits_drawn++, 0, word);
    return (uint64_t)word[0] << 32 | word[1];
}
static inline size_t bits_below(size_t n) { return (size_t)(bits_word() % n); }

/* --- single bits ------------------------------------------------------------------------ */

static inline int bits_get(const uint64_t *code, size_t j) {
    return (int)(code[j / 64] >> (63 - j % 64) & 1);
}
static inline void bits_flip(uint64_t *code, size_t j) {
    code[j / 64] ^= (uint64_t)1 << (63 - j % 64);
}
/* Number of leading bits that two codes share, of `bits`. */
static inline size_t bits_prefix(const uint64_t *a, const uint64_t *b, size_t bits) {
    size_t j = 0;
    while (j < bits && bits_get(a, j) == bits_get(b, j)) j++;
    return j;
}
/* 1 if a comes before b, by the first differing bit. */
static inline int bits_before(const uint64_t *a, const uint64_t *b, size_t bits) {
    const size_t j = bits_prefix(a, b, bits);
    return j < bits && bits_get(b, j);
}

/* --- codes ------------------------------------------------------------------------------ */

/* Kinds of codes: uniform bits; mostly 0, so that prefixes are long; codes near an earlier one, or
 * its copy; copies of three; copies of one. */
enum { BITS_EVEN, BITS_SKEWED, BITS_NEAR, BITS_COPIES, BITS_EQUAL, BITS_KINDS };

static inline void bits_draw_one(int kind, uint64_t *codes, size_t i, size_t words, size_t bits) {
    uint64_t *code = codes + i * words;
    const size_t roots = kind == BITS_EQUAL ? 1 : kind == BITS_COPIES ? 3 : 5;
    if (kind >= BITS_NEAR && i >= roots) {
        const size_t of = bits_below(kind == BITS_NEAR ? i : roots);
        memcpy(code, codes + of * words, words * sizeof *code);
        const size_t flips = kind == BITS_NEAR ? bits_below(4) : 0;
        for (size_t f = 0; f < flips; f++) bits_flip(code, bits_below(bits));
        return;
    }
    for (size_t j = 0; j < bits; j++)
        if (!bits_below(kind == BITS_SKEWED ? 20 : 2)) bits_flip(code, j);
}

/* codes[n][words], malloc'd with one additional word. */
static inline uint64_t *bits_draw(int kind, size_t n, size_t bits) {
    const size_t words = codec_bits_words(bits);
    uint64_t *codes = calloc(n * words + 1, sizeof *codes);
    assert_non_null(codes);
    for (size_t i = 0; i < n; i++) bits_draw_one(kind, codes, i, words, bits);
    return codes;
}

/* One of the codes with some bits flipped, mostly the last or the first; or a code far from all. */
static inline void bits_draw_query(const uint64_t *codes, size_t n, size_t bits, uint64_t *query) {
    const size_t words = codec_bits_words(bits), how = bits_below(6);
    memcpy(query, codes + bits_below(n) * words, words * sizeof *query);
    if (how == 0) {
        for (size_t j = 0; j < bits; j++)
            if (bits_below(2)) bits_flip(query, j);
    } else {
        for (size_t f = bits_below(4); f; f--)
            bits_flip(query,
                      how == 1 ? bits_below(bits) : bits_below(bits < 8 * how ? bits : 8 * how));
    }
}

/* --- an index --------------------------------------------------------------------------- */

typedef struct bits_order {
    codec_ordered_index index;
    uint64_t *sorted; /* [n][words] */
    uint32_t *image;  /* [n] the code at each place */
    uint64_t *layered;
    uint32_t *start;
} bits_order;

/* Stable sort: equal codes keep their order. */
static inline void bits_sort(const uint64_t *codes, size_t words, uint32_t *image, size_t n,
                             uint32_t *room) {
    const size_t half = n / 2;
    if (n < 2) return;
    bits_sort(codes, words, image, half, room);
    bits_sort(codes, words, image + half, n - half, room);
    memcpy(room, image, n * sizeof *image);
    for (size_t i = 0, a = 0, b = half; i < n; i++) {
        const int second = a == half || (b < n && bits_before(codes + room[b] * words,
                                                              codes + room[a] * words, 64 * words));
        image[i] = second ? room[b++] : room[a++];
    }
}

static inline void bits_lay(bits_order *o, size_t n, size_t words) {
    uint64_t *at = o->layered;
    for (size_t first = 0, end = 1; first < words; first = end, end *= 2)
        for (size_t i = 0; i < n; i++)
            for (size_t w = first; w < end && w < words; w++) *at++ = o->sorted[i * words + w];
}

static inline void bits_order_make(bits_order *o, const uint64_t *codes, size_t n, size_t bits,
                                   uint32_t table_bits) {
    const size_t words = codec_bits_words(bits);
    o->sorted = malloc(n * words * sizeof *o->sorted);
    o->layered = malloc(n * words * sizeof *o->layered);
    o->image = malloc(2 * n * sizeof *o->image);
    o->start = calloc(((size_t)1 << table_bits) + 1, sizeof *o->start);
    assert_true(o->sorted && o->layered && o->image && o->start);
    for (size_t i = 0; i < n; i++) o->image[i] = (uint32_t)i;
    bits_sort(codes, words, o->image, n, o->image + n);
    for (size_t i = 0; i < n; i++)
        memcpy(o->sorted + i * words, codes + o->image[i] * words, words * sizeof *codes);
    bits_lay(o, n, words);
    o->index =
        (codec_ordered_index){.n = n, .words = words, .start = o->start, .table_bits = table_bits};
    codec_index_set_layers(&o->index, o->layered);
    codec_index_table(o->layered, n, table_bits, o->start);
}

static inline void bits_order_free(bits_order *o) {
    free(o->sorted);
    free(o->layered);
    free(o->image);
    free(o->start);
}

#endif
