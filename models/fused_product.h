/* fused_product.h -- the matrix product of codec/backend/fused.h for machines without its
 * instructions, with the same result, bit for bit. So every machine that builds taper stores the
 * same analysis matrices, and these are what encoders with those instructions compute.
 *
 * An element is the sum of its products in ascending order, each added with one rounding, in parts
 * of 384; the sums of the parts are added. (fmaf would be right, too, but takes a minute where it
 * is no instruction.) */
#ifndef MODELS_FUSED_PRODUCT_H
#define MODELS_FUSED_PRODUCT_H
#include "codec/backend/operations.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS_PART = 384, MODELS_PANEL = 32 };

/* Nonzero: rounding this double to a float may differ from rounding once. The product of two floats
 * is exact in a double, so their sum is rounded twice. That matters only where the first result is
 * halfway between two floats, or a float has fewer bits. */
static inline int models_rounds_twice(double sum) {
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return ((uint32_t)bits & 0x1FFFFFFFu) == 0x10000000u || !(fabs(sum) >= 0x1p-120);
}

/* sum[j] = a * b[j] + sum[j], rounded once, for a panel. */
static inline void models_fused_add(float a, const float *restrict b, float *restrict sum) {
    float next[MODELS_PANEL];
    int twice = 0;
    for (int j = 0; j < MODELS_PANEL; j++) {
        const double exact = (double)a * b[j] + sum[j];
        next[j] = (float)exact;
        twice |= models_rounds_twice(exact);
    }
    for (int j = 0; twice && j < MODELS_PANEL; j++) next[j] = fmaf(a, b[j], sum[j]);
    memcpy(sum, next, sizeof next);
}

/* The sizes of parts, as in fused.c. */
static inline size_t models_part_of(size_t k) {
    return k >= 2 * MODELS_PART ? MODELS_PART : k > MODELS_PART ? (k + 1) / 2 : k;
}

/* The arguments of a product, and one panel of op(B): [k][MODELS_PANEL]. */
typedef struct models_product {
    int transpose_a, transpose_b;
    size_t m, n, k;
    const float *a, *b;
    float beta, *c, *panel;
} models_product;

static inline void models_pack_panel(const models_product *t, size_t first, size_t width) {
    memset(t->panel, 0, t->k * MODELS_PANEL * sizeof *t->panel);
    for (size_t p = 0; p < t->k; p++)
        for (size_t j = 0; j < width; j++)
            t->panel[p * MODELS_PANEL + j] =
                t->transpose_b ? t->b[(first + j) * t->k + p] : t->b[p * t->n + first + j];
}

/* Row i of C, in the columns of the panel. */
static inline void models_multiply_row(const models_product *t, size_t i, size_t first,
                                       size_t width) {
    float *c = t->c + i * t->n + first;
    for (size_t p = 0, end; p < t->k; p = end) {
        float sum[MODELS_PANEL] = {0}, old = p ? 1.0f : t->beta;
        end = p + models_part_of(t->k - p);
        for (size_t q = p; q < end; q++)
            models_fused_add(t->transpose_a ? t->a[q * t->m + i] : t->a[i * t->k + q],
                             t->panel + q * MODELS_PANEL, sum);
        for (size_t j = 0; j < width; j++) c[j] = old == 0.0f ? sum[j] : old * c[j] + sum[j];
    }
}

/* A codec_gemm_fn; k is not 0. */
static inline taper_status models_fused_product(codec_backend *be, int transpose_a, int transpose_b,
                                                size_t m, size_t n, size_t k, const float *a,
                                                const float *b, float beta, float *c) {
    const models_product t = {
        transpose_a, transpose_b, m, n, k, a, b, beta, c, malloc(k * MODELS_PANEL * sizeof(float))};
    (void)be;
    if (!t.panel) return TAPER_ERR_NOMEM;
    for (size_t first = 0; first < n; first += MODELS_PANEL) {
        const size_t width = n - first < MODELS_PANEL ? n - first : MODELS_PANEL;
        models_pack_panel(&t, first, width);
        for (size_t i = 0; i < m; i++) models_multiply_row(&t, i, first, width);
    }
    free(t.panel);
    return TAPER_OK;
}
#endif
