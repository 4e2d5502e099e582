/* index_merge.c -- taper_index_merge, without holding the codes in memory; see taper_index.h.
 *
 * A first pass over the codes records the source of each code of the result, one byte each. Every
 * part of the file is then written by following this record. */
#include "formats/merge_names.h"
#include "codec/search/index.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_SOURCES = 256, PIECE = 1 << 16 };

typedef struct merging {
    const taper_index *const *from;
    size_t n;
    taper_part part; /* of a set that the result has; .parts 0: none */
    size_t codes;    /* of all sources */
    uint8_t *source; /* [codes] the source of each code, in order */
    size_t at[MOST_SOURCES];
    formats_index_writer writer;
    uint8_t *piece; /* [PIECE] output buffer */
    size_t filled;
} merging;

/* --- merging ---------------------------------------------------------------------------- */

/* Nonzero if the next code of source a comes before that of b. Of equal codes, that of the lower
 * source does. */
static int comes_first(const merging *m, size_t a, size_t b, uint64_t *code) {
    const codec_ordered_index *left = &m->from[a]->order, *right = &m->from[b]->order;
    const uint64_t x = left->layer[0][m->at[a]], y = right->layer[0][m->at[b]];
    if (x != y) return x < y;
    codec_index_code(left, m->at[a], code);
    codec_index_code(right, m->at[b], code + left->words);
    const int order = codec_bits_compare(code, code + left->words, left->words);
    return order ? order < 0 : a < b;
}

/* A heap of the sources with remaining codes: no next code comes before its parent's. */
typedef struct source_heap {
    size_t source[MOST_SOURCES], n;
    uint64_t *code; /* two codes, to compare */
} source_heap;

/* Restore the heap below the source at a place. */
static void sink_down(const merging *m, source_heap *h, size_t at) {
    const size_t moved = h->source[at];
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && comes_first(m, h->source[child + 1], h->source[child], h->code))
            child++;
        if (!comes_first(m, h->source[child], moved, h->code)) break;
        h->source[at] = h->source[child];
    }
    h->source[at] = moved;
}

static taper_status choose(merging *m) {
    source_heap h = {.n = m->n, .code = malloc(2 * m->from[0]->order.words * sizeof *h.code)};
    if (!h.code) return TAPER_ERR_NOMEM;
    for (size_t s = 0; s < m->n; s++) h.source[s] = s; /* each has at least one code */
    for (size_t s = m->n; s--;) sink_down(m, &h, s);
    for (size_t i = 0; i < m->codes; i++) {
        const size_t best = h.source[0];
        m->source[i] = (uint8_t)best;
        if (++m->at[best] == m->from[best]->order.n) h.source[0] = h.source[--h.n];
        if (h.n) sink_down(m, &h, 0);
    }
    free(h.code);
    return TAPER_OK;
}

/* --- writing ---------------------------------------------------------------------------- */

static void flush(merging *m) {
    formats_index_put(&m->writer, m->piece, m->filled);
    m->filled = 0;
}

static void put(merging *m, const void *bytes, size_t n) {
    if (m->filled + n > PIECE) flush(m);
    if (n > PIECE) {
        formats_index_put(&m->writer, bytes, n);
        return;
    }
    memcpy(m->piece + m->filled, bytes, n);
    m->filled += n;
}

static taper_status put_table(merging *m, uint32_t bits) {
    const size_t entries = ((size_t)1 << bits) + 1;
    uint32_t *start = calloc(entries, sizeof *start);
    if (!start) return TAPER_ERR_NOMEM;
    for (size_t s = 0; s < m->n; s++)
        codec_index_count(m->from[s]->order.layer[0], m->from[s]->order.n, bits, start);
    codec_index_sum(bits, start);
    formats_index_put(&m->writer, start, entries * sizeof *start);
    free(start);
    return TAPER_OK;
}

static void put_codes(merging *m) {
    const codec_ordered_index *any = &m->from[0]->order;
    for (size_t l = 0; l < any->layers; l++) {
        const size_t width = codec_index_layer_words(any->words, l);
        memset(m->at, 0, sizeof m->at);
        for (size_t i = 0; i < m->codes; i++) {
            const size_t s = m->source[i];
            put(m, m->from[s]->order.layer[l] + m->at[s]++ * width, width * sizeof(uint64_t));
        }
    }
    flush(m);
}

static void put_images(merging *m) {
    uint32_t before[MOST_SOURCES] = {0};
    for (size_t s = 1; s < m->n; s++) before[s] = before[s - 1] + (uint32_t)m->from[s - 1]->order.n;
    memset(m->at, 0, sizeof m->at);
    for (size_t i = 0; i < m->codes; i++) {
        const size_t s = m->source[i];
        const uint32_t image = m->from[s]->cascade.image[m->at[s]++] + before[s];
        put(m, &image, sizeof image);
    }
    flush(m);
}

/* --- the merge -------------------------------------------------------------------------- */

static taper_status join_texts(const taper_index *const *from, size_t n, formats_front *result,
                               taper_error *error) {
    formats_front *shard = malloc(n * sizeof *shard);
    if (!shard) return TAPER_ERR_NOMEM;
    for (size_t s = 0; s < n; s++) shard[s] = from[s]->file.set; /* borrowed */
    taper_status status = formats_merge_names(shard, n, result, error);
    if (!status) status = formats_merge_labels(shard, n, result, error);
    free(shard);
    return status;
}

/* Write the most cautious of the sources' measurements: the largest shares and the lowest recalls.
 * (Neighbours in another source were not measured.) The recalls of small sources, which are
 * searched exactly, are 1; a search never uses less effort than for a normal distribution. */
static void put_measured(merging *m, const formats_index_header *h) {
    const size_t shares = 2 * m->from[0]->order.layers;
    float share[2 * CODEC_INDEX_MOST_LAYERS] = {0}, recall[FORMATS_INDEX_EFFORTS];
    for (size_t e = 0; e < FORMATS_INDEX_EFFORTS; e++) recall[e] = 1;
    for (size_t s = 0; s < m->n; s++) {
        const taper_index *from = m->from[s];
        for (size_t l = 0; l < shares; l++) share[l] = fmaxf(share[l], from->cascade.share[l]);
        for (size_t e = 0; e < FORMATS_INDEX_EFFORTS; e++)
            recall[e] = fminf(recall[e], from->recall[e]);
    }
    formats_index_put(&m->writer, share, formats_index_size(h, FORMATS_INDEX_SHARES));
    formats_index_put(&m->writer, recall, formats_index_size(h, FORMATS_INDEX_RECALLS));
}

static taper_status write_all(merging *m, const formats_index_header *h, const taper_sink *to,
                              const formats_buffer *names, const formats_buffer *labels,
                              taper_error *error) {
    formats_index_begin(&m->writer, h, &m->part, to);
    formats_index_put(&m->writer, m->from[0]->cascade.weight,
                      formats_index_size(h, FORMATS_INDEX_WEIGHTS));
    put_measured(m, h);
    if (put_table(m, h->table_bits))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to join indexes of %zu codes",
                            m->codes);
    put_codes(m);
    put_images(m);
    formats_index_put(&m->writer, names->data, names->size);
    formats_index_put(&m->writer, labels->data, labels->size);
    return formats_index_end(&m->writer);
}

static taper_status merge(merging *m, const taper_sink *to, taper_error *error) {
    formats_index_header h = m->from[0]->file.header;
    formats_front texts = {.images = (uint32_t)m->codes, .account = {.limit = UINT64_MAX}};
    formats_buffer names = {0}, labels = {0};
    h.codes = m->codes;
    h.table_bits = codec_index_table_bits(m->codes);
    m->source = malloc(m->codes);
    m->piece = malloc(PIECE);
    taper_status status = m->source && m->piece ? choose(m) : TAPER_ERR_NOMEM;
    if (!status) status = join_texts(m->from, m->n, &texts, error);
    if (!status) status = formats_index_texts(&texts, &h, &names, &labels, error);
    if (status == TAPER_ERR_NOMEM)
        formats_fail(error, status, "no memory to join indexes of %zu codes", m->codes);
    if (!status) status = write_all(m, &h, to, &names, &labels, error);
    formats_buffer_free(&names);
    formats_buffer_free(&labels);
    formats_front_free(&texts);
    free(m->source);
    free(m->piece);
    return status;
}

taper_status taper_index_merge_part(const taper_index *const *from, size_t n,
                                    const taper_part *part, const taper_sink *to,
                                    taper_error *error) {
    uint64_t codes = 0;
    TAPER_TRY(formats_need_sink(to, error));
    TAPER_TRY(formats_need(from, "the indexes", error));
    if (n < 1 || n > MOST_SOURCES)
        return formats_fail(error, TAPER_ERR_ARG, "%zu indexes to be joined: 1 to %d may be", n,
                            (int)MOST_SOURCES);
    TAPER_TRY(codec_index_match(from, n, &codes, error));
    merging m = {.from = from, .n = n, .codes = (size_t)codes};
    TAPER_TRY(codec_index_take_part(&m.part, part, codes, error));
    return merge(&m, to, error);
}

taper_status taper_index_merge(const taper_index *const *from, size_t n, const taper_sink *to,
                               taper_error *error) {
    return taper_index_merge_part(from, n, NULL, to, error);
}
