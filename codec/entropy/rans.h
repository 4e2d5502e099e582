/* rans.h -- coding symbols of fixed frequencies, of several kinds, in one string: asymmetric
 * numeral systems (Duda 2013, arXiv:1311.2540, section 3: range variants) with a 32-bit state and
 * 16-bit words. A symbol needs one table look-up and one multiplication. The range coder needs one
 * step with an unpredictable branch per bit, but allows adaptive frequencies and prefixes of a
 * string.
 *
 * The state x is at least 2^16. A symbol of frequency f whose range begins at `start` changes it to
 * (x / f) 2^12 + start + x mod f. The reader inverts this. It finds the symbol by x mod 2^12, and
 * reads a word when x falls below 2^16. So the writer codes the last symbol first. */
#ifndef CODEC_RANS_H
#define CODEC_RANS_H
#include "formats/bytes.h"

enum {
    CODEC_RANS_BITS = 12,
    CODEC_RANS_TOTAL = 4096,   /* 2^CODEC_RANS_BITS */
    CODEC_RANS_SYMBOLS = 84,   /* of one kind, at most */
    CODEC_RANS_MOST = 4094,    /* the largest frequency, of TOTAL: no symbol has zero bits */
    CODEC_RANS_LEAST = 1 << 16 /* the smallest state */
};

/* The frequencies of one kind of symbols. n 0: the kind does not occur. */
typedef struct codec_rans_table {
    uint32_t n;
    uint16_t frequency[CODEC_RANS_SYMBOLS], start[CODEC_RANS_SYMBOLS];
    uint8_t symbol_at[CODEC_RANS_TOTAL]; /* by x mod TOTAL */
} codec_rans_table;

/* Choose frequencies for symbols that occur count[i] times. n is one past the last symbol that
 * occurs, or 2 if only the first one does. */
void codec_rans_table_make(codec_rans_table *table, const uint32_t count[CODEC_RANS_SYMBOLS]);
/* The serialised form. read: TAPER_ERR_CORRUPT: a frequency is above CODEC_RANS_MOST, or the sum is
 * not CODEC_RANS_TOTAL. */
void codec_rans_table_write(const codec_rans_table *table, formats_buffer *out);
taper_status codec_rans_table_read(codec_rans_table *table, formats_cursor *in, taper_error *error);

/* The state of the writer. Words are appended in reverse order, the last of the string first. */
typedef struct codec_rans_encoder {
    uint32_t x;
    formats_buffer *words;
} codec_rans_encoder;

static inline void codec_rans_encode(codec_rans_encoder *e, const codec_rans_table *t,
                                     uint32_t symbol) {
    uint32_t f = t->frequency[symbol];
    if (e->x >> (32 - CODEC_RANS_BITS) >= f) {
        formats_write_u16le(e->words, (uint16_t)e->x);
        e->x >>= 16;
    }
    e->x = (e->x / f << CODEC_RANS_BITS) + e->x % f + t->start[symbol];
}

typedef struct codec_rans_decoder {
    uint32_t x;
    const uint8_t *next, *end; /* words */
} codec_rans_decoder;

/* The next symbol. Words after the end are 0, and `next` stays at the end. */
static inline uint32_t codec_rans_decode(codec_rans_decoder *d, const codec_rans_table *t) {
    uint32_t at = d->x & (CODEC_RANS_TOTAL - 1), symbol = t->symbol_at[at];
    d->x = t->frequency[symbol] * (d->x >> CODEC_RANS_BITS) + at - t->start[symbol];
    static const uint8_t nothing[2];
    int is_there = d->next < d->end, is_due = d->x < CODEC_RANS_LEAST; /* avoids branches */
    const uint8_t *from = is_there ? d->next : nothing;
    uint32_t with_word = d->x << 16 | (uint32_t)(from[0] | from[1] << 8);
    d->x = is_due ? with_word : d->x;
    d->next += 2 * (is_due & is_there);
    return symbol;
}

#endif
