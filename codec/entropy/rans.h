/* rans.h -- symbols of fixed frequencies, many kinds of them in one string: asymmetric numeral
 * systems (Duda 2013, arXiv:1311.2540, section 3: range variants) with a state of 32 bits and words
 * of 16. A symbol takes one look-up and one product; the range coder takes a step and an uncertain
 * branch for each of its bits. In return frequencies must be known beforehand, and a string is read
 * whole.
 *
 * The state x is at least 2^16. A symbol of frequency f that begins at `start` takes it to (x / f)
 * 2^12 + start + x mod f. The reader undoes that: it finds the symbol from x mod 2^12, and takes in
 * a word when x falls below 2^16. So the writer goes from the last symbol to the first. */
#ifndef CODEC_RANS_H
#define CODEC_RANS_H
#include "formats/bytes.h"

enum {
    CODEC_RANS_BITS = 12,
    CODEC_RANS_TOTAL = 4096,   /* 2^CODEC_RANS_BITS */
    CODEC_RANS_SYMBOLS = 84,   /* at most, of one kind */
    CODEC_RANS_MOST = 4094,    /* frequency, of TOTAL: no symbol is for nothing */
    CODEC_RANS_LEAST = 1 << 16 /* state */
};

/* One kind of symbols. n 0: does not occur. */
typedef struct codec_rans_table {
    uint32_t n;
    uint16_t frequency[CODEC_RANS_SYMBOLS], start[CODEC_RANS_SYMBOLS];
    uint8_t symbol_at[CODEC_RANS_TOTAL]; /* by x mod TOTAL */
} codec_rans_table;

/* Frequencies for symbols that occur count[i] times: n is one past the last that does, or 2 where
 * the first alone does. */
void codec_rans_table_make(codec_rans_table *table, const uint32_t count[CODEC_RANS_SYMBOLS]);
/* File form. read: TAPER_ERR_CORRUPT for frequencies above MOST or of another sum than TOTAL. */
void codec_rans_table_write(const codec_rans_table *table, formats_buffer *out);
taper_status codec_rans_table_read(codec_rans_table *table, formats_cursor *in, taper_error *error);

/* The writer's step; words are appended to `words` from the last one on. */
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

/* The next symbol. Words beyond the end are 0; next then stays at the end. */
static inline uint32_t codec_rans_decode(codec_rans_decoder *d, const codec_rans_table *t) {
    uint32_t at = d->x & (CODEC_RANS_TOTAL - 1), symbol = t->symbol_at[at];
    d->x = t->frequency[symbol] * (d->x >> CODEC_RANS_BITS) + at - t->start[symbol];
    static const uint8_t nothing[2];
    int is_there = d->next < d->end, is_due = d->x < CODEC_RANS_LEAST; /* without branches */
    const uint8_t *from = is_there ? d->next : nothing;
    uint32_t with_word = d->x << 16 | (uint32_t)(from[0] | from[1] << 8);
    d->x = is_due ? with_word : d->x;
    d->next += 2 * (is_due & is_there);
    return symbol;
}

#endif
