/* plain.c -- every operation in readable C: the definition that other backends must meet. */
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

/* --- bias and activation: rows in blocks forward, columns in blocks backward ------------------ */

enum { ROW_BLOCK = 32, COLUMN_BLOCK = 64 };

typedef struct bias_task {
    size_t rows, width;
    const float *bias, *y_in;
    codec_activation activation;
    float *y, *dbias; /* y is dy when going backward */
} bias_task;

/* 1 / (1 + exp(-x)), without branches or calls, so that compilers run many at a time. exp(-|x|) =
 * 2^k exp(r), |r| <= ln(2) / 2: k by adding 1.5 x 2^23, which leaves it in the low bits; exp(r) by
 * its series to the seventh power, good to 5e-9. */
static inline float logistic(float x) {
    const float round = 12582912.0f, log2_e = 1.44269504f, ln2_high = 0.693359375f,
                ln2_low = -2.12194440e-4f;
    float a = fabsf(x), y = a < 87.0f ? -a : a == a ? -87.0f : x; /* 2^-126 < exp(-87) */
    float shifted = y * log2_e + round, k = shifted - round;
    float r = (y - k * ln2_high) - k * ln2_low;
    float e = 1.0f / 720 + r * (1.0f / 5040);
    e = 1.0f / 120 + r * e;
    e = 1.0f / 24 + r * e;
    e = 1.0f / 6 + r * e;
    e = 0.5f + r * e;
    e = 1.0f + (r + r * r * e);
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23; /* the exponent of 2^k; the high bits of `round` fall out */
    float power;
    memcpy(&power, &bits, sizeof power);
    e *= power;
    e = a > 87.0f ? 0.0f : e;
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

static void bias_rows(void *context, size_t block) {
    const bias_task *t = context;
    size_t end = formats_smaller(t->rows, (block + 1) * ROW_BLOCK);
    for (size_t i = block * ROW_BLOCK; i < end; i++) {
        float *y = t->y + i * t->width;
        if (t->bias)
            for (size_t j = 0; j < t->width; j++) y[j] += t->bias[j];
        if (t->activation == CODEC_RELU)
            for (size_t j = 0; j < t->width; j++) y[j] = y[j] < 0.0f ? 0.0f : y[j]; /* NaN stays */
        else if (t->activation == CODEC_LOGISTIC)
            for (size_t j = 0; j < t->width; j++) y[j] = logistic(y[j]);
    }
}

taper_status codec_plain_bias(codec_backend *be, size_t rows, size_t width, const float *bias,
                              codec_activation activation, float *y) {
    bias_task task = {rows, width, bias, NULL, activation, y, NULL};
    codec_pool_run(be->pool, bias_rows, &task, (rows + ROW_BLOCK - 1) / ROW_BLOCK);
    return TAPER_OK;
}

static void bias_columns_backward(void *context, size_t block) {
    const bias_task *t = context;
    size_t first = block * COLUMN_BLOCK, width = formats_smaller(COLUMN_BLOCK, t->width - first);
    float sum[COLUMN_BLOCK] = {0};
    for (size_t i = 0; i < t->rows; i++) {
        float *dy = t->y + i * t->width + first;
        const float *y = t->activation == CODEC_LINEAR ? NULL : t->y_in + i * t->width + first;
        if (t->activation == CODEC_RELU)
            for (size_t j = 0; j < width; j++) dy[j] = y[j] <= 0.0f ? 0.0f : dy[j];
        else if (t->activation == CODEC_LOGISTIC)
            for (size_t j = 0; j < width; j++) dy[j] *= y[j] * (1.0f - y[j]);
        for (size_t j = 0; j < width; j++) sum[j] += dy[j];
    }
    if (t->dbias) memcpy(t->dbias + first, sum, width * sizeof *sum);
}

taper_status codec_plain_bias_backward(codec_backend *be, size_t rows, size_t width,
                                       codec_activation activation, const float *y, float *dy,
                                       float *dbias) {
    bias_task task = {rows, width, NULL, y, activation, dy, dbias};
    codec_pool_run(be->pool, bias_columns_backward, &task,
                   (width + COLUMN_BLOCK - 1) / COLUMN_BLOCK);
    return TAPER_OK;
}

/* --- vectors: in blocks of VECTOR_BLOCK elements ---------------------------------------------- */

enum { VECTOR_BLOCK = 1 << 15, LANES = 8 };

typedef struct squares_task {
    size_t n;
    const float *x;
    double *partial; /* one per block */
} squares_task;

static void squares_block(void *context, size_t block) {
    const squares_task *t = context;
    size_t first = block * VECTOR_BLOCK, end = formats_smaller(t->n, first + VECTOR_BLOCK),
           i = first;
    double lane[LANES] = {0}, sum = 0.0;
    for (; i + LANES <= end; i += LANES)
        for (size_t j = 0; j < LANES; j++) lane[j] += (double)t->x[i + j] * t->x[i + j];
    for (; i < end; i++) sum += (double)t->x[i] * t->x[i];
    for (size_t j = 0; j < LANES; j++) sum += lane[j];
    t->partial[block] = sum;
}

taper_status codec_plain_sum_squares(codec_backend *be, size_t n, const float *x, double *sum) {
    size_t blocks = n / VECTOR_BLOCK + (n % VECTOR_BLOCK != 0);
    double *partial = malloc((blocks ? blocks : 1) * sizeof *partial);
    if (!partial) return TAPER_ERR_NOMEM;
    squares_task task = {n, x, partial};
    codec_pool_run(be->pool, squares_block, &task, blocks);
    *sum = 0.0;
    for (size_t i = 0; i < blocks; i++) *sum += partial[i];
    free(partial);
    return TAPER_OK;
}

typedef struct adam_task {
    size_t n;
    codec_adam_step step;
    const float *g;
    float *w, *m, *v;
} adam_task;

/* Moments of weights whose gradient is 0 (inputs that are always the same, dead units) fall towards
 * 0 for ever, and arithmetic on subnormal numbers is many times slower: four of five seconds of a
 * long run went there. */
static inline float or_zero(float x, float least) { return fabsf(x) < least ? 0.0f : x; }

static void adam_block(void *context, size_t block) {
    const adam_task *t = context;
    const codec_adam_step s = t->step;
    size_t first = block * VECTOR_BLOCK, n = formats_smaller(t->n - first, VECTOR_BLOCK);
    const float *restrict g = t->g + first;
    float *restrict w = t->w + first, *restrict m = t->m + first, *restrict v = t->v + first;
    for (size_t i = 0; i < n; i++) {
        float gradient = or_zero(s.scale * g[i], CODEC_ADAM_LEAST_GRADIENT);
        m[i] = or_zero(s.beta1 * m[i] + (1.0f - s.beta1) * gradient, CODEC_ADAM_LEAST_M);
        v[i] = or_zero(s.beta2 * v[i] + (1.0f - s.beta2) * gradient * gradient, CODEC_ADAM_LEAST_V);
        w[i] -= s.rate * m[i] / (sqrtf(v[i]) + s.epsilon);
    }
}

taper_status codec_plain_adam(codec_backend *be, size_t n, const codec_adam_step *step,
                              const float *g, float *w, float *m, float *v) {
    adam_task task = {n, *step, g, w, m, v};
    codec_pool_run(be->pool, adam_block, &task, n / VECTOR_BLOCK + (n % VECTOR_BLOCK != 0));
    return TAPER_OK;
}

static const codec_backend_ops plain_ops = {"plain",
                                            codec_plain_gemm,
                                            codec_plain_bias,
                                            codec_plain_bias_backward,
                                            codec_plain_sum_squares,
                                            codec_plain_adam};

taper_status codec_backend_plain(codec_backend *out) {
    *out = (codec_backend){&plain_ops, NULL, NULL, ""};
    snprintf(out->kernels, sizeof out->kernels, "plain C");
    return TAPER_OK;
}
