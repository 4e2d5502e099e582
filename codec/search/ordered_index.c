/* ordered_index.c -- see ordered_index.h. */
#include "codec/search/ordered_index.h"
#include <string.h>

uint32_t codec_index_table_bits(size_t n) {
    uint32_t bits = 0;
    while (bits < CODEC_INDEX_MOST_TABLE_BITS && n >> bits > 8) bits++;
    return bits;
}

static size_t entry_of(uint64_t first, uint32_t bits) {
    return bits ? (size_t)(first >> (64 - bits)) : 0;
}

void codec_index_table(const uint64_t *first, size_t n, uint32_t bits, uint32_t *start) {
    memset(start, 0, (((size_t)1 << bits) + 1) * sizeof *start);
    codec_index_count(first, n, bits, start);
    codec_index_sum(bits, start);
}

void codec_index_count(const uint64_t *first, size_t n, uint32_t bits, uint32_t *start) {
    for (size_t i = 0; i < n; i++) start[entry_of(first[i], bits) + 1]++;
}

void codec_index_sum(uint32_t bits, uint32_t *start) {
    for (size_t e = 0; e < (size_t)1 << bits; e++) start[e + 1] += start[e];
}

void codec_index_set_layers(codec_ordered_index *index, const uint64_t *at) {
    index->layers = codec_index_layers(index->words);
    for (size_t l = 0; l < index->layers; l++) {
        index->layer[l] = at;
        at += index->n * codec_index_layer_words(index->words, l);
    }
}

void codec_index_code(const codec_ordered_index *index, size_t place, uint64_t *code) {
    for (size_t l = 0; l < index->layers; l++) {
        const size_t width = codec_index_layer_words(index->words, l);
        memcpy(code + codec_index_layer_first(l), index->layer[l] + place * width,
               width * sizeof *code);
    }
}

static size_t shared(const codec_ordered_index *index, const uint64_t *query, size_t i) {
    size_t bits = codec_bits_shared(index->layer[0] + i, query, 1);
    for (size_t l = 1; l < index->layers && bits == 64 * codec_index_layer_first(l); l++) {
        const size_t width = codec_index_layer_words(index->words, l);
        bits += codec_bits_shared(index->layer[l] + i * width, query + codec_index_layer_first(l),
                                  width);
    }
    return bits;
}

static int is_below(const codec_ordered_index *index, const uint64_t *query, size_t i) {
    if (index->layer[0][i] != query[0]) return index->layer[0][i] < query[0];
    for (size_t l = 1; l < index->layers; l++) {
        const size_t width = codec_index_layer_words(index->words, l);
        const int order = codec_bits_compare(index->layer[l] + i * width,
                                             query + codec_index_layer_first(l), width);
        if (order) return order < 0;
    }
    return 0;
}

size_t codec_index_place(const codec_ordered_index *index, const uint64_t *query,
                         size_t *looked_at) {
    const size_t e = entry_of(query[0], index->table_bits);
    size_t low = index->start[e], high = index->start[e + 1];
    if (high > index->n) high = index->n;
    if (low > high) low = high;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (is_below(index, query, middle))
            low = middle + 1;
        else
            high = middle;
        ++*looked_at;
    }
    return low;
}

/* The first place from which on all codes before p share `depth` bits: doubling steps, then a
 * binary search. */
static size_t reach_down(const codec_ordered_index *index, const uint64_t *query, size_t p,
                         size_t depth, size_t *looked_at) {
    size_t step = 1, in = p; /* all of in .. p - 1 share them */
    while (in >= step && shared(index, query, in - step) >= depth) {
        in -= step;
        step *= 2;
        ++*looked_at;
    }
    size_t out = in >= step ? in - step + 1 : 0; /* the answer is out .. in */
    while (out < in) {
        const size_t middle = out + (in - out) / 2;
        if (shared(index, query, middle) >= depth)
            in = middle;
        else
            out = middle + 1;
        ++*looked_at;
    }
    return in;
}

/* One past the last of the codes from p on that share `depth` bits. */
static size_t reach_up(const codec_ordered_index *index, const uint64_t *query, size_t p,
                       size_t depth, size_t *looked_at) {
    size_t step = 1, end = p; /* all of p .. end - 1 share them */
    while (index->n - end >= step && shared(index, query, end + step - 1) >= depth) {
        end += step;
        step *= 2;
        ++*looked_at;
    }
    size_t high =
        index->n - end >= step ? end + step - 1 : index->n; /* the answer is end .. high */
    while (end < high) {
        const size_t middle = end + (high - end) / 2;
        if (shared(index, query, middle) >= depth)
            end = middle + 1;
        else
            high = middle;
        ++*looked_at;
    }
    return end;
}

static codec_neighbourhood around(const codec_ordered_index *index, const uint64_t *query, size_t p,
                                  size_t depth, size_t looked_at) {
    const size_t first = reach_down(index, query, p, depth, &looked_at);
    const size_t end = reach_up(index, query, p, depth, &looked_at);
    return (codec_neighbourhood){first, end - first, depth, looked_at};
}

/* The bits that the ends of the run of `least` codes from i on share with the query. An end on the
 * other side of the query is no bound. */
static size_t low_end(const codec_ordered_index *index, const uint64_t *query, size_t p, size_t i) {
    return i < p ? shared(index, query, i) : SIZE_MAX;
}
static size_t high_end(const codec_ordered_index *index, const uint64_t *query, size_t p,
                       size_t last) {
    return last >= p ? shared(index, query, last) : SIZE_MAX;
}

codec_neighbourhood codec_index_neighbourhood(const codec_ordered_index *index,
                                              const uint64_t *query, size_t least, size_t deepest) {
    size_t looked_at = 0;
    const size_t p = codec_index_place(index, query, &looked_at);
    size_t low = p > least ? p - least : 0; /* the first possible run */
    size_t high = p < index->n - least ? p : index->n - least;
    const size_t begin = low;
    while (
        low <
        high) { /* find the first run whose low end shares at least as many bits as the high end */
        const size_t i = low + (high - low) / 2;
        if (low_end(index, query, p, i) >= high_end(index, query, p, i + least - 1))
            high = i;
        else
            low = i + 1;
        looked_at += 2;
    }
    size_t depth = 0;
    for (size_t i = low > begin ? low - 1 : low; i <= low; i++) {
        const size_t a = low_end(index, query, p, i);
        const size_t b = high_end(index, query, p, i + least - 1);
        const size_t both = a < b ? a : b;
        if (both > depth && both != SIZE_MAX) depth = both;
        looked_at += 2;
    }
    return around(index, query, p, depth < deepest ? depth : deepest, looked_at);
}

codec_neighbourhood codec_index_neighbourhood_plain(const codec_ordered_index *index,
                                                    const uint64_t *query, size_t least,
                                                    size_t deepest) {
    for (size_t depth = deepest;; depth--) {
        size_t first = 0, size = 0;
        for (size_t i = 0; i < index->n; i++)
            if (shared(index, query, i) >= depth && !size++) first = i;
        if (size >= least || !depth) return (codec_neighbourhood){first, size, depth, index->n};
    }
}
