/* model_files.c -- see model_files.h. The numbers of the headings are sections of SPEC.md. */
#include "../pictures.h"
#include "codec/entropy/weights_coder.h"
#include "formats/model_file.h"
#include "model_files.h"
#include <stdio.h>
#include <string.h>

enum { WIDTH = 6 /* of hidden layers */ };

typedef struct writer {
    const model_recipe *m;
    formats_buffer *out;
    uint64_t seed;
    uint32_t inputs, passes;
} writer;

int32_t conformance_draw(uint64_t *state, int32_t most) {
    return (int32_t)(picture_random(state) >> 33) % (2 * most + 1) - most;
}

uint32_t conformance_below(uint64_t *state, uint32_t below) {
    return (uint32_t)(picture_random(state) >> 33) % below;
}

static void put_f32(formats_buffer *out, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    formats_write_u32le(out, bits);
}

/* 2^-shift */
static float power(uint32_t shift) {
    uint32_t bits = (127 - shift) << 23;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int is(const writer *w, model_fault fault) { return w->m->fault == fault; }

/* --- 3.4: frames ------------------------------------------------------------------------- */

enum { RAW, REPEATED, MOST_OF_A_BLOCK = 100000, LEAST_RUN = 8 };

static void put_block(int last, int kind, const uint8_t *bytes, size_t n, formats_buffer *out) {
    uint32_t head = (uint32_t)last | (uint32_t)kind << 1 | (uint32_t)n << 3;
    for (int i = 0; i < 3; i++) formats_write_u8(out, (uint8_t)(head >> 8 * i));
    formats_write_bytes(out, bytes, kind == REPEATED ? 1 : n);
}

static size_t run_at(const uint8_t *bytes, size_t n) {
    size_t run = 0;
    while (run < n && run < MOST_OF_A_BLOCK && bytes[run] == bytes[0]) run++;
    return run;
}

void plain_zstd_frame(const uint8_t *bytes, size_t n, formats_buffer *out) {
    formats_write_u32le(out, 0xFD2FB528u);
    formats_write_u8(out, 0xA0); /* one segment, its size in four bytes */
    formats_write_u32le(out, (uint32_t)n);
    if (!n) put_block(1, RAW, bytes, 0, out);
    for (size_t at = 0, next; at < n; at = next) {
        size_t run = run_at(bytes + at, n - at);
        int kind = run >= LEAST_RUN ? REPEATED : RAW;
        next = at + (kind == RAW ? 0 : run);
        while (kind == RAW && next < n && next - at < MOST_OF_A_BLOCK &&
               run_at(bytes + next, n - next) < LEAST_RUN)
            next++;
        put_block(next == n, kind, bytes + at, next - at, out);
    }
}

/* --- 6.4: matrices ----------------------------------------------------------------------- */

/* The integers q, whose rows have these shifts. */
static void put_matrix(const writer *w, const int32_t *q, const uint32_t *shift, uint32_t rows,
                       uint32_t columns, uint32_t width) {
    float *step = malloc(rows * sizeof *step),
          *weight = malloc((size_t)rows * columns * sizeof *weight);
    if (!step || !weight) abort();
    for (uint32_t r = 0; r < rows; r++) {
        step[r] = power(shift[r]);
        for (uint32_t c = 0; c < columns; c++)
            weight[r * columns + c] = (float)q[r * columns + c] * step[r];
    }
    if (codec_weights_write(weight, rows, columns, width, step, w->out) != TAPER_OK) abort();
    free(step), free(weight);
}

/* A random one: weights to `most`, row r with the shift least + r mod range. */
static void put_random(writer *w, uint32_t rows, uint32_t columns, int32_t most, uint32_t least,
                       uint32_t range, uint32_t width) {
    int32_t *q = calloc((size_t)rows * columns, sizeof *q);
    uint32_t *shift = calloc(rows, sizeof *shift);
    if (!q || !shift) abort();
    for (uint32_t r = 0; r < rows; r++) {
        shift[r] = least + r % range;
        for (uint32_t c = 0; c < columns; c++)
            q[r * columns + c] = conformance_draw(&w->seed, most);
    }
    put_matrix(w, q, shift, rows, columns, width);
    free(q), free(shift);
}

/* --- 6.2: architecture ------------------------------------------------------------------- */

static uint8_t flags_of(const writer *w) {
    const model_recipe *m = w->m;
    int tied = !m->direct && !m->stores_analysis;
    return (uint8_t)(is(w, FLAGS) ? 0x81
                     : is(w, DIRECT_TIED)
                         ? 3
                         : tied | (m->direct != 0) << 1 | (m->binary != 0) << 2 |
                               (m->tied_stacks != 0) << 3 | (m->conditional != 0) << 4 |
                               (m->head != 0) << 5 | (m->lap != 0) << 6 |
                               (m->feedback || is(w, FEEDBACK_REAL)) << 7 |
                               is(w, CONDITIONAL_EMBEDDING) << 4);
}

/* In sixteenths: near the unit matrix, and with an inverse. */
static void put_lap(writer *w) {
    uint32_t reach = w->m->lap;
    formats_write_u8(w->out, (uint8_t)(is(w, LAP_REACH) ? 3 : reach));
    for (uint32_t r = 0; r < reach; r++)
        for (uint32_t c = 0; c < reach; c++) {
            int v = r == c ? 4 : conformance_draw(&w->seed, 1);
            if (is(w, LAP_INVERSE)) v = 4;
            formats_write_u16le(w->out, (uint16_t)(int16_t)(1024 * v));
        }
}

static void put_architecture(writer *w) {
    const model_recipe *m = w->m;
    formats_buffer *out = w->out;
    formats_write_u8(out, (uint8_t)(is(w, FAMILY) ? 7 : m->family));
    formats_write_u8(out, (uint8_t)(is(w, CHANNELS) ? 2 : m->channels));
    formats_write_u16le(out, (uint16_t)(is(w, WINDOW) ? 0 : m->width - is(w, ODD_WINDOW)));
    formats_write_u16le(out, (uint16_t)m->height);
    formats_write_u16le(out, (uint16_t)(is(w, UNITS) ? w->inputs + 1 : m->units));
    formats_write_u8(out, flags_of(w));
    formats_write_u8(out, (uint8_t)(is(w, ACTIVATION) ? 3 : m->activation));
    formats_write_u8(out, is(w, ACTIVATED_BITS) ? 2 : 0);
    if (m->tied_stacks) put_f32(out, is(w, GAIN) ? 1e30f : 2);
    for (int stack = 0; stack < 2; stack++) {
        uint32_t depth = is(w, NO_STACKS) || (stack && m->embedding) ? 0 : m->depth;
        formats_write_u8(out, (uint8_t)(is(w, DEPTH) ? 9 : depth));
        for (uint32_t l = 0; l + 1 < depth; l++) formats_write_u32le(out, WIDTH);
    }
    if (m->lap) put_lap(w);
}

/* --- 6.3: network ------------------------------------------------------------------------ */

static void put_biases(writer *w, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) put_f32(w->out, (float)conformance_draw(&w->seed, 20) / 4);
}

static void put_stack(writer *w, uint32_t inputs, uint32_t outputs, int without_weights) {
    for (uint32_t l = 0; l < w->m->depth; l++) {
        uint32_t n = l + 1 < w->m->depth ? WIDTH : outputs;
        if (!without_weights) put_random(w, n, inputs, 7, w->m->binary ? 0 : 3, 2, 1);
        put_biases(w, n);
        inputs = n;
    }
}

/* Strictly lower triangular. */
static void put_triangle(writer *w, int most) {
    uint32_t n = w->m->units;
    int32_t *q = calloc((size_t)n * n, sizeof *q);
    uint32_t *shift = malloc(n * sizeof *shift);
    if (!q || !shift) abort();
    for (uint32_t k = 0; k < n; k++) {
        shift[k] = 1 + k % 2;
        for (uint32_t j = 0; j < k; j++) q[k * n + j] = conformance_draw(&w->seed, most);
    }
    if (is(w, DIAGONAL)) q[4 * n + 4] = 1;
    if (is(w, ABOVE)) q[n - 1] = -1;
    put_matrix(w, q, shift, n, n, 1);
    free(q), free(shift);
}

static void put_network(writer *w) {
    const model_recipe *m = w->m;
    for (uint32_t i = 0; i < w->inputs; i++)
        formats_write_u16le(w->out, (uint16_t)(16 * (450 + conformance_draw(&w->seed, 60))));
    size_t at = w->out->size;
    if (!m->direct) put_random(w, m->units, w->inputs, 24, 5, 2, m->width);
    if (is(w, WEIGHT_STEP)) formats_set_u32le(w->out->data + at, 0x7FC00000); /* NaN */
    if (is(w, WEIGHT_SUM)) w->out->data[at + 4 * m->units + 1]++; /* the first frequency */
    if (is(w, WEIGHT_STATE)) w->out->data[w->out->size - 6] ^= 1; /* before its plain bits */
    if (m->stores_analysis) put_random(w, m->units, w->inputs, 9, 5, 1, m->width);
    put_stack(w, w->inputs, m->units, 0);
    if (!m->embedding) put_stack(w, m->units, w->inputs, m->tied_stacks);
    if (m->feedback) put_triangle(w, 9), put_triangle(w, 3);
}

/* --- 6.5: code tables -------------------------------------------------------------------- */

/* The last unit is never sent, where there are many. */
static uint32_t planes_of(const model_recipe *m, uint32_t u) {
    uint32_t fewer = u / 3;
    if (u > 3 && u + 1 == m->units) return 0;
    return fewer < m->planes ? m->planes - fewer : 1;
}

static int32_t log_scale_of(writer *w, uint32_t u) {
    int32_t whole = 16 * ((int32_t)planes_of(w->m, u) - 1);
    if (w->m->scales == 2) return 120 + 7 * (int32_t)u;
    if (w->m->scales == 3) whole -= 100;
    return whole + (w->m->scales ? conformance_draw(&w->seed, 20) : 0);
}

/* Slopes of a unit; counts the passes. */
static void put_slopes(writer *w, uint32_t u) {
    static const uint8_t falls[] = {0, 0, 3, 5, 9};
    uint32_t parts = w->m->fractions ? w->m->fractions : 1, n = planes_of(w->m, u) * parts;
    uint32_t rd_slope = 210 - 4 * u, before = 0;
    for (uint32_t i = 0; i < n; i++) {
        rd_slope -= i % parts ? falls[conformance_below(&w->seed, 5)] : 11;
        w->passes += i == 0 || i % parts == 0 || rd_slope != before;
        before = rd_slope;
        formats_write_u8(w->out, (uint8_t)(is(w, SLOPES) && i == 1 ? 255 : rd_slope));
    }
}

static void put_layers(writer *w) {
    uint32_t middle = w->passes / 2, end = w->passes - is(w, LAST_LAYER);
    formats_write_u8(w->out, is(w, LAYERS) ? 0 : 2);
    formats_write_varint(w->out, middle);
    formats_write_varint(w->out, 10000);
    formats_write_varint(w->out, end);
    formats_write_varint(w->out, 30000);
}

static void put_quantiser(writer *w) {
    const model_recipe *m = w->m;
    formats_buffer *out = w->out;
    uint32_t parts = m->fractions ? m->fractions : 1;
    formats_write_u8(
        out,
        (uint8_t)(is(w, STEP_MODE) ? 8 : m->each_step + 2 * (parts > 1) + 4 * (m->causal != 0)));
    if (parts > 1) {
        formats_write_u8(out, (uint8_t)(is(w, PARTS) ? 5 : parts));
        for (uint32_t i = 0; i + 1 < parts; i++)
            formats_write_u8(out, (uint8_t)(is(w, LEAST) ? 40 : 52 - 4 * i));
    }
    for (uint32_t u = 0; u < (m->each_step ? m->units : 1); u++)
        put_f32(out, is(w, STEP) ? 0 : (u % 2 ? 2 : 4) * (m->steep ? 2048.0f : 1.0f));
    for (uint32_t u = 0; u < m->units; u++)
        formats_write_u8(out, (uint8_t)(is(w, PLANES) ? 16 : planes_of(m, u)));
    for (uint32_t u = 0; u < m->units; u++)
        formats_write_u16le(out, (uint16_t)(int16_t)(is(w, SCALE) ? 1024 : log_scale_of(w, u)));
    for (uint32_t u = 0; u < m->units; u++) put_slopes(w, u);
    put_layers(w);
}

/* least .. least + range - 1; in a plain model all the middle of that. */
static void put_numbers(writer *w, uint32_t n, int32_t least, uint32_t range, int wide) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t more = w->m->plain ? range / 2 : conformance_below(&w->seed, range);
        int32_t v = least + (int32_t)more;
        if (wide)
            formats_write_u16le(w->out, (uint16_t)(int16_t)v);
        else
            formats_write_u8(w->out, (uint8_t)(int8_t)v);
    }
}

static void put_contexts(writer *w) {
    enum {
        RATIO_BINS = 40,
        BANDS = 12,
        CLASSES = 48,
        FEATURES = 8,
        BINS = 96,
        SIGNED = 24 * 4 * 16
    };
    static const int16_t weight[FEATURES] = {90, 40, 60, 10, 2, 1, 1, 30};
    for (int i = 0; i < RATIO_BINS * 4; i++)
        formats_write_u8(w->out,
                         (uint8_t)(w->m->plain ? 96 : 16 * (5 + conformance_below(&w->seed, 6))));
    put_numbers(w, RATIO_BINS, 2, 50, 0);
    for (int i = 0; i < CLASSES * FEATURES; i++)
        formats_write_u16le(
            w->out, (uint16_t)(int16_t)(weight[i % FEATURES] + conformance_draw(&w->seed, 30)));
    put_numbers(w, BANDS, w->m->rare ? -560 : -40, w->m->rare ? 200 : 80, 1); /* significance */
    put_numbers(w, CLASSES - BANDS, -40, 80, 1);
    put_numbers(w, CLASSES * BINS, -20, 41, 0);
    put_numbers(w, SIGNED, -20, 41, 0);
    if (!w->m->causal) return;
    put_numbers(w, 31 * 8, -1100, 2201, 1);
    put_numbers(w, 20 * 96, -40, 81, 0);
}

/* --- 6.6: of a binary model -------------------------------------------------------------- */

static void put_binary_tables(writer *w) {
    put_f32(w->out, is(w, CENTRE) ? 1.5f : 0.5f);
    for (uint32_t u = 0; u < w->m->units; u++)
        formats_write_u8(w->out, (uint8_t)(u % 5 ? 40 + 13 * u : 128));
    w->passes = w->m->units;
    put_layers(w);
}

/* --- 6.7: the conditional model, the head ------------------------------------------------ */

static void put_conditional(writer *w, uint32_t stages, uint32_t kinds) {
    enum { HIDDEN_UNITS = 8 };
    uint32_t units = w->m->units, own = units < 5 ? units : 5, beside = own < 3 ? own : 3;
    uint32_t end = w->passes - 2;
    formats_write_u16le(w->out, is(w, HIDDEN) ? 12 : HIDDEN_UNITS);
    formats_write_u16le(w->out, (uint16_t)(is(w, OWN) ? units + 1 : own));
    formats_write_u16le(w->out, (uint16_t)beside);
    formats_write_varint(w->out, end);
    formats_write_u8(w->out, (uint8_t)stages);
    for (uint32_t s = 1; s < stages; s++)
        formats_write_varint(w->out, is(w, STAGES) ? 0 : (end - 1) / stages - (s == 1) * 2);
    put_random(w, HIDDEN_UNITS, 2 * (own + 8 * beside), is(w, WEIGHT_RANGE) ? 200 : 127, 5, 4, 1);
    put_random(w, 9, HIDDEN_UNITS, 300, is(w, BIAS_STEP), 1, 1);
    put_random(w, stages, HIDDEN_UNITS, 500, 0, 1, 1);
    for (int i = 0; i < 2; i++) {
        put_random(w, HIDDEN_UNITS, HIDDEN_UNITS, 127, 7, 3, 1);
        put_random(w, 1, HIDDEN_UNITS, 500, 0, 1, 1);
    }
    put_random(w, kinds * units, HIDDEN_UNITS, 127, kinds == 1 ? 12 : 9, 4, 1);
    if (kinds > 1) put_random(w, kinds, end, 60, 0, 1, 1);
}

/* --- 6.8: the restoration network -------------------------------------------------------- */

static void put_restoration(writer *w) {
    enum { HIDDEN_UNITS = 8, LAYERS_OF_IT = 3, MOST_OF_BYTES = 63 };
    uint32_t stages = w->m->restore, values = 4 * w->m->channels;
    formats_write_u8(w->out, is(w, RESTORE_KIND) ? 2 : 1);
    formats_write_u8(w->out, is(w, RESTORE_WIDTH) ? 7 : HIDDEN_UNITS);
    formats_write_u8(w->out, LAYERS_OF_IT);
    formats_write_u8(w->out, (uint8_t)stages);
    for (uint32_t s = 1; s < stages; s++)
        formats_write_varint(w->out, is(w, RESTORE_STAGES) ? w->passes + 1 : w->passes / stages);
    put_random(w, stages, HIDDEN_UNITS, 2000, 0, 1, 1);
    int32_t gain[8];
    uint32_t none = 0;
    for (uint32_t s = 0; s < stages; s++)
        gain[s] = is(w, GAINS) ? 65537 : 4096 * (1 + (int32_t)(s % 2));
    put_matrix(w, gain, &none, 1, stages, 1);
    put_random(w, HIDDEN_UNITS, 9 * values, 127, 9, 3, 1);
    put_random(w, HIDDEN_UNITS, 9 * HIDDEN_UNITS, is(w, RESTORE_WEIGHTS) ? 127 : MOST_OF_BYTES, 9,
               3, 1);
    put_random(w, 1, HIDDEN_UNITS, 2000, 0, 1, 1);
    put_random(w, values, 9 * HIDDEN_UNITS, MOST_OF_BYTES, 13, 2, 1);
    put_random(w, 1, values, 200, 0, 1, 1);
}

/* --- 6.9: the record of an embedding model ----------------------------------------------- */

static void put_record(writer *w) {
    formats_buffer *out = w->out;
    const char *objective = is(w, OBJECTIVE_LETTER)   ? "dt_nca"
                            : is(w, OBJECTIVE_LENGTH) ? "a-name-of-32-letters-is-too-long"
                                                      : "dt-nca";
    formats_write_bytes(out, objective, strlen(objective) + 1);
    if (is(w, ALPHA_NAN))
        formats_write_u32le(out, 0x7FC00000);
    else
        put_f32(out, is(w, ALPHA_NEGATIVE) ? -1.0f : (float)w->m->units - 1);
    formats_write_u32le(out, is(w, ONE_CLASS) ? 1 : is(w, MANY_CLASSES) ? (1 << 20) + 1 : 10);
    while (out->size < FORMATS_MODEL_LEAST) formats_write_u8(out, 0);
    if (is(w, PADDING)) out->data[out->size - 1] = 1;
    if (is(w, PADDING_MORE)) formats_write_u8(out, 0);
}

/* --- 6.1: envelope ----------------------------------------------------------------------- */

static void put_envelope(const writer *w, const formats_buffer *payload, formats_buffer *out) {
    enum { HEAD = 40 };
    size_t start = out->size;
    uint8_t head[HEAD] = {0x89, 'T', 'P', 'M', 13, 10, 26, 10};
    formats_buffer frame = formats_buffer_make(1 << 20);
    plain_zstd_frame(payload->data, payload->size, &frame);
    if (is(w, BAD_MAGIC)) head[1] = 'X';
    formats_set_u16le(head + 8, is(w, VERSION_0)   ? 0
                                : is(w, VERSION_2) ? 2
                                : is(w, VERSION_4) ? 4
                                                   : FORMATS_MODEL_VERSION);
    head[10] = is(w, RESERVED);
    formats_set_u64le(head + 16, frame.size);
    formats_set_u64le(head + 24, payload->size);
    formats_set_u64le(head + 32, formats_model_id(payload->data, payload->size) ^ is(w, ID));
    formats_set_u32le(head + 12, formats_crc32c(0, head, HEAD) ^ is(w, HEADER_CHECKSUM));
    formats_write_bytes(out, head, HEAD);
    formats_write_bytes(out, frame.data, frame.size);
    if (is(w, TRAILING)) formats_write_u8(out, 0);
    if (is(w, CUT)) out->size--;
    if (out->status != TAPER_OK || out->size < start) abort();
    formats_buffer_free(&frame);
}

void model_file_make(const model_recipe *m, formats_buffer *out) {
    formats_buffer payload = formats_buffer_make(1 << 20);
    writer w = {m, &payload, formats_crc32c(0, m->name, strlen(m->name)) + 1ull,
                m->channels * m->width * m->height, 0};
    put_architecture(&w);
    put_network(&w);
    if (m->embedding) {
        put_record(&w);
    } else if (m->binary) {
        put_binary_tables(&w);
    } else {
        put_quantiser(&w);
        put_contexts(&w);
    }
    if (m->conditional) put_conditional(&w, m->conditional, 3);
    if (m->head) put_conditional(&w, m->head, 1);
    if (m->restore) put_restoration(&w);
    if (is(&w, MORE)) formats_write_u8(&payload, 0);
    put_envelope(&w, &payload, out);
    formats_buffer_free(&payload);
}
