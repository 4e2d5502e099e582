/* weights_coder.c -- see weights_coder.h. */
#include "weights_coder.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 12, UNARY = 18, EXP_BITS = 21, P_HALF = 32768 };

typedef struct weight_models {
    codec_bit zero[CLASSES], more[CLASSES][UNARY], exponent[EXP_BITS];
} weight_models;

static void reset_models(weight_models *m) {
    codec_bit *bit = (codec_bit *)m;
    for (size_t i = 0; i < sizeof *m / sizeof *bit; i++) bit[i] = (codec_bit){P_HALF, 0};
}

/* Class of the weighted sum of the magnitudes around column c. */
static uint32_t class_of(const int32_t *row, uint32_t c, uint32_t width) {
    uint32_t near = c ? (uint32_t)abs(row[c - 1]) : 0;
    uint32_t next = c > 1 ? (uint32_t)abs(row[c - 2]) : near;
    uint32_t above = c >= width ? (uint32_t)abs(row[c - width]) : near;
    uint32_t sum = 2 * near + next + 2 * above;
    static const uint16_t edge[CLASSES - 1] = {1, 2, 4, 6, 9, 13, 19, 28, 45, 80, 200};
    uint32_t class = 0;
    while (class < CLASSES - 1 && sum >= edge[class]) class ++;
    return class;
}

static void encode_weight(codec_rc_encoder *rc, weight_models *m, uint32_t class, int32_t v) {
    codec_rc_encode_adaptive(rc, v == 0, &m->zero[class]);
    if (v == 0) return;
    codec_rc_encode(rc, v < 0, P_HALF);
    uint32_t rest = (uint32_t)abs(v) - 1, i = 0;
    for (; i < UNARY; i++) {
        int more = rest > i;
        codec_rc_encode_adaptive(rc, more, &m->more[class][i]);
        if (!more) return;
    }
    rest -= UNARY - 1; /* >= 1: its length in unary, then its bits below the highest */
    uint32_t length = 31 - (uint32_t)__builtin_clz(rest);
    for (i = 0; i < length; i++) codec_rc_encode_adaptive(rc, 1, &m->exponent[i]);
    codec_rc_encode_adaptive(rc, 0, &m->exponent[length]);
    while (length--) codec_rc_encode(rc, (rest >> length) & 1, P_HALF);
}

/* CODEC_WEIGHT_MAX + 1 on an illegal code. */
static int32_t decode_weight(codec_rc_decoder *rc, weight_models *m, uint32_t class) {
    if (codec_rc_decode_adaptive(rc, &m->zero[class])) return 0;
    int negative = codec_rc_decode(rc, P_HALF);
    uint32_t magnitude = 1;
    while (magnitude <= UNARY && codec_rc_decode_adaptive(rc, &m->more[class][magnitude - 1]))
        magnitude++;
    if (magnitude > UNARY) {
        uint32_t length = 0, rest = 1;
        while (length < EXP_BITS && codec_rc_decode_adaptive(rc, &m->exponent[length])) length++;
        if (length == EXP_BITS) return CODEC_WEIGHT_MAX + 1;
        while (length--) rest = rest << 1 | (uint32_t)codec_rc_decode(rc, P_HALF);
        magnitude = UNARY + rest;
    }
    if (magnitude > CODEC_WEIGHT_MAX) return CODEC_WEIGHT_MAX + 1;
    return negative ? -(int32_t)magnitude : (int32_t)magnitude;
}

static void quantise_row(float *row, uint32_t columns, float step, int32_t *q) {
    for (uint32_t c = 0; c < columns; c++) {
        long v = lrintf(row[c] / step);
        q[c] = (int32_t)(v > CODEC_WEIGHT_MAX    ? CODEC_WEIGHT_MAX
                         : v < -CODEC_WEIGHT_MAX ? -CODEC_WEIGHT_MAX
                                                 : v);
        row[c] = (float)q[c] * step;
    }
}

taper_status codec_weights_write(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                                 const float *step, formats_buffer *out) {
    int32_t *q = malloc((size_t)columns * sizeof *q + 1);
    if (!q) return TAPER_ERR_NOMEM;
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t bits;
        memcpy(&bits, &step[r], sizeof bits);
        formats_write_u32le(out, bits);
    }
    formats_buffer string = formats_buffer_make(SIZE_MAX / 2);
    codec_rc_encoder rc;
    weight_models models;
    reset_models(&models);
    codec_rc_encoder_init(&rc, &string);
    for (uint32_t r = 0; r < rows; r++) {
        quantise_row(weights + (size_t)r * columns, columns, step[r], q);
        for (uint32_t c = 0; c < columns; c++)
            encode_weight(&rc, &models, class_of(q, c, width), q[c]);
    }
    codec_rc_encoder_finish(&rc);
    formats_write_varint(out, string.size);
    if (string.status == TAPER_OK) formats_write_bytes(out, string.data, string.size);
    taper_status status = string.status != TAPER_OK ? string.status : out->status;
    formats_buffer_free(&string);
    free(q);
    return status;
}

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

/* Integers, row after row: to q[rows][columns], or, where weights is given, times their steps to
 * weights by way of q[columns]. */
static taper_status read_rows(int32_t *q, float *weights, const float *step, uint32_t rows,
                              uint32_t columns, uint32_t width, codec_rc_decoder *rc,
                              taper_error *error) {
    weight_models models;
    reset_models(&models);
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < columns; c++) {
            q[c] = decode_weight(rc, &models, class_of(q, c, width));
            if (q[c] > CODEC_WEIGHT_MAX)
                return formats_fail(error, TAPER_ERR_CORRUPT,
                                    "model: weight %u of row %u is out of range", c, r);
            if (weights) weights[(size_t)r * columns + c] = (float)q[c] * step[r];
        }
        if (!weights) q += columns;
    }
    return TAPER_OK;
}

/* Could a string of `size` bytes hold this many weights? Each takes a bit of at least 1 / 1419
 * (CODEC_P_MIN), and the last 8 bytes may be trimmed: a guard against short files that are long
 * work. */
static int is_plausible(uint64_t weights, uint64_t size) {
    enum { WEIGHTS_PER_BYTE = 11500, TRIMMED = 16 };
    return weights / WEIGHTS_PER_BYTE <= size + TRIMMED;
}

static taper_status read_matrix(int32_t *q, float *weights, float *step, uint32_t rows,
                                uint32_t columns, uint32_t width, formats_cursor *in,
                                taper_error *error) {
    TAPER_TRY(read_steps(step, rows, in, error));
    size_t size = (size_t)formats_read_varint_max(in, SIZE_MAX / 2);
    const uint8_t *bytes = formats_read_bytes(in, size);
    codec_rc_decoder rc;
    TAPER_TRY(formats_cursor_check(in, "model: weights", error));
    if (!is_plausible((uint64_t)rows * columns, size))
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: %zu bytes cannot hold %llu weights",
                            size, (unsigned long long)rows * columns);
    codec_rc_decoder_init(&rc, bytes, size, 1);
    return read_rows(q, weights, step, rows, columns, width, &rc, error);
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
