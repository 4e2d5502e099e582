/* products.cu -- matrix products, and biases; see train/device/operations.h. */
#include "train/cuda/factors.h"
#include "train/cuda/lt.h"
#include "train/cuda/operations.h"
#include "train/device/elements.h"
#include "train/cuda/stream.h"
#include "train/device/elements.h"

static const unsigned THREADS = 256;

/* --- products -------------------------------------------------------------------------- */

taper_status train_cuda_gemm(train_stream *s, int transpose_a, int transpose_b, size_t m, size_t n,
                             size_t k, const float *a, const float *b, float beta, float *c) {
    if (!m || !n) return TAPER_OK;
    CUDA_BEGIN(s, "gemm", CUDA_NUMBERS(a, m * k), CUDA_NUMBERS(b, k * n), CUDA_NUMBERS(c, m * n));
    if (!k && beta == 0.0f) return train_zero(s, c, m * n * sizeof *c);
    if (!k) return train_cuda_scale(s, m * n, beta, c, c);
    const cuda_product p = {"gemm", transpose_a, transpose_b, m, n, k, a, b, beta, c};
    cuda_finish left;
    TAPER_TRY(cuda_lt_product(s, &p, &left));
    return cuda_end(s, "gemm");
}

/* --- sums of products of columns ------------------------------------------------------- */

/* A block computes TILE x TILE elements of the triangle and keeps DEPTH rows of their columns in
 * shared memory at a time. A thread computes EACH_WAY x EACH_WAY elements, ACROSS apart. */
static const unsigned TILE = 64, DEPTH = 32, ACROSS = 16, EACH_WAY = TILE / ACROSS;

/* kept[DEPTH][TILE] = columns from `first` on of rows from r on of x[rows][width], 0 outside. */
static __device__ void keep_columns(size_t rows, size_t width, size_t r, size_t first,
                                    const float *x, float *kept) {
    const size_t lane = threadIdx.x % TILE, step = blockDim.x / TILE;
    for (size_t d = threadIdx.x / TILE; BELOW(d, DEPTH); d += step) {
        const bool is_there = BELOW(r + d, rows) && BELOW(first + lane, width);
        kept[d * TILE + lane] = is_there ? x[(r + d) * width + first + lane] : 0.0f;
    }
}

/* sum += products of this thread's columns of a and of b. The fused multiply-add is explicit,
 * because --fmad=false disables it: one rounding less, and twice as fast. */
static __device__ void add_kept(const float *a, const float *b, float (&sum)[EACH_WAY][EACH_WAY]) {
    for (unsigned d = 0; BELOW(d, DEPTH); d++)
        for (unsigned i = 0; BELOW(i, EACH_WAY); i++)
            for (unsigned j = 0; BELOW(j, EACH_WAY); j++)
                sum[i][j] = fmaf(a[d * TILE + i * ACROSS], b[d * TILE + j * ACROSS], sum[i][j]);
}

/* total += sum, and sum = 0. */
static __device__ void add_block(float step, float (&sum)[EACH_WAY][EACH_WAY],
                                 double (&total)[EACH_WAY][EACH_WAY]) {
    for (unsigned i = 0; BELOW(i, EACH_WAY); i++)
        for (unsigned j = 0; BELOW(j, EACH_WAY); j++)
            total[i][j] += train_gram_part(sum[i][j], step), sum[i][j] = 0.0f;
}

static __global__ void gram_kernel(size_t rows, size_t width, const float *x, float step,
                                   double *gram) {
    SHARED(float, kept_a, DEPTH *TILE);
    SHARED(float, kept_b, DEPTH *TILE);
    const unsigned across = threadIdx.x % ACROSS, down = threadIdx.x / ACROSS;
    size_t row = 0, column = blockIdx.x; /* tiles are numbered by rows of the triangle */
    while (column > row) column -= ++row;
    row *= TILE, column *= TILE;
    float sum[EACH_WAY][EACH_WAY] = {};
    double total[EACH_WAY][EACH_WAY] = {};
    for (size_t r = 0; r < rows; r += DEPTH) {
        if (r % TRAIN_GRAM_ROWS == 0) add_block(step, sum, total);
        keep_columns(rows, width, r, row, x, kept_a);
        keep_columns(rows, width, r, column, x, kept_b);
        BARRIER();
        add_kept(kept_a + down, kept_b + across, sum);
        BARRIER();
    }
    add_block(step, sum, total);
    for (unsigned i = 0; BELOW(i, EACH_WAY); i++)
        for (unsigned j = 0; BELOW(j, EACH_WAY); j++) {
            const size_t to = row + down + i * ACROSS, with = column + across + j * ACROSS;
            if (BELOW(to, width) && BELOW(with, to + 1)) gram[to * width + with] += total[i][j];
        }
}

taper_status train_cuda_add_gram(train_stream *s, size_t rows, size_t width, const float *x,
                                 float step, double *gram) {
    const size_t tiles = (width + TILE - 1) / TILE;
    if (!rows || !width) return TAPER_OK;
    CUDA_BEGIN(s, "add_gram", CUDA_ARRAY(x, rows * width), CUDA_ARRAY(gram, width * width));
    LAUNCH(gram_kernel, tiles * (tiles + 1) / 2, THREADS, cuda_on(s), rows, width, x, step, gram);
    return cuda_end(s, "add_gram");
}

/* --- biases ---------------------------------------------------------------------------- */

static __global__ void bias_kernel(size_t n, size_t width, const float *bias,
                                   codec_activation activation, cuda_numbers y) {
    for (EACH(i, n))
        y.put(i, codec_activate(activation, y.get(i) + (bias ? bias[i % width] : 0.0f)));
}

taper_status train_cuda_bias(train_stream *s, size_t rows, size_t width, const float *bias,
                             codec_activation activation, float *y) {
    CUDA_BEGIN(s, "bias", CUDA_ARRAY(bias, width), CUDA_NUMBERS(y, rows * width));
    LAUNCH(bias_kernel, cuda_blocks(rows * width, THREADS), THREADS, cuda_on(s), rows * width,
           width, bias, activation, cuda_numbers_at(s, y));
    return cuda_end(s, "bias");
}

taper_status train_cuda_affine(train_stream *s, const train_affine *l) {
    cuda_finish left = CUDA_BIAS_AND_ACTIVATION;
    if (!l->m || !l->n) return TAPER_OK;
    if (!l->k || !l->bias) {
        TAPER_TRY(train_cuda_gemm(s, l->transpose_a, l->transpose_b, l->m, l->n, l->k, l->a, l->b,
                                  l->beta, l->c));
    } else {
        CUDA_BEGIN(s, "affine", CUDA_NUMBERS(l->a, l->m * l->k), CUDA_NUMBERS(l->b, l->k * l->n),
                   CUDA_ARRAY(l->bias, l->n), CUDA_NUMBERS(l->c, l->m * l->n));
        const cuda_product p = {"affine", l->transpose_a, l->transpose_b, l->m,
                                l->n,     l->k,           l->a,           l->b,
                                l->beta,  l->c,           l->bias,        l->activation};
        TAPER_TRY(cuda_lt_product(s, &p, &left));
        TAPER_TRY(cuda_end(s, "affine"));
    }
    if (left == CUDA_NOTHING) return TAPER_OK;
    return train_cuda_bias(s, l->m, l->n, left == CUDA_ACTIVATION ? NULL : l->bias, l->activation,
                           l->c);
}

/* --- gradients of biases --------------------------------------------------------------- */

/* Column sums. A block has 32 columns of one part of the rows, and each of its warps every eighth
 * row of that part. The sums of parts, in `scratch`, are added in order by column_kernel. */
static const unsigned COLUMNS = 32, WALKERS = THREADS / COLUMNS, MOST_PARTS = 64;

/* Columns that are summed at once: the sums of all parts fit into the stream's scratch memory. */
static const size_t MOST_COLUMNS = CUDA_SCRATCH_BYTES / sizeof(float) / MOST_PARTS;

/* Columns first .. first + width - 1 of rows that are `stride` elements apart. */
struct columns {
    size_t rows, width, stride, first;
};

static size_t parts_of(size_t rows) {
    const size_t parts = (rows + 63) / 64;
    return parts < MOST_PARTS ? parts : MOST_PARTS;
}

/* A block has a tile: the rows of one part, and COLUMNS columns. */
static __global__ void backward_kernel(columns c, size_t parts, size_t across,
                                       codec_activation activation, cuda_numbers y, cuda_numbers dy,
                                       float *scratch) {
    SHARED(float, sums, THREADS);
    const size_t lane = threadIdx.x % COLUMNS, walker = threadIdx.x / COLUMNS,
                 part = blockIdx.x / across, column = blockIdx.x % across * COLUMNS + lane,
                 end = c.rows * (part + 1) / parts;
    float sum = 0.0f;
    for (size_t r = c.rows * part / parts + walker; BELOW(r, end); r += WALKERS) {
        if (!BELOW(column, c.width)) continue;
        const size_t at = r * c.stride + c.first + column;
        const float output = activation == CODEC_LINEAR ? 0.0f : y.get(at),
                    d = train_slope(activation, output, dy.get(at));
        if (activation != CODEC_LINEAR) dy.put(at, d);
        sum += d;
    }
    sums[threadIdx.x] = sum;
    BARRIER();
    if (walker == 0 && BELOW(column, c.width)) {
        for (unsigned w = 1; w < WALKERS; w++) sum += sums[w * COLUMNS + lane];
        scratch[part * c.width + column] = sum;
    }
}

static __global__ void column_kernel(size_t parts, size_t width, const float *scratch, int add_to,
                                     float *dbias) {
    for (EACH(column, width)) {
        float sum = add_to ? dbias[column] : 0.0f;
        for (size_t part = 0; BELOW(part, parts); part++) sum += scratch[part * width + column];
        dbias[column] = sum;
    }
}

/* Sums one slice of the columns. */
static void sum_columns(train_stream *s, const columns &c, codec_activation activation,
                        const cuda_numbers &y, const cuda_numbers &dy, int add_to, float *dbias) {
    const size_t across = (c.width + COLUMNS - 1) / COLUMNS, parts = parts_of(c.rows);
    float *scratch = (float *)cuda_scratch(s);
    if (parts)
        LAUNCH(backward_kernel, parts * across, THREADS, cuda_on(s), c, parts, across, activation,
               y, dy, scratch);
    LAUNCH(column_kernel, cuda_blocks(c.width, THREADS), THREADS, cuda_on(s), parts, c.width,
           scratch, add_to, dbias + c.first);
}

static __global__ void slope_kernel(size_t n, codec_activation activation, cuda_numbers y,
                                    cuda_numbers dy) {
    for (EACH(i, n)) dy.put(i, train_slope(activation, y.get(i), dy.get(i)));
}

taper_status train_cuda_bias_backward(train_stream *s, size_t rows, size_t width,
                                      codec_activation activation, const float *y, float *dy,
                                      int add_to, float *dbias) {
    const size_t n = rows * width;
    if (activation == CODEC_LINEAR) y = NULL; /* not read */
    CUDA_BEGIN(s, "bias_backward", CUDA_NUMBERS(y, n), CUDA_NUMBERS(dy, n),
               CUDA_ARRAY(dbias, width));
    const cuda_numbers output = cuda_numbers_at(s, y), errors = cuda_numbers_at(s, dy);
    if (!dbias && activation == CODEC_LINEAR) return TAPER_OK;
    if (!dbias)
        LAUNCH(slope_kernel, cuda_blocks(n, THREADS), THREADS, cuda_on(s), n, activation, output,
               errors);
    for (size_t first = 0; dbias && first < width; first += MOST_COLUMNS) {
        const size_t left = width - first;
        const columns c = {rows, left < MOST_COLUMNS ? left : MOST_COLUMNS, width, first};
        sum_columns(s, c, activation, output, errors, add_to, dbias);
    }
    return cuda_end(s, "bias_backward");
}

/* A fused product stores its sums, which are then added like those of a single part. */
taper_status train_cuda_weight_gradient(train_stream *s, const train_weight_gradient *g) {
    const size_t width = g->of_b ? g->n : g->m, scratch = CUDA_SCRATCH_BYTES / sizeof(float);
    float *stored = (float *)cuda_scratch(s), *summed = (float *)(g->of_b ? g->b : g->a);
    cuda_finish left = CUDA_SUMS;
    if (!g->sums || !g->rows || !g->m || !g->n || width > scratch) {
        TAPER_TRY(train_cuda_gemm(s, 1, 0, g->m, g->n, g->rows, g->a, g->b, 1.0f, g->c));
    } else {
        CUDA_BEGIN(s, "weight_gradient", CUDA_NUMBERS(g->a, g->rows * g->m),
                   CUDA_NUMBERS(g->b, g->rows * g->n), CUDA_ARRAY(g->c, g->m * g->n),
                   CUDA_ARRAY(g->sums, width));
        cuda_product p = {"weight_gradient", 1, 0, g->m, g->n, g->rows, g->a, g->b, 1.0f, g->c};
        p.sums = stored, p.of_b = g->of_b;
        TAPER_TRY(cuda_lt_product(s, &p, &left));
        if (left == CUDA_NOTHING)
            LAUNCH(column_kernel, cuda_blocks(width, THREADS), THREADS, cuda_on(s), (size_t)1,
                   width, (const float *)stored, 1, g->sums);
        TAPER_TRY(cuda_end(s, "weight_gradient"));
    }
    if (left == CUDA_NOTHING || !g->sums) return TAPER_OK;
    return train_cuda_bias_backward(s, g->rows, width, CODEC_LINEAR, NULL, summed, 1, g->sums);
}
