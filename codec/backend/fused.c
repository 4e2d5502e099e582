/* fused.c -- the matrix product with fused multiply-adds, for processors that have them; everything
 * else is plain.
 *
 * B goes through the kernel in panels of WIDTH columns, packed on the stack, A in tiles of ROWS
 * rows. Each entry of C is the sum of its products in ascending order, a part of them at a time
 * (part_of): that does not depend on kernel, place or number of threads. */
#include "codec/backend/fused.h"
#include "codec/backend/plain.h"
#include "codec/backend/x86.h"

#if defined(CODEC_X86_KERNELS)
#include "codec/backend/pool.h"
#include "formats/bytes.h"
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8, WIDTH = 32, PART = 384 };

/* sum[ROWS][WIDTH] = A B over k products: A's rows are `row` floats apart and its columns `column`,
 * B is a packed panel. */
typedef void tile_fn(const float *a, size_t row, size_t column, const float *panel, size_t k,
                     float *sum);

typedef struct gemm_task {
    int transpose_b;
    size_t m, n, k;
    const float *a; /* [m][k] or NULL: tiles are used */
    float *tiles;   /* [m / ROWS][k][ROWS], or NULL */
    const float *b;
    float beta;
    float *c;
    tile_fn *tile;
    const float *source; /* of the tiles */
    int transpose_a;     /* source is [k][m] */
    size_t block_rows, block_columns, blocks_across;
} gemm_task;

/* How many of the k products that are left are summed before C is touched again. */
static size_t part_of(size_t k) { return k >= 2 * PART ? PART : k > PART ? (k + 1) / 2 : k; }

/* --- the kernels: sums of a tile stay in registers ------------------------------------- */

#define FOR_512 __attribute__((target("avx512f,fma")))
#define FOR_256 __attribute__((target("avx2,fma")))

FOR_512 static void tile_512(const float *a, size_t row, size_t column, const float *panel,
                             size_t k, float *sum) {
    enum { LANES = 16, HALF = ROWS / 2 };
    __m512 s[ROWS][2];
    const float *low = a, *high = a + HALF * row;
#pragma GCC unroll 8
    for (size_t r = 0; r < ROWS; r++) s[r][0] = s[r][1] = _mm512_setzero_ps();
    for (size_t p = 0; p < k; p++, low += column, high += column, panel += WIDTH) {
        const __m512 b0 = _mm512_loadu_ps(panel), b1 = _mm512_loadu_ps(panel + LANES);
#pragma GCC unroll 8
        for (size_t r = 0; r < ROWS; r++) {
            const __m512 x = _mm512_set1_ps(r < HALF ? low[r * row] : high[(r - HALF) * row]);
            s[r][0] = _mm512_fmadd_ps(x, b0, s[r][0]);
            s[r][1] = _mm512_fmadd_ps(x, b1, s[r][1]);
        }
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < ROWS; r++) {
        _mm512_storeu_ps(sum + r * WIDTH, s[r][0]);
        _mm512_storeu_ps(sum + r * WIDTH + LANES, s[r][1]);
    }
}

/* A quarter of a tile: half the rows and half the columns. */
FOR_256 static void quarter_256(const float *a, size_t row, size_t column, const float *panel,
                                size_t k, float *sum) {
    enum { LANES = 8, HALF = ROWS / 2 };
    __m256 s[HALF][2];
#pragma GCC unroll 4
    for (size_t r = 0; r < HALF; r++) s[r][0] = s[r][1] = _mm256_setzero_ps();
    for (size_t p = 0; p < k; p++, a += column, panel += WIDTH) {
        const __m256 b0 = _mm256_loadu_ps(panel), b1 = _mm256_loadu_ps(panel + LANES);
#pragma GCC unroll 4
        for (size_t r = 0; r < HALF; r++) {
            const __m256 x = _mm256_set1_ps(a[r * row]);
            s[r][0] = _mm256_fmadd_ps(x, b0, s[r][0]);
            s[r][1] = _mm256_fmadd_ps(x, b1, s[r][1]);
        }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < HALF; r++) {
        _mm256_storeu_ps(sum + r * WIDTH, s[r][0]);
        _mm256_storeu_ps(sum + r * WIDTH + LANES, s[r][1]);
    }
}

static void tile_256(const float *a, size_t row, size_t column, const float *panel, size_t k,
                     float *sum) {
    enum { HALF = ROWS / 2, MIDDLE = WIDTH / 2 };
    for (size_t r = 0; r < ROWS; r += HALF)
        for (size_t j = 0; j < WIDTH; j += MIDDLE)
            quarter_256(a + r * row, row, column, panel + j, k, sum + r * WIDTH + j);
}

/* --- laying out ------------------------------------------------------------------------ */

/* panel[k][WIDTH] = rows first_row.. and columns first.. of op(B), of which there are `width`; 0
 * behind them. */
static void pack_panel(const gemm_task *t, size_t first_row, size_t k, size_t first, size_t width,
                       float *panel) {
    enum { RUN = 16 };
    if (width < WIDTH) memset(panel, 0, k * WIDTH * sizeof *panel);
    if (!t->transpose_b) {
        const float *from = t->b + first_row * t->n + first;
        for (size_t p = 0; p < k; p++)
            memcpy(panel + p * WIDTH, from + p * t->n, width * sizeof *panel);
        return;
    }
    for (size_t p = 0; p < k; p += RUN)
        for (size_t j = 0; j < width; j++) {
            const float *from = t->b + (first + j) * t->k + first_row;
            for (size_t q = p; q < formats_smaller(k, p + RUN); q++) panel[q * WIDTH + j] = from[q];
        }
}

/* to[k][ROWS] from `rows` rows; 0 behind them. */
static void pack_tile(const float *from, size_t row, size_t column, size_t rows, size_t k,
                      float *to) {
    enum { RUN = 16 };
    if (rows < ROWS) memset(to, 0, k * ROWS * sizeof *to);
    if (row == 1 && rows == ROWS) {
        for (size_t p = 0; p < k; p++) memcpy(to + p * ROWS, from + p * column, ROWS * sizeof *to);
        return;
    }
    for (size_t p = 0; p < k; p += RUN)
        for (size_t r = 0; r < rows; r++)
            for (size_t q = p; q < formats_smaller(k, p + RUN); q++)
                to[q * ROWS + r] = from[r * row + q * column];
}

static void pack_tile_of(void *context, size_t tile) {
    const gemm_task *t = context;
    size_t first = tile * ROWS, rows = formats_smaller(ROWS, t->m - first);
    size_t row = t->transpose_a ? 1 : t->k, column = t->transpose_a ? t->m : 1;
    pack_tile(t->source + first * row, row, column, rows, t->k, t->tiles + first * t->k);
}

/* --- blocks ---------------------------------------------------------------------------- */

/* c = beta * c + sum, of the part that there is; beta 0 overwrites. */
static void add_tile(const float *sum, size_t rows, size_t width, float beta, float *c, size_t n) {
    for (size_t r = 0; r < rows; r++, c += n, sum += WIDTH) {
        if (beta == 0.0f) memcpy(c, sum, width * sizeof *c);
        else if (beta == 1.0f)
            for (size_t j = 0; j < width; j++) c[j] += sum[j];
        else
            for (size_t j = 0; j < width; j++) c[j] = beta * c[j] + sum[j];
    }
}

/* Rows first..end of the columns from `column` on, by `k` of the products from `p` on. */
static void add_panel(const gemm_task *t, size_t first, size_t end, size_t column, size_t p,
                      size_t k, const float *panel) {
    float sum[ROWS * WIDTH], edge[PART * ROWS];
    size_t width = formats_smaller(WIDTH, t->n - column);
    for (size_t i = first; i < end; i += ROWS) {
        size_t rows = formats_smaller(ROWS, end - i);
        if (t->tiles)
            t->tile(t->tiles + i * t->k + p * ROWS, 1, ROWS, panel, k, sum);
        else if (rows == ROWS)
            t->tile(t->a + i * t->k + p, t->k, 1, panel, k, sum);
        else {
            pack_tile(t->a + i * t->k + p, t->k, 1, rows, k, edge);
            t->tile(edge, 1, ROWS, panel, k, sum);
        }
        add_tile(sum, rows, width, p ? 1.0f : t->beta, t->c + i * t->n + column, t->n);
    }
}

static void gemm_block(void *context, size_t block) {
    const gemm_task *t = context;
    size_t i = block / t->blocks_across * t->block_rows,
           end = formats_smaller(t->m, i + t->block_rows);
    size_t j = block % t->blocks_across * t->block_columns;
    size_t last = formats_smaller(t->n, j + t->block_columns);
    float panel[PART * WIDTH];
    for (; j < last; j += WIDTH)
        for (size_t p = 0, k; p < t->k; p += k) {
            k = part_of(t->k - p);
            pack_panel(t, p, k, j, formats_smaller(WIDTH, t->n - j), panel);
            add_panel(t, i, end, j, p, k, panel);
        }
}

static size_t blocks_of(size_t n, size_t block) { return (n + block - 1) / block; }

/* Blocks large enough for packing to cost little, small enough to keep 8 threads busy where the
 * shape allows it. */
static void choose_blocks(gemm_task *t) {
    enum { ENOUGH = 8, LEAST_ROWS = 128, LEAST_COLUMNS = 64 };
    t->block_rows = t->block_columns = 512;
    while (blocks_of(t->m, t->block_rows) * blocks_of(t->n, t->block_columns) < ENOUGH) {
        if (t->block_rows > LEAST_ROWS && t->block_rows * 2 > t->block_columns) t->block_rows /= 2;
        else if (t->block_columns > LEAST_COLUMNS) t->block_columns /= 2;
        else break;
    }
    t->blocks_across = blocks_of(t->n, t->block_columns);
}

/* A's rows lie apart where it is transposed; and multiples of 4 KiB share their places in the
 * cache. Both are laid out as tiles first. */
static taper_status lay_out(codec_backend *be, gemm_task *t) {
    size_t tiles = blocks_of(t->m, ROWS);
    if (!t->transpose_a && t->k % 1024) return TAPER_OK;
    if (tiles > SIZE_MAX / ROWS / sizeof *t->tiles / t->k) return TAPER_ERR_NOMEM;
    t->tiles = malloc(tiles * ROWS * t->k * sizeof *t->tiles);
    if (!t->tiles) return TAPER_ERR_NOMEM;
    codec_pool_run(be->pool, pack_tile_of, t, tiles);
    return TAPER_OK;
}

static taper_status gemm(codec_backend *be, int transpose_a, int transpose_b, size_t m, size_t n,
                         size_t k, const float *a, const float *b, float beta, float *c,
                         tile_fn *tile) {
    if (!m || !n || !k)
        return codec_plain_gemm(be, transpose_a, transpose_b, m, n, k, a, b, beta, c);
    gemm_task t = {transpose_b, m, n, k, a, NULL, b, beta, c, tile, a, transpose_a, 0, 0, 0};
    choose_blocks(&t);
    TAPER_TRY(lay_out(be, &t));
    codec_pool_run(be->pool, gemm_block, &t, blocks_of(m, t.block_rows) * t.blocks_across);
    free(t.tiles);
    return TAPER_OK;
}

static taper_status gemm_512(codec_backend *be, int transpose_a, int transpose_b, size_t m,
                             size_t n, size_t k, const float *a, const float *b, float beta,
                             float *c) {
    return gemm(be, transpose_a, transpose_b, m, n, k, a, b, beta, c, tile_512);
}

static taper_status gemm_256(codec_backend *be, int transpose_a, int transpose_b, size_t m,
                             size_t n, size_t k, const float *a, const float *b, float beta,
                             float *c) {
    return gemm(be, transpose_a, transpose_b, m, n, k, a, b, beta, c, tile_256);
}

static const codec_backend_ops ops_512 = {"fused",
                                          gemm_512,
                                          codec_plain_bias,
                                          codec_plain_bias_backward,
                                          codec_plain_sum_squares,
                                          codec_plain_adam};
static const codec_backend_ops ops_256 = {"fused",
                                          gemm_256,
                                          codec_plain_bias,
                                          codec_plain_bias_backward,
                                          codec_plain_sum_squares,
                                          codec_plain_adam};

taper_status codec_backend_fused(codec_backend *out, unsigned bits) {
    int wide = __builtin_cpu_supports("avx512f") && bits >= 512;
    if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2") || bits < 256)
        return TAPER_ERR_UNSUPPORTED;
    *out = (codec_backend){wide ? &ops_512 : &ops_256, NULL, NULL, ""};
    snprintf(out->kernels, sizeof out->kernels, "fused multiply-adds, %s",
             wide ? "AVX-512" : "AVX2");
    return TAPER_OK;
}

#else

taper_status codec_backend_fused(codec_backend *out, unsigned bits) {
    (void)out, (void)bits;
    return TAPER_ERR_UNSUPPORTED;
}

#endif
