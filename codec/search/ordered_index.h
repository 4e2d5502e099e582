/* ordered_index.h -- sorted codes of bits, and the nested neighbourhoods of a query among them:
 * section 5 of Rippel, Gelbart & Adams 2014.
 *
 * N_b of a query is the set of codes that share its first b bits (equation 15). In sorted order
 * they are adjacent, so a neighbourhood is a range. The paper's binary tree is not needed:
 * descending in it is a search in the range. A search reads the first words of codes, which are a
 * separate array, and other words only if these are equal. A table indexed by the first bits gives
 * the start.
 *
 * All arrays are borrowed and may hold any contents: damaged ones give wrong results, but nothing
 * is read outside of them. */
#ifndef CODEC_ORDERED_INDEX_H
#define CODEC_ORDERED_INDEX_H
#include "codec/search/bit_codes.h"
#include "formats/index_file.h"

enum {
    CODEC_INDEX_MOST_TABLE_BITS = FORMATS_INDEX_MOST_TABLE_BITS,
    CODEC_INDEX_MOST_LAYERS = 11 /* of FORMATS_INDEX_MOST_BITS */
};

typedef struct codec_ordered_index {
    size_t n;                                       /* number of codes, 1..2^32 - 1 */
    size_t words;                                   /* words of a code, 1..1024 */
    size_t layers;                                  /* codec_index_layers(words) */
    const uint64_t *layer[CODEC_INDEX_MOST_LAYERS]; /* [n][codec_index_layer_words()], see there */
    /* [2^table_bits + 1] the first place of a code that begins with at least these bits. */
    const uint32_t *start;
    uint32_t table_bits; /* 0..CODEC_INDEX_MOST_TABLE_BITS */
} codec_ordered_index;

/* Codes are stored in layers, like the bits of a container: layer 0 has word 0 of all codes, layer
 * l has their words 2^(l - 1) .. 2^l - 1, if they exist. So a search of the first words reads only
 * these. */
static inline size_t codec_index_layer_first(size_t l) { return l ? (size_t)1 << (l - 1) : 0; }
static inline size_t codec_index_layers(size_t words) {
    size_t l = 0;
    while (codec_index_layer_first(l) < words) l++;
    return l;
}
static inline size_t codec_index_layer_words(size_t words, size_t l) {
    const size_t first = codec_index_layer_first(l), most = l ? first : 1;
    return words - first < most ? words - first : most;
}
/* Set the layers of n codes that are stored one after the other, starting at `at`. */
void codec_index_set_layers(codec_ordered_index *index, const uint64_t *at);
/* Get code[words] at a place. */
void codec_index_code(const codec_ordered_index *index, size_t place, uint64_t *code);

/* A range of codes in sorted order. */
typedef struct codec_neighbourhood {
    size_t first, size;
    size_t depth;     /* leading bits that all of them share with the query */
    size_t looked_at; /* codes that were compared */
} codec_neighbourhood;

/* The bits of a table for n codes: about eight codes per entry, for uniform codes. */
uint32_t codec_index_table_bits(size_t n);
/* Make the table start[2^bits + 1] from layer 0. */
void codec_index_table(const uint64_t *first, size_t n, uint32_t bits, uint32_t *start);
/* The same for codes that are not in memory at once. start begins zeroed. codec_index_count counts
 * codes, in any order; codec_index_sum then makes the table from the counts. */
void codec_index_count(const uint64_t *first, size_t n, uint32_t bits, uint32_t *start);
void codec_index_sum(uint32_t bits, uint32_t *start);

/* The number of codes below the query, which is its place in the order: 0..n. */
size_t codec_index_place(const codec_ordered_index *index, const uint64_t *query,
                         size_t *looked_at);

/* The deepest neighbourhood N_b, b <= deepest, with at least `least` members, 1..n. (The paper
 * descends until fewer remain, and returns the neighbourhood before.) O(log n + log least), for any
 * length of codes.
 *
 * Let p be the query's place. A neighbourhood is a range around p. So one with r members contains r
 * consecutive codes with p at an end or within. All codes of such a run share as many bits with the
 * query as both ends do: min(L, R). As the run moves right, L increases and R decreases; a binary
 * search finds where they cross. Two further searches find how far codes share that many bits. */
codec_neighbourhood codec_index_neighbourhood(const codec_ordered_index *index,
                                              const uint64_t *query, size_t least, size_t deepest);
/* The reference implementation of codec_index_neighbourhood. */
codec_neighbourhood codec_index_neighbourhood_plain(const codec_ordered_index *index,
                                                    const uint64_t *query, size_t least,
                                                    size_t deepest);

#endif
