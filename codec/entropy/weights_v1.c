/* weights_v1.c -- matrices of models of versions 1 and 2; see weights_coder.h. */
#include "codec/entropy/range_coder.h"
#include "codec/entropy/weights_coder.h"

enum { CLASSES = CODEC_WEIGHT_CLASSES, UNARY = 18, EXP_BITS = 21, P_HALF = 32768 };

typedef struct weight_models {
    codec_bit zero[CLASSES], more[CLASSES][UNARY], exponent[EXP_BITS];
} weight_models;

static void reset_models(weight_models *m) {
    codec_bit *bit = (codec_bit *)m;
    for (size_t i = 0; i < sizeof *m / sizeof *bit; i++) bit[i] = (codec_bit){P_HALF, 0};
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

/* Integers, row after row: to q[rows][columns], or, where weights is given, times their steps to
 * weights by way of q[columns]. */
static taper_status read_rows(int32_t *q, float *weights, const float *step, uint32_t rows,
                              uint32_t columns, uint32_t width, codec_rc_decoder *rc,
                              taper_error *error) {
    weight_models models;
    reset_models(&models);
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < columns; c++) {
            q[c] = decode_weight(rc, &models, codec_weight_class(q, c, width));
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

taper_status codec_weights_v1_read(int32_t *q, float *weights, const float *step, uint32_t rows,
                                   uint32_t columns, uint32_t width, formats_cursor *in,
                                   taper_error *error) {
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
