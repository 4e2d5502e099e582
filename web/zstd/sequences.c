/* sequences.c -- see sequences.h. */
#include "web/zstd/sequences.h"
#include <string.h>

enum { LITERALS, OFFSETS, MATCHES };

/* Of each kind: the most symbols and the finest table that may be described. */
static const uint8_t most_symbols[3] = {36, 32, 53}, most_log[3] = {9, 8, 9};
static const uint8_t default_log[3] = {6, 5, 6};
static const uint8_t default_symbols[3] = {36, 29, 53};
/* The counts of the predefined tables, in runs: how many times, then which count. */
static const int8_t default_counts[3][20] = {
    {1, 4, 1, 3, 11, 2, 3, 1, 9, 2, 1, 3, 1, 2, 5, 1, 4, -1},
    {6, 1, 3, 2, 15, 1, 5, -1},
    {1, 1, 1, 4, 1, 3, 6, 2, 37, 1, 7, -1},
};

static void make_default(web_fse *table, int kind) {
    int16_t counts[53];
    unsigned n = 0;
    for (const int8_t *run = default_counts[kind]; n < default_symbols[kind]; run += 2)
        for (int i = 0; i < run[0]; i++) counts[n++] = run[1];
    web_fse_make(table, counts, n, default_log[kind]);
}

/* --- tables and numbers at the begin --------------------------------------------------- */

/* Returns the bytes that the table takes, SIZE_MAX if it is illegal. */
static size_t read_table(web_fse *table, int kind, unsigned mode, const uint8_t *from,
                         size_t size) {
    size_t took = 0;
    if (mode == 0) {
        make_default(table, kind);
    } else if (mode == 1) {
        if (!size || from[0] >= most_symbols[kind]) return SIZE_MAX;
        web_fse_constant(table, from[0]);
        took = 1;
    } else if (mode == 2) {
        took = web_fse_read(table, from, size, most_log[kind], most_symbols[kind]);
        if (!took) return SIZE_MAX;
    }
    return table->is_there ? took : SIZE_MAX;
}

/* How many sequences there are. Returns the bytes of the number, 0 if they end early. */
static size_t read_number(const uint8_t *from, size_t size, uint32_t *n) {
    if (!size) return 0;
    const size_t took = from[0] < 128 ? 1 : from[0] < 255 ? 2 : 3;
    if (size < took) return 0;
    *n = took == 1   ? from[0]
         : took == 2 ? (from[0] - 128U) << 8 | from[1]
                     : (from[1] | (uint32_t)from[2] << 8) + 0x7F00;
    return took;
}

/* --- the sequences --------------------------------------------------------------------- */

static uint32_t length_of(unsigned symbol, web_bits *in) {
    if (symbol < 16) return symbol;
    static const uint8_t few[] = {1, 1, 1, 1, 2, 2, 3, 3, 4};
    static const uint8_t least[] = {16, 18, 20, 22, 24, 28, 32, 40, 48};
    if (symbol < 25) return least[symbol - 16] + web_bits_take(in, few[symbol - 16]);
    return (1U << (symbol - 19)) + web_bits_take(in, symbol - 19);
}

static uint32_t match_of(unsigned symbol, web_bits *in) {
    if (symbol < 32) return symbol + 3;
    static const uint8_t few[] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5};
    static const uint8_t least[] = {35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99};
    if (symbol < 43) return least[symbol - 32] + web_bits_take(in, few[symbol - 32]);
    return (1U << (symbol - 36)) + 3 + web_bits_take(in, symbol - 36);
}

/* An offset by its value: 1 to 3 are the last ones, one further after no literals. */
static uint32_t offset_of(uint32_t *last, uint64_t value, uint32_t literals) {
    uint32_t offset;
    if (value > 3) {
        offset = value - 3 > UINT32_MAX ? 0 : (uint32_t)(value - 3);
        last[2] = last[1], last[1] = last[0];
    } else {
        unsigned index = (unsigned)value - (literals ? 1 : 0);
        offset = index == 3 ? last[0] - 1 : last[index];
        if (index > 1) last[2] = last[1];
        if (index > 0) last[1] = last[0];
    }
    return last[0] = offset;
}

static int copy_literals(web_unpacked *to, const web_literals *literals, size_t at, size_t n) {
    if (n > literals->size - at || n > to->room - to->size) return 0;
    memcpy(to->byte + to->size, literals->byte + at, n);
    to->size += n;
    return 1;
}

static int copy_match(web_unpacked *to, uint32_t offset, uint32_t n) {
    if (!offset || offset > to->size || n > to->room - to->size) return 0;
    for (uint8_t *byte = to->byte + to->size, *end = byte + n; byte < end; byte++)
        *byte = *(byte - offset);
    to->size += n;
    return 1;
}

static int unpack_all(web_sequences *s, uint32_t n, const web_literals *literals, web_bits *in,
                      web_unpacked *to) {
    static const uint8_t turns[3] = {LITERALS, MATCHES, OFFSETS};
    unsigned state[3];
    size_t at = 0;
    for (int i = 0; i < 3; i++) state[i] = web_bits_take(in, s->tables[i].log);
    while (n--) {
        const unsigned of = s->tables[OFFSETS].state[state[OFFSETS]].symbol;
        const uint64_t value = ((uint64_t)1 << of) + web_bits_take(in, of);
        const uint32_t match = match_of(s->tables[MATCHES].state[state[MATCHES]].symbol, in);
        const uint32_t length = length_of(s->tables[LITERALS].state[state[LITERALS]].symbol, in);
        for (int i = 0; i < 3 && n; i++)
            state[turns[i]] = web_fse_next(&s->tables[turns[i]], state[turns[i]], in);
        if (in->left < 0 || !copy_literals(to, literals, at, length)) return 0;
        at += length;
        if (!copy_match(to, offset_of(s->offsets, value, length), match)) return 0;
    }
    return in->left == 0 && copy_literals(to, literals, at, literals->size - at);
}

int web_sequences_unpack(web_sequences *s, const web_literals *literals, const uint8_t *from,
                         size_t size, web_unpacked *to) {
    uint32_t n;
    web_bits in;
    size_t at = read_number(from, size, &n);
    if (!at) return 0;
    if (!n) return at == size && copy_literals(to, literals, 0, literals->size);
    if (at == size) return 0;
    const unsigned modes = from[at++];
    if (modes & 3) return 0;
    for (int kind = 0; kind < 3; kind++) {
        size_t took =
            read_table(&s->tables[kind], kind, modes >> (6 - 2 * kind) & 3, from + at, size - at);
        if (took == SIZE_MAX) return 0;
        at += took;
    }
    return web_bits_open(&in, from + at, size - at) && unpack_all(s, n, literals, &in, to);
}
