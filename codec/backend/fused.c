/* fused.c -- see fused.h: the matrix product with fused multiply-adds.
 *
 * C is divided into blocks, which the threads take one after the other. For each part of the
 * products (part_of), a block's B is packed in panels of WIDTH columns, which stay in the L2 cache.
 * Its A is packed in tiles of ROWS rows, one at a time, which stay in the L1 cache. Each element of
 * C is the sum of its products in ascending order, one part after the other. This does not depend
 * on kernel, position or number of threads. */
#include "codec/backend/fused.h"
#include "codec/backend/plain.h"
#include "codec/backend/x86.h"

#if defined(CODEC_X86_KERNELS)
#include "codec/backend/pool.h"
#include "formats/bytes.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 12, STEP = 4, WIDTH = 32, PART = 384, LINE = 64 };

/* The rows of A of a tile: rows are `row` floats apart, columns are `column` floats apart. */
typedef struct tile_rows {
    const float *at;
    size_t row, column;
} tile_rows;

/* C[rows][WIDTH] = beta C + A B over k products. b: packed [k][WIDTH]. Rows of C are n floats
 * apart. beta 0 overwrites. */
typedef void tile_fn(tile_rows a, const float *b, size_t k, float beta, float *c, size_t n);

typedef struct gemm_task {
    int transpose_a, transpose_b;
    size_t m, n, k;
    const float *a, *b;
    float beta;
    float *c;
    tile_fn *const *tile; /* kernels for STEP, 2 STEP, .. ROWS rows */
    size_t depth;         /* products of the longest part */
    size_t block_rows, block_columns, blocks_across, blocks;
    atomic_size_t next; /* the next free block */
    float *panels;      /* [workers][block_columns / WIDTH][depth][WIDTH] */
} gemm_task;

/* The number of products of the next part, if k products remain. */
static size_t part_of(size_t k) { return k >= 2 * PART ? PART : k > PART ? (k + 1) / 2 : k; }

/* --- the kernels: sums of a tile stay in registers ------------------------------------- */

#define FOR_512 __attribute__((target("avx512f,fma")))
#define FOR_256 __attribute__((target("avx2,fma")))

FOR_512 CODEC_INLINE void store_512(__m512 sum, float beta, float *c) {
    if (beta != 0.0f)
        sum = _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps(beta), _mm512_loadu_ps(c)), sum);
    _mm512_storeu_ps(c, sum);
}

/* rows: a constant in every call. */
FOR_512 CODEC_INLINE void tile_512(size_t rows, tile_rows a, const float *b, size_t k, float beta,
                                   float *c, size_t n) {
    enum { LANES = 16, AHEAD = 8 * WIDTH };
    const float *from[] = {a.at, a.at + STEP * a.row, a.at + 2 * STEP * a.row};
    __m512 sum[ROWS][2];
#pragma GCC unroll 12
    for (size_t r = 0; r < rows; r++) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
    for (size_t p = 0; p < k; p++, b += WIDTH) {
        const __m512 b0 = _mm512_load_ps(b), b1 = _mm512_load_ps(b + LANES);
        __builtin_prefetch(b + AHEAD), __builtin_prefetch(b + AHEAD + LANES);
#pragma GCC unroll 12
        for (size_t r = 0; r < rows; r++) {
            const __m512 x = _mm512_set1_ps(from[r / STEP][r % STEP * a.row]);
            sum[r][0] = _mm512_fmadd_ps(x, b0, sum[r][0]);
            sum[r][1] = _mm512_fmadd_ps(x, b1, sum[r][1]);
        }
        from[0] += a.column, from[1] += a.column, from[2] += a.column;
    }
#pragma GCC unroll 12
    for (size_t r = 0; r < rows; r++, c += n) {
        store_512(sum[r][0], beta, c);
        store_512(sum[r][1], beta, c + LANES);
    }
}

FOR_256 CODEC_INLINE void store_256(__m256 sum, float beta, float *c) {
    if (beta != 0.0f)
        sum = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(beta), _mm256_loadu_ps(c)), sum);
    _mm256_storeu_ps(c, sum);
}

/* A quarter of a tile: half the rows and half the columns. */
FOR_256 CODEC_INLINE void quarter_256(size_t rows, tile_rows a, const float *b, size_t k,
                                      float beta, float *c, size_t n) {
    enum { LANES = 8, HALF = ROWS / 2 };
    __m256 sum[HALF][2];
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; r++) sum[r][0] = sum[r][1] = _mm256_setzero_ps();
    for (size_t p = 0; p < k; p++, a.at += a.column, b += WIDTH) {
        const __m256 b0 = _mm256_load_ps(b), b1 = _mm256_load_ps(b + LANES);
#pragma GCC unroll 6
        for (size_t r = 0; r < rows; r++) {
            const __m256 x = _mm256_set1_ps(a.at[r * a.row]);
            sum[r][0] = _mm256_fmadd_ps(x, b0, sum[r][0]);
            sum[r][1] = _mm256_fmadd_ps(x, b1, sum[r][1]);
        }
    }
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; r++, c += n) {
        store_256(sum[r][0], beta, c);
        store_256(sum[r][1], beta, c + LANES);
    }
}

FOR_256 CODEC_INLINE void tile_256(size_t rows, tile_rows a, const float *b, size_t k, float beta,
                                   float *c, size_t n) {
    enum { MIDDLE = WIDTH / 2 };
    const tile_rows half[] = {a, {a.at + rows / 2 * a.row, a.row, a.column}};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < WIDTH; j += MIDDLE)
            quarter_256(rows / 2, half[i], b + j, k, beta, c + i * rows / 2 * n + j, n);
}

/* The kernel for a number of rows. */
#define TILE(bits, rows)                                                                           \
    FOR_##bits static void tile_##bits##_##rows(tile_rows a, const float *b, size_t k, float beta, \
                                                float *c, size_t n) {                              \
        tile_##bits(rows, a, b, k, beta, c, n);                                                    \
    }
TILE(512, 4)
TILE(512, 8)
TILE(512, 12)
TILE(256, 4)
TILE(256, 8)
TILE(256, 12)
static tile_fn *const tiles_512[ROWS / STEP] = {tile_512_4, tile_512_8, tile_512_12};
static tile_fn *const tiles_256[ROWS / STEP] = {tile_256_4, tile_256_8, tile_256_12};

/* --- packing --------------------------------------------------------------------------- */

/* Pack from[p stride + j], p < k, j < count, into panels [k][width] of `to`; the rest is 0.
 * Prefetched addresses may be after the last row, which is harmless. */
CODEC_INLINE void pack_rows(const float *from, size_t stride, size_t k, size_t count, size_t width,
                            float *to) {
    enum { AHEAD = 8 };
    size_t whole = count / width * width, rest = count - whole;
    if (rest) memset(to + whole * k, 0, k * width * sizeof *to);
    for (size_t p = 0; p < k; p++, from += stride) {
        for (size_t j = 0; j < count; j += LINE / sizeof *from)
            __builtin_prefetch(from + AHEAD * stride + j);
        for (size_t j = 0; j < whole; j += width)
            memcpy(to + j * k + p * width, from + j, width * sizeof *to);
        for (size_t j = whole; j < count; j++) to[whole * k + p * width + j - whole] = from[j];
    }
}

/* to[j][i] = from[i][j], 4 x 4. Rows of `from` are `stride` floats apart, those of `to` `width`. */
CODEC_INLINE void transpose_square(const float *from, size_t stride, size_t width, float *to) {
    __m128 x0 = _mm_loadu_ps(from), x1 = _mm_loadu_ps(from + stride),
           x2 = _mm_loadu_ps(from + 2 * stride), x3 = _mm_loadu_ps(from + 3 * stride);
    _MM_TRANSPOSE4_PS(x0, x1, x2, x3);
    _mm_storeu_ps(to, x0);
    _mm_storeu_ps(to + width, x1);
    _mm_storeu_ps(to + 2 * width, x2);
    _mm_storeu_ps(to + 3 * width, x3);
}

/* Like pack_rows, for from[j stride + p]; one panel, count <= width. */
CODEC_INLINE void pack_panel(const float *from, size_t stride, size_t k, size_t count, size_t width,
                             float *to) {
    enum { RUN = 128, SIDE = 4 }; /* the panel of a run stays in the L1 cache */
    const size_t whole = count / SIDE * SIDE;
    if (count < width) memset(to, 0, k * width * sizeof *to);
    for (size_t first = 0; first < k; first += RUN) {
        size_t end = formats_smaller(k, first + RUN), last = end / SIDE * SIDE;
        for (size_t j = 0; j < whole; j += SIDE)
            for (size_t p = first; p < last; p += SIDE)
                transpose_square(from + j * stride + p, stride, width, to + p * width + j);
        for (size_t j = 0; j < count; j++)
            for (size_t p = j < whole ? last : first; p < end; p++)
                to[p * width + j] = from[j * stride + p];
    }
}

/* The same, several panels. */
CODEC_INLINE void pack_columns(const float *from, size_t stride, size_t k, size_t count,
                               size_t width, float *to) {
    for (size_t j = 0; j < count; j += width)
        pack_panel(from + j * stride, stride, k, formats_smaller(width, count - j), width,
                   to + j * k);
}

/* `rows` rows of A from `first` on, k products from p on. They are packed if necessary: rows that
 * are a multiple of 4 KiB apart use the same cache sets. */
static tile_rows rows_of_a(const gemm_task *t, size_t first, size_t rows, size_t p, size_t k,
                           float *packed) {
    const float *a = t->a + first * t->k + p;
    if (t->transpose_a)
        pack_rows(t->a + p * t->m + first, t->m, k, rows, ROWS, packed);
    else if (rows % STEP || t->k % 1024 == 0)
        pack_columns(a, t->k, k, rows, ROWS, packed);
    else
        return (tile_rows){a, t->k, 1};
    return (tile_rows){packed, 1, ROWS};
}

/* Pack `columns` columns of B from `first` on, k products from p on, into panels. */
static void pack_b(const gemm_task *t, size_t first, size_t columns, size_t p, size_t k,
                   float *to) {
    if (t->transpose_b)
        pack_columns(t->b + first * t->k + p, t->k, k, columns, WIDTH, to);
    else
        pack_rows(t->b + p * t->n + first, t->n, k, columns, WIDTH, to);
}

/* --- blocks ---------------------------------------------------------------------------- */

/* c = beta * c + sum[rows][WIDTH], for the first `width` columns; beta 0 overwrites. */
static void add_tile(const float *sum, size_t rows, size_t width, float beta, float *c, size_t n) {
    for (size_t r = 0; r < rows; r++, c += n, sum += WIDTH)
        for (size_t j = 0; j < width; j++) c[j] = beta == 0.0f ? sum[j] : beta * c[j] + sum[j];
}

/* Compute c[rows][columns], rows <= ROWS, over k products. a: a tile; b: panels. */
static void add_tiles(const gemm_task *t, size_t rows, size_t columns, tile_rows a, const float *b,
                      size_t k, float beta, float *c) {
    _Alignas(LINE) float sum[ROWS * WIDTH];
    size_t steps = (rows + STEP - 1) / STEP;
    tile_fn *tile = t->tile[steps - 1];
    for (size_t j = 0; j < columns; j += WIDTH) {
        if (rows == steps * STEP && j + WIDTH <= columns) {
            tile(a, b + j * k, k, beta, c + j, t->n);
            continue;
        }
        tile(a, b + j * k, k, 0.0f, sum, WIDTH);
        add_tile(sum, rows, formats_smaller(WIDTH, columns - j), beta, c + j, t->n);
    }
}

static void gemm_block(const gemm_task *t, size_t block, float *b) {
    _Alignas(LINE) float packed[PART * ROWS];
    size_t i = block / t->blocks_across * t->block_rows,
           end = formats_smaller(t->m, i + t->block_rows);
    size_t j = block % t->blocks_across * t->block_columns,
           columns = formats_smaller(t->block_columns, t->n - j);
    for (size_t p = 0, k; p < t->k; p += k) {
        k = part_of(t->k - p);
        pack_b(t, j, columns, p, k, b);
        for (size_t r = i; r < end; r += ROWS) {
            size_t rows = formats_smaller(ROWS, end - r);
            add_tiles(t, rows, columns, rows_of_a(t, r, rows, p, k, packed), b, k,
                      p ? 1.0f : t->beta, t->c + r * t->n + j);
        }
    }
}

/* The function of a thread: takes blocks until there are none. */
static void gemm_worker(void *context, size_t worker) {
    gemm_task *t = context;
    float *panels = t->panels + worker * t->block_columns * t->depth;
    for (size_t i; (i = atomic_fetch_add(&t->next, 1)) < t->blocks;) gemm_block(t, i, panels);
}

static size_t blocks_of(size_t n, size_t block) { return (n + block - 1) / block; }

/* Choose the size of blocks: large enough for packing to take little time, but B must fit in the L2
 * cache. There are at least `enough` blocks if the shape allows it. The size may depend on the
 * number of threads, as no element of C depends on its block. */
static void choose_blocks(gemm_task *t, size_t enough) {
    enum { LEAST_ROWS = 128, LEAST_COLUMNS = 64 };
    t->block_rows = 1024, t->block_columns = 512;
    while (blocks_of(t->m, t->block_rows) * blocks_of(t->n, t->block_columns) < enough) {
        if (t->block_rows > LEAST_ROWS && t->block_rows * 2 > t->block_columns)
            t->block_rows /= 2;
        else if (t->block_columns > LEAST_COLUMNS)
            t->block_columns /= 2;
        else
            break;
    }
    t->blocks_across = blocks_of(t->n, t->block_columns);
    t->blocks = blocks_of(t->m, t->block_rows) * t->blocks_across;
}

/* t: the arguments and kernels; the rest is set here. */
static taper_status gemm(codec_backend *be, gemm_task *t) {
    if (!t->m || !t->n || !t->k)
        return codec_plain_gemm(be, t->transpose_a, t->transpose_b, t->m, t->n, t->k, t->a, t->b,
                                t->beta, t->c);
    t->depth = formats_smaller(t->k, PART);
    choose_blocks(t, 2 * codec_pool_threads(be->pool));
    size_t workers = formats_smaller(codec_pool_threads(be->pool), t->blocks);
    size_t size = workers * t->block_columns * t->depth * sizeof(float) + LINE;
    char *memory = malloc(size);
    if (!memory) return TAPER_ERR_NOMEM;
    t->panels = (float *)(void *)(memory + (LINE - (uintptr_t)memory % LINE) % LINE);
    codec_pool_run(be->pool, gemm_worker, t, workers);
    free(memory);
    return TAPER_OK;
}

static taper_status gemm_512(codec_backend *be, int transpose_a, int transpose_b, size_t m,
                             size_t n, size_t k, const float *a, const float *b, float beta,
                             float *c) {
    gemm_task t = {transpose_a, transpose_b, m, n, k, a, b, beta, c, .tile = tiles_512};
    return gemm(be, &t);
}

static taper_status gemm_256(codec_backend *be, int transpose_a, int transpose_b, size_t m,
                             size_t n, size_t k, const float *a, const float *b, float beta,
                             float *c) {
    gemm_task t = {transpose_a, transpose_b, m, n, k, a, b, beta, c, .tile = tiles_256};
    return gemm(be, &t);
}

static const codec_backend_ops ops_512 = {"fused", gemm_512, codec_plain_bias};
static const codec_backend_ops ops_256 = {"fused", gemm_256, codec_plain_bias};

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
