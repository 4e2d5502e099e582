/* rans.c -- tables of frequencies; see rans.h. */
#include "codec/entropy/rans.h"
#include <string.h>

enum { TOTAL = CODEC_RANS_TOTAL, SYMBOLS = CODEC_RANS_SYMBOLS };

/* Set start and symbol_at from frequency. */
static void lay_out(codec_rans_table *t) {
    uint32_t at = 0;
    for (uint32_t s = 0; s < t->n; s++) {
        t->start[s] = (uint16_t)at;
        memset(t->symbol_at + at, (int)s, t->frequency[s]);
        at += t->frequency[s];
    }
}

static uint32_t largest(const codec_rans_table *t) {
    uint32_t at = 0;
    for (uint32_t s = 1; s < t->n; s++)
        if (t->frequency[s] > t->frequency[at]) at = s;
    return at;
}

void codec_rans_table_make(codec_rans_table *t, const uint32_t count[SYMBOLS]) {
    uint64_t sum = 0;
    memset(t, 0, sizeof *t);
    for (uint32_t s = 0; s < SYMBOLS; s++)
        if (count[s]) sum += count[s], t->n = s + 1;
    if (!sum) return;
    int32_t left = TOTAL;
    for (uint32_t s = 0; s < t->n; s++) {
        uint64_t frequency = (count[s] * (uint64_t)TOTAL + sum / 2) / sum;
        frequency = frequency > CODEC_RANS_MOST ? CODEC_RANS_MOST : frequency;
        t->frequency[s] = (uint16_t)(count[s] && !frequency ? 1 : frequency);
        left -= t->frequency[s];
    }
    for (; left < 0; left++) t->frequency[largest(t)]--; /* rounding errors, up to 1/2 per symbol */
    uint32_t to = largest(t);
    int32_t most_more = CODEC_RANS_MOST - t->frequency[to],
            more = left < most_more ? left : most_more;
    t->frequency[to] = (uint16_t)(t->frequency[to] + more);
    if (left > more) { /* a single symbol: the rest goes to one that does not occur */
        uint32_t other = to ? to - 1 : 1;
        t->frequency[other] = (uint16_t)(t->frequency[other] + left - more);
        if (t->n <= other) t->n = other + 1;
    }
    lay_out(t);
}

void codec_rans_table_write(const codec_rans_table *t, formats_buffer *out) {
    formats_write_u8(out, (uint8_t)t->n);
    for (uint32_t s = 0; s < t->n; s++) formats_write_varint(out, t->frequency[s]);
}

taper_status codec_rans_table_read(codec_rans_table *t, formats_cursor *in, taper_error *error) {
    memset(t, 0, sizeof *t);
    uint32_t n = formats_read_u8(in), sum = 0;
    if (n > SYMBOLS)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: %u symbols of a weight, at most %d are legal", n, SYMBOLS);
    for (uint32_t s = 0; s < n; s++) {
        t->frequency[s] = (uint16_t)formats_read_varint_max(in, CODEC_RANS_MOST);
        sum += t->frequency[s];
    }
    TAPER_TRY(formats_cursor_check(in, "model: frequencies of weights", error));
    if (sum != (n ? TOTAL : 0))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: the frequencies of weights have the sum %u, not %d", sum,
                            TOTAL);
    t->n = n;
    lay_out(t);
    return TAPER_OK;
}
