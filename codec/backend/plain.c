/* plain.c -- every operation in readable C: the reference implementation of all backends. */
#include "codec/backend/activation.h"
#include "codec/backend/plain.h"
#include "codec/backend/pool.h"
#include "formats/bytes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- matrix product: columns in panels of PANEL, op(B)'s panel packed once, rows one after anot */

enum { PANEL = 32 };

typedef struct gemm_task {
    int transpose_a, transpose_b;
    size_t m, n, k;
    const float *a, *b;
    float beta;
    float *c;
    float *packed; /* [panels][k][PANEL] */
} gemm_task;

static void pack_panel(const gemm_task *t, size_t first, size_t width, float *panel) {
    memset(panel, 0, t->k * PANEL * sizeof *panel);
    for (size_t p = 0; p < t->k; p++)
        for (size_t j = 0; j < width; j++)
            panel[p * PANEL + j] =
                t->transpose_b ? t->b[(first + j) * t->k + p] : t->b[p * t->n + first + j];
}

static void gemm_panel(void *context, size_t block) {
    const gemm_task *t = context;
    size_t first = block * PANEL, width = formats_smaller(PANEL, t->n - first);
    float *panel = t->packed + block * t->k * PANEL;
    pack_panel(t, first, width, panel);
    for (size_t i = 0; i < t->m; i++) {
        float sum[PANEL] = {0};
        for (size_t p = 0; p < t->k; p++) {
            float a = t->transpose_a ? t->a[p * t->m + i] : t->a[i * t->k + p];
            for (size_t j = 0; j < PANEL; j++) sum[j] += a * panel[p * PANEL + j];
        }
        float *c = t->c + i * t->n + first;
        for (size_t j = 0; j < width; j++)
            c[j] = t->beta == 0.0f ? sum[j] : t->beta * c[j] + sum[j];
    }
}

taper_status codec_plain_gemm(codec_backend *be, int transpose_a, int transpose_b, size_t m,
                              size_t n, size_t k, const float *a, const float *b, float beta,
                              float *c) {
    if (!m || !n) return TAPER_OK;
    size_t panels = (n + PANEL - 1) / PANEL, row = PANEL * sizeof(float);
    if (k > SIZE_MAX / row / panels) return TAPER_ERR_NOMEM;
    float *packed = malloc(k ? panels * k * row : 1);
    if (!packed) return TAPER_ERR_NOMEM;
    gemm_task task = {transpose_a, transpose_b, m, n, k, a, b, beta, c, packed};
    codec_pool_run(be->pool, gemm_panel, &task, panels);
    free(packed);
    return TAPER_OK;
}

/* --- bias and activation: rows in blocks ----------------------------------------------------- */

enum { ROW_BLOCK = 32 };

typedef struct bias_task {
    size_t rows, width;
    const float *bias;
    codec_activation activation;
    float *y;
} bias_task;

CODEC_CLONES static void bias_rows(void *context, size_t block) {
    const bias_task *t = context;
    size_t end = formats_smaller(t->rows, (block + 1) * ROW_BLOCK);
    for (size_t i = block * ROW_BLOCK; i < end; i++) {
        float *y = t->y + i * t->width;
        if (t->bias)
            for (size_t j = 0; j < t->width; j++) y[j] += t->bias[j];
        if (t->activation == CODEC_RELU)
            for (size_t j = 0; j < t->width; j++) y[j] = y[j] < 0.0f ? 0.0f : y[j]; /* NaN stays */
        else if (t->activation == CODEC_LOGISTIC)
            for (size_t j = 0; j < t->width; j++) y[j] = codec_logistic(y[j]);
    }
}

taper_status codec_plain_bias(codec_backend *be, size_t rows, size_t width, const float *bias,
                              codec_activation activation, float *y) {
    bias_task task = {rows, width, bias, activation, y};
    codec_pool_run(be->pool, bias_rows, &task, (rows + ROW_BLOCK - 1) / ROW_BLOCK);
    return TAPER_OK;
}

static const codec_backend_ops plain_ops = {"plain", codec_plain_gemm, codec_plain_bias};

taper_status codec_backend_plain(codec_backend *out) {
    *out = (codec_backend){&plain_ops, NULL, NULL, ""};
    snprintf(out->kernels, sizeof out->kernels, "plain C");
    return TAPER_OK;
}
