/* ordered_index.h -- codes of bits in their order, and the nested neighbourhoods of a query among
 * them: section 5 of Rippel, Gelbart & Adams 2014.
 *
 * N_b of a query are the codes that share its first b bits (equation 15). In the order of bits they
 * lie side by side, so that a neighbourhood is a range and the paper's binary tree need not be
 * built: to go down it is to search the range. A query looks at the first words of codes, which are
 * an array of their own, and at others where these agree. A table by the first bits says where to
 * begin.
 *
 * All arrays are borrowed, and may hold anything: what is found is then wrong, but nothing is read
 * beyond them. */
#ifndef CODEC_ORDERED_INDEX_H
#define CODEC_ORDERED_INDEX_H
#include "codec/search/bit_codes.h"
#include "formats/index_file.h"

enum {
    CODEC_INDEX_MOST_TABLE_BITS = FORMATS_INDEX_MOST_TABLE_BITS,
    CODEC_INDEX_MOST_LAYERS = 11 /* of FORMATS_INDEX_MOST_BITS */
};

typedef struct codec_ordered_index {
    size_t n;                                       /* codes, 1..2^32 - 1 */
    size_t words;                                   /* of a code, 1..1024 */
    size_t layers;                                  /* codec_index_layers(words) */
    const uint64_t *layer[CODEC_INDEX_MOST_LAYERS]; /* [n][codec_index_layer_words()], see there */
    const uint32_t *start; /* [2^table_bits + 1] codes below those that begin with these bits */
    uint32_t table_bits;   /* 0..CODEC_INDEX_MOST_TABLE_BITS */
} codec_ordered_index;

/* Codes lie in layers, like the bits of a container: layer 0 holds word 0 of all codes, layer l
 * their words 2^(l - 1) .. 2^l - 1, as far as there are any. So what reads a front part of all
 * codes reads nothing else. */
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
/* The layers of n codes that lie one behind the other from `at` on. */
void codec_index_set_layers(codec_ordered_index *index, const uint64_t *at);
/* code[words] of the one at a place. */
void codec_index_code(const codec_ordered_index *index, size_t place, uint64_t *code);

/* A run of codes in their order. */
typedef struct codec_neighbourhood {
    size_t first, size;
    size_t depth;     /* leading bits that all of them share with the query */
    size_t looked_at; /* codes, until it was found */
} codec_neighbourhood;

/* The bits of a table for n codes: some eight codes an entry, were bits even. */
uint32_t codec_index_table_bits(size_t n);
/* start[2^bits + 1] of layer 0. */
void codec_index_table(const uint64_t *first, size_t n, uint32_t bits, uint32_t *start);
/* The same of codes that are not at hand at a time: start, all 0 at first, counts them, in any
 * order, and becomes the table when all are counted. */
void codec_index_count(const uint64_t *first, size_t n, uint32_t bits, uint32_t *start);
void codec_index_sum(uint32_t bits, uint32_t *start);

/* The codes below the query: its place in the order, 0..n. */
size_t codec_index_place(const codec_ordered_index *index, const uint64_t *query,
                         size_t *looked_at);

/* The deepest neighbourhood N_b, b at most `deepest`, that has at least `least` members, 1..n: the
 * paper goes down until fewer are left and returns the neighbourhood before. Of order log n, and of
 * log `least`, whatever the codes' length.
 *
 * How: let p be the query's place. A neighbourhood is a range around p, so one with r members holds
 * some r codes in a row of which p is one end or lies within. The bits that all of such a run share
 * with the query are those that both its ends share, min(L, R). As the run moves right, L rises and
 * R falls: where they cross is found by halving. Then both sides are searched for how far codes
 * share as many bits. */
codec_neighbourhood codec_index_neighbourhood(const codec_ordered_index *index,
                                              const uint64_t *query, size_t least, size_t deepest);
/* The neighbourhood N_depth, which may be empty. */
codec_neighbourhood codec_index_sharing(const codec_ordered_index *index, const uint64_t *query,
                                        size_t depth);

/* The definition of codec_index_neighbourhood, a code after the other. */
codec_neighbourhood codec_index_neighbourhood_plain(const codec_ordered_index *index,
                                                    const uint64_t *query, size_t least,
                                                    size_t deepest);

#endif
