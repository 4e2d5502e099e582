/* literals.c -- see literals.h. */
#include "web/zstd/literals.h"
#include <string.h>

enum { MOST_WEIGHTS = 255 };

/* --- the table ------------------------------------------------------------------------- */

/* Weights in FSE codes: two states by turns, until the stream is used up. Returns how many, 0 if
 * the bytes are illegal. */
static unsigned packed_weights(web_fse *table, const uint8_t *from, size_t size, uint8_t *weights) {
    web_bits in;
    unsigned n = 0, state[2];
    size_t start = web_fse_read(table, from, size, 6, WEB_FSE_MOST_SYMBOLS);
    if (!start || !web_bits_open(&in, from + start, size - start)) return 0;
    for (int i = 0; i < 2; i++) state[i] = web_bits_take(&in, table->log);
    if (in.left < 0) return 0;
    while (n < MOST_WEIGHTS - 1) {
        unsigned *s = &state[n & 1];
        weights[n++] = table->state[*s].symbol;
        if (in.left < table->state[*s].bits) {
            weights[n] = table->state[state[n & 1]].symbol;
            return n + 1;
        }
        *s = web_fse_next(table, *s, &in);
    }
    return 0;
}

/* The codes of given weights: shorter for larger ones. The last weight makes the table full. */
static int make_codes(web_huffman *h, uint8_t *weights, unsigned n) {
    uint32_t total = 0, at = 0;
    for (unsigned i = 0; i < n; i++) {
        if (weights[i] > WEB_HUFFMAN_MOST_BITS) return 0;
        total += 1U << weights[i] >> 1;
    }
    const unsigned bits = web_bits_of(total);
    if (!total || bits > WEB_HUFFMAN_MOST_BITS) return 0;
    const uint32_t rest = (1U << bits) - total;
    if (rest & (rest - 1)) return 0;
    weights[n++] = (uint8_t)web_bits_of(rest);
    for (unsigned w = 1; w <= bits; w++)
        for (unsigned i = 0; i < n; i++)
            for (uint32_t k = 0; weights[i] == w && k < 1U << (w - 1); k++, at++)
                h->code[at].symbol = (uint8_t)i, h->code[at].bits = (uint8_t)(bits + 1 - w);
    h->bits = at == 1U << bits ? bits : 0;
    return h->bits != 0;
}

/* Returns the bytes of the table's description, 0 if it is illegal. */
static size_t read_table(web_literals *to, const uint8_t *from, size_t size) {
    uint8_t weights[MOST_WEIGHTS + 1];
    if (!size) return 0;
    unsigned n = from[0] < 128 ? 0 : from[0] - 127U;
    size_t end = 1 + (n ? (n + 1) / 2 : from[0]);
    if (end > size) return 0;
    for (unsigned i = 0; i < n; i++) weights[i] = from[1 + i / 2] >> (i % 2 ? 0 : 4) & 15;
    if (!n) n = packed_weights(&to->weights, from + 1, end - 1, weights);
    return n && make_codes(&to->huffman, weights, n) ? end : 0;
}

/* --- streams --------------------------------------------------------------------------- */

static int read_stream(const web_huffman *h, const uint8_t *from, size_t size, uint8_t *to,
                       size_t n) {
    web_bits in;
    if (!web_bits_open(&in, from, size)) return 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t next = web_bits_peek(&in, h->bits);
        to[i] = h->code[next].symbol;
        in.left -= h->code[next].bits;
    }
    return in.left == 0;
}

static int read_four(const web_literals *l, const uint8_t *from, size_t size, uint8_t *to) {
    const size_t part = (l->size + 3) / 4;
    size_t at = 6, done = 0;
    if (size < at || 3 * part > l->size) return 0;
    for (int i = 0; i < 3; i++, done += part) {
        size_t length = from[2 * i] | (size_t)from[2 * i + 1] << 8;
        if (length > size - at || !read_stream(&l->huffman, from + at, length, to + done, part))
            return 0;
        at += length;
    }
    return read_stream(&l->huffman, from + at, size - at, to + done, l->size - done);
}

/* --- the section of literals ----------------------------------------------------------- */

static uint64_t little_endian(const uint8_t *from, size_t n) {
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static size_t read_stored(web_literals *to, const uint8_t *from, size_t size) {
    static const uint8_t heads[4] = {1, 2, 1, 3}, shifts[4] = {3, 4, 3, 4};
    const unsigned form = from[0] >> 2 & 3, repeated = from[0] & 1;
    const size_t head = heads[form];
    if (size < head) return 0;
    to->size = (size_t)(little_endian(from, head) >> shifts[form]);
    const size_t stored = repeated ? 1 : to->size;
    if (to->size > WEB_ZSTD_BLOCK || stored > size - head) return 0;
    if (repeated)
        memset(to->byte, from[head], to->size);
    else
        memcpy(to->byte, from + head, to->size);
    return head + stored;
}

size_t web_literals_read(web_literals *to, const uint8_t *from, size_t size) {
    static const uint8_t heads[4] = {3, 3, 4, 5}, widths[4] = {10, 10, 14, 18};
    if (!size) return 0;
    const unsigned kind = from[0] & 3, form = from[0] >> 2 & 3, width = widths[form];
    if (kind < 2) return read_stored(to, from, size);
    size_t at = heads[form];
    if (size < at) return 0;
    const uint64_t sizes = little_endian(from, at) >> 4;
    const size_t packed = (size_t)(sizes >> width), end = at + packed;
    to->size = (size_t)(sizes & (((uint64_t)1 << width) - 1));
    if (to->size > WEB_ZSTD_BLOCK || packed > size - at) return 0;
    if (kind == 2) {
        size_t table = read_table(to, from + at, packed);
        if (!table) return 0;
        at += table;
    }
    if (!to->huffman.bits) return 0;
    int good = form ? read_four(to, from + at, end - at, to->byte)
                    : read_stream(&to->huffman, from + at, end - at, to->byte, to->size);
    return good ? end : 0;
}
