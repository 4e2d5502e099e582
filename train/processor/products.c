/* products.c -- matrix products, biases and activations; see train/device/operations.h. */
#include "formats/bytes.h"
#include "codec/backend/simd.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <string.h>

taper_status train_plain_gemm(train_stream *s, int transpose_a, int transpose_b, size_t m, size_t n,
                              size_t k, const float *a, const float *b, float beta, float *c) {
    codec_backend *be = train_processor_backend(s);
    TAPER_TRY(train_processor_begin(s));
    taper_status status = be->ops->gemm(be, transpose_a, transpose_b, m, n, k, a, b, beta, c);
    train_processor_end(s);
    return status;
}

taper_status train_plain_bias(train_stream *s, size_t rows, size_t width, const float *bias,
                              codec_activation activation, float *y) {
    codec_backend *be = train_processor_backend(s);
    TAPER_TRY(train_processor_begin(s));
    taper_status status = be->ops->bias(be, rows, width, bias, activation, y);
    train_processor_end(s);
    return status;
}

/* --- the way back: columns in blocks --------------------------------------------------- */

enum { COLUMN_BLOCK = 64 };

typedef struct bias_task {
    size_t rows, width;
    codec_activation activation;
    const float *y;
    float *dy;
    int add_to;
    float *dbias;
} bias_task;

CODEC_CLONES static void bias_columns_backward(void *context, size_t block) {
    const bias_task *t = context;
    size_t first = block * COLUMN_BLOCK, width = formats_smaller(COLUMN_BLOCK, t->width - first);
    float sum[COLUMN_BLOCK] = {0};
    for (size_t i = 0; i < t->rows; i++) {
        float *dy = t->dy + i * t->width + first;
        const float *y = t->activation == CODEC_LINEAR ? NULL : t->y + i * t->width + first;
        if (t->activation == CODEC_RELU)
            for (size_t j = 0; j < width; j++) dy[j] = y[j] <= 0.0f ? 0.0f : dy[j];
        else if (t->activation == CODEC_LOGISTIC)
            for (size_t j = 0; j < width; j++) dy[j] *= y[j] * (1.0f - y[j]);
        for (size_t j = 0; j < width; j++) sum[j] += dy[j];
    }
    if (t->dbias && t->add_to)
        for (size_t j = 0; j < width; j++) t->dbias[first + j] += sum[j];
    else if (t->dbias)
        memcpy(t->dbias + first, sum, width * sizeof *sum);
}

taper_status train_plain_bias_backward(train_stream *s, size_t rows, size_t width,
                                       codec_activation activation, const float *y, float *dy,
                                       int add_to, float *dbias) {
    bias_task task = {rows, width, activation, y, dy, add_to, dbias};
    return train_processor_run(s, bias_columns_backward, &task,
                               (width + COLUMN_BLOCK - 1) / COLUMN_BLOCK);
}
