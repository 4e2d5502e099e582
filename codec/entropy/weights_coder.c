/* weights_coder.c -- see weights_coder.h. */
#include "codec/entropy/weights_coder.h"
#include "codec/entropy/rans.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLASSES = CODEC_WEIGHT_CLASSES,
    SINGLE = 16,
    SYMBOLS = CODEC_RANS_SYMBOLS,
    MOST_AROUND = 200 /* larger sums have the same class */
};

/* --- classes --------------------------------------------------------------------------- */

/* The weighted sum of the magnitudes around column c. */
static inline uint32_t sum_around(const int32_t *row, uint32_t c, uint32_t width) {
    uint32_t near = c ? (uint32_t)abs(row[c - 1]) : 0;
    uint32_t next = c > 1 ? (uint32_t)abs(row[c - 2]) : near;
    uint32_t above = c >= width ? (uint32_t)abs(row[c - width]) : near;
    return 2 * near + next + 2 * above;
}

static uint32_t class_of(uint32_t sum) {
    static const uint16_t edge[CLASSES - 1] = {1, 2, 4, 6, 9, 13, 19, 28, 45, 80, MOST_AROUND};
    uint32_t class = 0;
    for (int i = 0; i < CLASSES - 1; i++) class += sum >= edge[i];
    return class;
}

/* --- magnitudes as symbols ------------------------------------------------------------- */

/* For a magnitude of SINGLE and above, the highest three bits are the symbol. */
static uint32_t symbol_of(uint32_t magnitude, uint32_t *digits) {
    *digits = 0;
    if (magnitude < SINGLE) return magnitude;
    uint32_t octave = 31 - (uint32_t)__builtin_clz(magnitude);
    *digits = octave - 2;
    return SINGLE + 4 * (octave - 4) + (magnitude >> (octave - 2) & 3);
}

static uint32_t least_of(uint32_t symbol, uint32_t *digits) {
    *digits = 0;
    if (symbol < SINGLE) return symbol;
    *digits = (symbol - SINGLE) / 4 + 2;
    return (4 + (symbol - SINGLE) % 4) << *digits;
}

/* --- plain bits, the lowest of each byte first ------------------------------------------ */

typedef struct bit_writer {
    formats_buffer *out;
    uint64_t waiting;
    uint32_t n;
} bit_writer;

static void put_bits(bit_writer *w, uint32_t value, uint32_t n) {
    w->waiting |= (uint64_t)value << w->n;
    for (w->n += n; w->n >= 8; w->n -= 8, w->waiting >>= 8)
        formats_write_u8(w->out, (uint8_t)w->waiting);
}

typedef struct bit_reader {
    const uint8_t *data;
    uint64_t size, at; /* in bytes; in bits */
} bit_reader;

/* The next n bits, n <= 19; bits after the end are 0. */
static inline uint32_t take_bits(bit_reader *r, uint32_t n) {
    uint64_t byte = r->at / 8, word = 0;
    if (byte + 8 <= r->size)
        word = formats_get_u64le(r->data + byte);
    else
        for (uint64_t i = byte; i < r->size; i++) word |= (uint64_t)r->data[i] << 8 * (i - byte);
    uint32_t value = (uint32_t)(word >> r->at % 8) & ((1u << n) - 1);
    r->at += n;
    return value;
}

/* --- writing --------------------------------------------------------------------------- */

static void quantise_row(float *row, uint32_t columns, float step, int32_t *q) {
    for (uint32_t c = 0; c < columns; c++) {
        long v = lrintf(row[c] / step);
        q[c] = (int32_t)(v > CODEC_WEIGHT_MAX    ? CODEC_WEIGHT_MAX
                         : v < -CODEC_WEIGHT_MAX ? -CODEC_WEIGHT_MAX
                                                 : v);
        row[c] = (float)q[c] * step;
    }
}

/* The class and symbol of a weight. */
typedef struct coded {
    uint8_t class, symbol;
} coded;

/* What is written of a matrix: all symbols, their counts, and the plain bits. */
typedef struct listing {
    coded *symbol; /* [rows][columns] */
    uint32_t (*count)[SYMBOLS];
    bit_writer plain;
} listing;

/* q: temporary, [columns] */
static void list_symbols(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                         const float *step, int32_t *q, listing *l) {
    bit_writer *plain = &l->plain;
    coded *to = l->symbol;
    for (uint32_t r = 0; r < rows; r++) {
        quantise_row(weights + (size_t)r * columns, columns, step[r], q);
        for (uint32_t c = 0; c < columns; c++, to++) {
            uint32_t digits, magnitude = (uint32_t)abs(q[c]);
            *to = (coded){(uint8_t)class_of(sum_around(q, c, width)),
                          (uint8_t)symbol_of(magnitude, &digits)};
            l->count[to->class][to->symbol]++;
            if (magnitude) put_bits(plain, q[c] < 0, 1);
            put_bits(plain, magnitude & ((1u << digits) - 1), digits);
        }
    }
    put_bits(plain, 0, 7);
}

static void write_words(const codec_rans_table *table, const coded *symbols, size_t n,
                        formats_buffer *words, formats_buffer *out) {
    codec_rans_encoder e = {CODEC_RANS_LEAST, words};
    for (size_t i = n; i-- > 0;) codec_rans_encode(&e, &table[symbols[i].class], symbols[i].symbol);
    formats_write_varint(out, words->size / 2);
    formats_write_u32le(out, e.x);
    for (size_t i = words->size; i > 0 && words->status == TAPER_OK; i -= 2)
        formats_write_bytes(out, words->data + i - 2, 2);
}

taper_status codec_weights_write(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                                 const float *step, formats_buffer *out) {
    size_t n = (size_t)rows * columns;
    int32_t *q = malloc((size_t)columns * sizeof *q + 1);
    coded *symbols = malloc(n * sizeof *symbols + 1);
    uint32_t(*count)[SYMBOLS] = calloc(CLASSES, sizeof *count);
    codec_rans_table *table = calloc(CLASSES, sizeof *table);
    formats_buffer words = formats_buffer_make(FORMATS_MOST_BYTES),
                   bits = formats_buffer_make(FORMATS_MOST_BYTES);
    listing listed = {symbols, count, {.out = &bits}};
    taper_status status = q && symbols && count && table ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) {
        for (uint32_t r = 0; r < rows; r++) {
            uint32_t raw;
            memcpy(&raw, &step[r], sizeof raw);
            formats_write_u32le(out, raw);
        }
        list_symbols(weights, rows, columns, width, step, q, &listed);
        for (uint32_t k = 0; k < CLASSES; k++) {
            codec_rans_table_make(&table[k], count[k]);
            codec_rans_table_write(&table[k], out);
        }
        write_words(table, symbols, n, &words, out);
        formats_write_varint(out, bits.size);
        formats_write_bytes(out, bits.data, bits.size);
        status = words.status != TAPER_OK  ? words.status
                 : bits.status != TAPER_OK ? bits.status
                                           : out->status;
    }
    formats_buffer_free(&words), formats_buffer_free(&bits);
    free(q), free(symbols), free(count), free(table);
    return status;
}

/* --- reading --------------------------------------------------------------------------- */

static taper_status read_steps(float *step, uint32_t rows, formats_cursor *in, taper_error *error) {
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t bits = formats_read_u32le(in);
        memcpy(&step[r], &bits, sizeof bits);
        if (!(step[r] > 1e-20f && step[r] < 1e6f)) /* NaN too */
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "model: step of weight row %u is out of range", r);
    }
    return formats_cursor_check(in, "model: weight steps", error);
}

typedef struct strings {
    const codec_rans_table *table; /* [CLASSES] */
    codec_rans_decoder words;
    bit_reader plain;
    uint8_t class_of[MOST_AROUND + 1];
    uint8_t plain_bits[SYMBOLS]; /* number of sign and digit bits of a symbol */
    uint32_t least[SYMBOLS];
} strings;

static void list_meanings(strings *s) {
    for (uint32_t sum = 0; sum <= MOST_AROUND; sum++) s->class_of[sum] = (uint8_t)class_of(sum);
    for (uint32_t symbol = 0; symbol < SYMBOLS; symbol++) {
        uint32_t digits;
        s->least[symbol] = least_of(symbol, &digits);
        s->plain_bits[symbol] = (uint8_t)(s->least[symbol] ? 1 + digits : 0);
    }
}

/* Nonzero if this number of words can contain this number of weights. A weight has at least 1 /
 * 1419 bit (CODEC_RANS_MOST). This protects against short files that take long to decode. */
static int is_plausible(uint64_t weights, uint64_t words) {
    enum { WEIGHTS_PER_WORD = 23000 };
    return weights / WEIGHTS_PER_WORD <= words + 2;
}

static taper_status read_strings(strings *s, codec_rans_table *table, uint64_t weights,
                                 formats_cursor *in, taper_error *error) {
    for (uint32_t k = 0; k < CLASSES; k++) TAPER_TRY(codec_rans_table_read(&table[k], in, error));
    s->table = table;
    size_t words = (size_t)formats_read_varint_max(in, FORMATS_MOST_BYTES);
    s->words.x = formats_read_u32le(in);
    s->words.next = formats_read_bytes(in, 2 * words);
    size_t bytes = (size_t)formats_read_varint_max(in, FORMATS_MOST_BYTES);
    s->plain = (bit_reader){formats_read_bytes(in, bytes), bytes, 0};
    TAPER_TRY(formats_cursor_check(in, "model: weights", error));
    s->words.end = s->words.next + 2 * words;
    list_meanings(s);
    if (!is_plausible(weights, words))
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: %zu words cannot hold %llu weights",
                            words, (unsigned long long)weights);
    return TAPER_OK;
}

/* Without unpredictable branches, which would take half of the time to load a model. */
static inline int32_t next_weight(strings *s, const codec_rans_table *table) {
    uint32_t symbol = codec_rans_decode(&s->words, table),
             plain = take_bits(&s->plain, s->plain_bits[symbol]);
    int32_t magnitude = (int32_t)(s->least[symbol] + (plain >> 1)), negative = plain & 1;
    return (magnitude ^ -negative) + negative;
}

/* Check that the strings end with the last weight. */
static taper_status check_end(const strings *s, taper_error *error) {
    if (s->words.x == CODEC_RANS_LEAST && s->words.next == s->words.end &&
        (s->plain.at + 7) / 8 == s->plain.size)
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT, "model: weights do not end with their strings");
}

static taper_status read_rows(int32_t *q, float *weights, const float *step, uint32_t rows,
                              uint32_t columns, uint32_t width, strings *s, taper_error *error) {
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < columns; c++) {
            uint32_t around = sum_around(q, c, width);
            const codec_rans_table *table =
                s->table + s->class_of[around < MOST_AROUND ? around : MOST_AROUND];
            q[c] = table->n ? next_weight(s, table) : CODEC_WEIGHT_MAX + 1;
            if (abs(q[c]) > CODEC_WEIGHT_MAX)
                return formats_fail(error, TAPER_ERR_CORRUPT,
                                    "model: weight %u of row %u is out of range", c, r);
            if (weights) weights[(size_t)r * columns + c] = (float)q[c] * step[r];
        }
        if (!weights) q += columns;
    }
    return check_end(s, error);
}

static taper_status read_matrix(int32_t *q, float *weights, float *step, uint32_t rows,
                                uint32_t columns, uint32_t width, formats_cursor *in,
                                taper_error *error) {
    TAPER_TRY(read_steps(step, rows, in, error));
    codec_rans_table *table = malloc(CLASSES * sizeof *table);
    strings s = {0};
    taper_status status =
        table ? read_strings(&s, table, (uint64_t)rows * columns, in, error)
              : formats_fail(error, TAPER_ERR_NOMEM, "model: no memory for its weights");
    if (status == TAPER_OK) status = read_rows(q, weights, step, rows, columns, width, &s, error);
    free(table);
    return status;
}

taper_status codec_weights_read_integers(int32_t *q, float *step, uint32_t rows, uint32_t columns,
                                         uint32_t width, formats_cursor *in, taper_error *error) {
    return read_matrix(q, NULL, step, rows, columns, width, in, error);
}

taper_status codec_weights_read(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                                formats_cursor *in, taper_error *error) {
    float *step = malloc((size_t)rows * sizeof *step + 1);
    int32_t *q = malloc((size_t)columns * sizeof *q + 1);
    taper_status status =
        step && q ? read_matrix(q, weights, step, rows, columns, width, in, error)
                  : formats_fail(error, TAPER_ERR_NOMEM, "model: no memory for its weights");
    free(step), free(q);
    return status;
}
