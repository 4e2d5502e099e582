/* triangle.c -- see triangle.h. Rows are the lanes of a vector: LANES rows are transposed, so that
 * the values of each unit are adjacent. Units are processed in blocks of BLOCK. The terms of units
 * before a block are a product of matrices, summed in registers. The triangle within the block
 * follows unit by unit. So the order of a row's sums depends only on the units. */
#include "codec/transform/triangle.h"
#include "codec/backend/simd.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 16,       /* rows in a vector, one or several registers */
    TILE = 4 * LANES, /* rows for which a panel is packed once */
    BLOCK = 8,        /* units whose sums need the same panel */
    IN_FLIGHT = 4     /* units of them that are summed at a time */
};

typedef struct work {
    const float *matrix;
    size_t stride;
    uint32_t units;
    float *x;     /* [TILE / LANES][units][LANES] */
    float *panel; /* [units][BLOCK] of the matrix */
} work;

uint64_t codec_triangle_scratch_bytes(uint32_t units) {
    return (uint64_t)units * (TILE + BLOCK) * sizeof(float);
}

static taper_status work_begin(work *w, const float *matrix, size_t stride, uint32_t units) {
    uint64_t bytes = codec_triangle_scratch_bytes(units);
    *w = (work){.matrix = matrix, .stride = stride, .units = units};
    w->x = bytes < SIZE_MAX ? malloc((size_t)bytes + 1) : NULL;
    if (!w->x) return TAPER_ERR_NOMEM;
    w->panel = w->x + (size_t)units * TILE;
    return TAPER_OK;
}

/* The number of units of the block that begins at k. */
static uint32_t in_block(const work *w, uint32_t k) {
    return w->units - k < BLOCK ? w->units - k : BLOCK;
}

/* panel[t][i] = element (k + i, t), t < n; 0 if there is no unit k + i. */
static void pack(const work *w, uint32_t k, uint32_t n) {
    const uint32_t width = in_block(w, k);
    const float *from = w->matrix + k * w->stride;
    for (size_t t = 0; t < n; t++)
        for (uint32_t i = 0; i < BLOCK; i++)
            w->panel[t * BLOCK + i] = i < width ? from[i * w->stride + t] : 0.0f;
}

/* Transpose n units of `rows` rows to lanes; lanes without a row are 0. */
static void to_lanes(const float *from, uint32_t units, uint32_t n, size_t rows, float *to) {
    if (rows < LANES) memset(to, 0, n * LANES * sizeof *to);
    for (uint32_t i = 0; i < n; i++)
        for (size_t r = 0; r < rows; r++) to[i * LANES + r] = from[r * units + i];
}

static void from_lanes(const float *from, uint32_t units, uint32_t n, size_t rows, float *to) {
    for (size_t r = 0; r < rows; r++)
        for (uint32_t i = 0; i < n; i++) to[r * units + i] = from[i * LANES + r];
}

/* sum[i] = the sum over t of panel[t][i] x[t], by ascending t. */
CODEC_CLONES static void add_products(const float *restrict panel, const float *restrict x,
                                      size_t n, float sum[restrict BLOCK][LANES]) {
    for (int i = 0; i < BLOCK; i += IN_FLIGHT) {
        float a[LANES] = {0}, b[LANES] = {0}, c[LANES] = {0}, d[LANES] = {0};
        for (size_t t = 0; t < n; t++) {
            const float *m = panel + t * BLOCK + i, *v = x + t * LANES;
            for (int r = 0; r < LANES; r++) {
                a[r] += m[0] * v[r];
                b[r] += m[1] * v[r];
                c[r] += m[2] * v[r];
                d[r] += m[3] * v[r];
            }
        }
        memcpy(sum[i], a, sizeof a), memcpy(sum[i + 1], b, sizeof b);
        memcpy(sum[i + 2], c, sizeof c), memcpy(sum[i + 3], d, sizeof d);
    }
}

/* Decide n units of a block: a[n] is replaced by u. sum[]: the terms of units before the block. */
CODEC_CLONES static void decide(const float *restrict triangle, size_t stride, uint32_t n,
                                const float *bias, float centre, float a[restrict BLOCK][LANES],
                                float *restrict x, float sum[restrict BLOCK][LANES]) {
    for (uint32_t i = 0; i < n; i++, x += LANES) {
        float least = bias ? -bias[i] : 0.0f;
        for (int r = 0; r < LANES; r++) {
            a[i][r] -= sum[i][r];
            x[r] = (a[i][r] > least ? 1.0f : 0.0f) - centre;
        }
        for (uint32_t k = i + 1; k < n; k++)
            for (int r = 0; r < LANES; r++) sum[k][r] += triangle[k * stride + i] * x[r];
    }
}

/* Decide the units of the block at k of up to LANES rows; x is known for those before k. */
static void decide_rows(const work *w, uint32_t k, const float *bias, float centre, size_t rows,
                        float *a, float *x, float *out) {
    uint32_t n = in_block(w, k);
    float u[BLOCK][LANES], sum[BLOCK][LANES], *own = x + (size_t)k * LANES;
    to_lanes(a + k, w->units, n, rows, u[0]);
    add_products(w->panel, x, k, sum);
    decide(w->matrix + k * w->stride + k, w->stride, n, bias ? bias + k : NULL, centre, u, own,
           sum);
    from_lanes(u[0], w->units, n, rows, a + k);
    if (out) from_lanes(own, w->units, n, rows, out + k);
}

taper_status codec_triangle_decide(const float *matrix, size_t stride, uint32_t units,
                                   const float *bias, float centre, size_t rows, float *a,
                                   float *x) {
    work w;
    TAPER_TRY(work_begin(&w, matrix, stride, units));
    for (size_t at = 0; at < rows; at += TILE) {
        size_t end = formats_smaller(rows, at + TILE);
        for (uint32_t k = 0; k < units; k += BLOCK) {
            pack(&w, k, k);
            for (size_t r = at; r < end; r += LANES)
                decide_rows(&w, k, bias, centre, formats_smaller(LANES, end - r), a + r * units,
                            w.x + (r - at) * units, x ? x + r * units : NULL);
        }
    }
    free(w.x);
    return TAPER_OK;
}

/* Pack the panel of the block at k, including its triangle; elements not below the diagonal are 0.
 */
static void pack_all(const work *w, uint32_t k) {
    const uint32_t n = in_block(w, k);
    float *own = w->panel + (size_t)k * BLOCK;
    pack(w, k, k + n);
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t i = 0; i <= t; i++) own[t * BLOCK + i] = 0.0f;
}

/* Mix the units of the block at k of up to LANES rows. */
static void mix_rows(const work *w, uint32_t k, size_t rows, const float *x, float *z) {
    const uint32_t n = in_block(w, k);
    float sum[BLOCK][LANES];
    add_products(w->panel, x, k + n, sum);
    for (uint32_t i = 0; i < n; i++)
        for (int r = 0; r < LANES; r++) sum[i][r] = x[((size_t)k + i) * LANES + r] + sum[i][r];
    from_lanes(sum[0], w->units, n, rows, z + k);
}

taper_status codec_triangle_mix(const float *matrix, size_t stride, uint32_t units, size_t rows,
                                const float *x, float *z) {
    work w;
    TAPER_TRY(work_begin(&w, matrix, stride, units));
    for (size_t at = 0; at < rows; at += TILE) {
        size_t end = formats_smaller(rows, at + TILE);
        for (size_t r = at; r < end; r += LANES)
            to_lanes(x + r * units, units, units, formats_smaller(LANES, end - r),
                     w.x + (r - at) * units);
        for (uint32_t k = 0; k < units; k += BLOCK) {
            pack_all(&w, k);
            for (size_t r = at; r < end; r += LANES)
                mix_rows(&w, k, formats_smaller(LANES, end - r), w.x + (r - at) * units,
                         z + r * units);
        }
    }
    free(w.x);
    return TAPER_OK;
}
