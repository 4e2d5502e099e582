/* fse.c -- see fse.h. */
#include "web/zstd/fse.h"

/* Which states have which symbol: rare symbols from the end, the others with a stride. */
static void spread(web_fse *table, const int16_t *counts, unsigned symbols) {
    const unsigned size = 1U << table->log, stride = (size >> 1) + (size >> 3) + 3;
    unsigned high = size, at = 0;
    for (unsigned s = 0; s < symbols; s++)
        if (counts[s] < 0) table->state[--high].symbol = (uint8_t)s;
    for (unsigned s = 0; s < symbols; s++)
        for (int k = 0; k < counts[s]; k++) {
            table->state[at].symbol = (uint8_t)s;
            do at = (at + stride) & (size - 1);
            while (at >= high && high);
        }
}

void web_fse_make(web_fse *table, const int16_t *counts, unsigned symbols, unsigned log) {
    uint16_t seen[WEB_FSE_MOST_SYMBOLS];
    table->log = log, table->is_there = 1;
    spread(table, counts, symbols);
    for (unsigned s = 0; s < symbols; s++) seen[s] = (uint16_t)(counts[s] < 0 ? 1 : counts[s]);
    for (unsigned i = 0; i < 1U << log; i++) {
        web_fse_state *to = &table->state[i];
        uint16_t n = seen[to->symbol]++;
        to->bits = (uint8_t)(log + 1 - web_bits_of(n));
        to->base = (uint16_t)((n << to->bits) - (1U << log));
    }
}

void web_fse_constant(web_fse *table, uint8_t symbol) {
    table->log = 0, table->is_there = 1;
    table->state[0] = (web_fse_state){.symbol = symbol};
}

/* Bits that are read from the front. */
typedef struct forward_bits {
    const uint8_t *data;
    size_t size;
    uint64_t at;
} forward_bits;

static uint32_t peek(const forward_bits *in, unsigned n) {
    uint32_t value = 0;
    size_t first = (size_t)(in->at >> 3);
    for (size_t i = 0; i < 3 && first + i < in->size; i++)
        value |= (uint32_t)in->data[first + i] << 8 * i;
    return value >> (in->at & 7) & ((1U << n) - 1);
}

/* One count plus 1, of those that may still be: 0 to left + 1. Few values take a bit less. */
static unsigned read_count(forward_bits *in, unsigned left) {
    const unsigned width = web_bits_of(left + 1), low = (1U << (width - 1)) - 1;
    const unsigned spare = (1U << width) - 2 - left;
    unsigned value = peek(in, width);
    in->at += width;
    if ((value & low) < spare) {
        value &= low;
        in->at--;
    } else if (value > low) {
        value -= spare;
    }
    return value;
}

/* Zeros that follow a count of 0: two bits a number; 3: three of them, and another number follows.
 * */
static unsigned read_zeros(forward_bits *in) {
    unsigned all = 0, more;
    do {
        more = peek(in, 2);
        in->at += 2;
        all += more;
    } while (more == 3 && all < WEB_FSE_MOST_SYMBOLS);
    return all;
}

size_t web_fse_read(web_fse *table, const uint8_t *from, size_t size, unsigned most_log,
                    unsigned most_symbols) {
    int16_t counts[WEB_FSE_MOST_SYMBOLS] = {0};
    forward_bits in = {from, size, 4};
    if (!size) return 0;
    const unsigned log = (from[0] & 15U) + 5;
    if (log > most_log) return 0;
    unsigned symbols = 0, left = 1U << log;
    while (left) {
        if (symbols >= most_symbols || in.at > 8 * (uint64_t)size) return 0;
        int count = (int)read_count(&in, left) - 1;
        counts[symbols++] = (int16_t)count;
        left -= (unsigned)(count < 0 ? 1 : count);
        if (!count) symbols += read_zeros(&in);
    }
    const uint64_t end = (in.at + 7) / 8;
    if (symbols > most_symbols || end > size) return 0;
    web_fse_make(table, counts, symbols, log);
    return (size_t)end;
}
