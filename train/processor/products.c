/* products.c -- matrix products, biases and activations; see train/device/operations.h. */
#include "formats/bytes.h"
#include "codec/backend/simd.h"
#include "train/device/elements.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

taper_status train_plain_gemm(train_stream *s, int transpose_a, int transpose_b, size_t m, size_t n,
                              size_t k, const float *a, const float *b, float beta, float *c) {
    codec_backend *be = train_processor_backend(s);
    TAPER_TRY(train_processor_begin(s));
    taper_status status = be->ops->gemm(be, transpose_a, transpose_b, m, n, k, a, b, beta, c);
    train_processor_end(s);
    return status;
}

/* --- sums of products of columns ------------------------------------------------------- */

/* A slab of rows is packed into strips of STRIP columns; each pair of strips is one task. */
enum { STRIP = 128, SLAB = 4 * TRAIN_GRAM_ROWS };

typedef struct gram_task {
    codec_backend alone; /* for the products of a task, on the calling thread */
    size_t rows, width;  /* of the slab */
    const float *x;
    float *strips; /* strip i: [rows][its columns], at rows * i * STRIP */
    float step;
    double *gram;
    atomic_int failed; /* TAPER_ERR_NOMEM */
} gram_task;

static size_t columns_of(const gram_task *t, size_t strip) {
    return formats_smaller(STRIP, t->width - strip * STRIP);
}

static void pack_strip(void *context, size_t strip) {
    const gram_task *t = context;
    size_t columns = columns_of(t, strip), first = strip * STRIP;
    for (size_t r = 0; r < t->rows; r++)
        memcpy(t->strips + t->rows * first + r * columns, t->x + r * t->width + first,
               columns * sizeof *t->x);
}

/* gram[i][j] += sum[i][j]; for a strip with itself only j <= i. */
CODEC_CLONES static void add_sums(const gram_task *t, size_t n, size_t columns, int triangle,
                                  const float *sum, double *gram) {
    for (size_t i = 0; i < n; i++) {
        size_t end = triangle ? i + 1 : columns;
        for (size_t j = 0; j < end; j++)
            gram[i * t->width + j] += train_gram_part(sum[i * columns + j], t->step);
    }
}

static void multiply_strips(void *context, size_t pair) {
    gram_task *t = context;
    float sum[STRIP * STRIP];
    size_t i = 0;
    while (pair > i) pair -= ++i; /* pairs are numbered by rows of the triangle */
    size_t j = pair, n = columns_of(t, i), columns = columns_of(t, j);
    const float *a = t->strips + t->rows * i * STRIP, *b = t->strips + t->rows * j * STRIP;
    for (size_t r = 0; r < t->rows; r += TRAIN_GRAM_ROWS) {
        size_t rows = formats_smaller(TRAIN_GRAM_ROWS, t->rows - r);
        taper_status status = t->alone.ops->gemm(&t->alone, 1, 0, n, columns, rows, a + r * n,
                                                 b + r * columns, 0.0f, sum);
        if (status != TAPER_OK) {
            atomic_store(&t->failed, status);
            return;
        }
        add_sums(t, n, columns, i == j, sum, t->gram + i * STRIP * t->width + j * STRIP);
    }
}

taper_status train_plain_add_gram(train_stream *s, size_t rows, size_t width, const float *x,
                                  float step, double *gram) {
    gram_task t = {
        .alone = *train_processor_backend(s), .width = width, .step = step, .gram = gram};
    size_t strips = (width + STRIP - 1) / STRIP, pairs = strips * (strips + 1) / 2;
    taper_status status = TAPER_OK;
    if (!rows || !width) return TAPER_OK;
    t.alone.pool = NULL;
    t.strips = malloc(formats_smaller(rows, SLAB) * width * sizeof *t.strips);
    if (!t.strips) return TAPER_ERR_NOMEM;
    for (size_t r = 0; r < rows && status == TAPER_OK; r += SLAB) {
        t.rows = formats_smaller(SLAB, rows - r), t.x = x + r * width;
        status = train_processor_run(s, pack_strip, &t, strips);
        if (status == TAPER_OK) status = train_processor_run(s, multiply_strips, &t, pairs);
        if (status == TAPER_OK) status = (taper_status)atomic_load(&t.failed);
    }
    free(t.strips);
    return status;
}

/* --- biases ---------------------------------------------------------------------------- */

taper_status train_plain_bias(train_stream *s, size_t rows, size_t width, const float *bias,
                              codec_activation activation, float *y) {
    codec_backend *be = train_processor_backend(s);
    TAPER_TRY(train_processor_begin(s));
    taper_status status = be->ops->bias(be, rows, width, bias, activation, y);
    train_processor_end(s);
    return status;
}

taper_status train_plain_affine(train_stream *s, const train_affine *l) {
    TAPER_TRY(train_plain_gemm(s, l->transpose_a, l->transpose_b, l->m, l->n, l->k, l->a, l->b,
                               l->beta, l->c));
    return train_plain_bias(s, l->m, l->n, l->bias, l->activation, l->c);
}

/* --- gradients, by blocks of columns --------------------------------------------------- */

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

taper_status train_plain_weight_gradient(train_stream *s, const train_weight_gradient *g) {
    float *summed = (float *)(g->of_b ? g->b : g->a); /* CODEC_LINEAR does not write to it */
    if (g->sums)
        TAPER_TRY(train_plain_bias_backward(s, g->rows, g->of_b ? g->n : g->m, CODEC_LINEAR, NULL,
                                            summed, 1, g->sums));
    return train_plain_gemm(s, 1, 0, g->m, g->n, g->rows, g->a, g->b, 1.0f, g->c);
}
