/* layers.cu -- clipped layers, residual layers, normalised layers; see
 * train/device/operations.h. */
#include "train/cuda/kernels/teams.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements.h"

static const unsigned THREADS = 256;

/* --- sums of columns ------------------------------------------------------------------- */

/* A block has 32 columns, one for each lane; its warps share the rows. */
static const unsigned WARPS = THREADS / CUDA_WARP;

static size_t tiles_of(size_t width) { return (width + CUDA_WARP - 1) / CUDA_WARP; }

/* Warp 0 gets the sums of its block's columns; all threads call it once. */
static __device__ float column_sum(float part, float *scratch) {
    const unsigned lane = threadIdx.x % CUDA_WARP;
    float sum = 0.0f;
    scratch[threadIdx.x] = part;
    BARRIER();
    for (unsigned w = 0; w < WARPS; w++) sum += scratch[w * CUDA_WARP + lane];
    return sum;
}

/* dbias[width] += sums over blocks of sums[blocks][width]. */
static __global__ void add_sums_kernel(size_t blocks, size_t width, const float *__restrict__ sums,
                                       float *__restrict__ dbias) {
    SHARED(float, scratch, THREADS);
    const unsigned lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const size_t column = (size_t)blockIdx.x * CUDA_WARP + lane;
    const int is_column = BELOW(column, width);
    float sum = 0.0f;
    if (is_column)
        for (size_t b = warp; BELOW(b, blocks); b += WARPS) sum += sums[b * width + column];
    sum = column_sum(sum, scratch);
    if (warp == 0 && is_column) dbias[column] += sum;
}

/* The part of a thread of a gradient kernel: a column, and the rows of a block of TRAIN_SUM_ROWS
 * that it sums. */
struct rows_of_block {
    size_t column, first, end;
    int is_column;
};
static __device__ rows_of_block rows_here(size_t tiles, size_t rows, size_t width) {
    const size_t block = blockIdx.x / tiles * TRAIN_SUM_ROWS,
                 column = blockIdx.x % tiles * CUDA_WARP + threadIdx.x % CUDA_WARP;
    rows_of_block here = {column, block + threadIdx.x / CUDA_WARP,
                          rows - block < TRAIN_SUM_ROWS ? rows : block + TRAIN_SUM_ROWS,
                          BELOW(column, width)};
    return here;
}
static __device__ void put_sum(const rows_of_block *here, size_t tiles, size_t width, float part,
                               float *scratch, float *sums) {
    const float sum = column_sum(part, scratch);
    if (threadIdx.x < CUDA_WARP && here->is_column)
        sums[blockIdx.x / tiles * width + here->column] = sum;
}

/* --- clip to 0 .. top ------------------------------------------------------------------ */

static __global__ void clip_kernel(unsigned team, size_t rows, size_t width,
                                   const float *__restrict__ bias, float top,
                                   float *__restrict__ y) {
    for (EACH_TEAM(row, rows, team))
        for (EACH_MEMBER(j, width, team))
            y[row * width + j] = train_clip(y[row * width + j] + bias[j], top);
}

taper_status train_cuda_clip(train_stream *s, size_t rows, size_t width, const float *bias,
                             float top, float *y) {
    const unsigned team = cuda_team(width);
    if (!rows || !width) return TAPER_OK;
    CUDA_BEGIN(s, "clip", CUDA_ARRAY(bias, width), CUDA_ARRAY(y, rows * width));
    LAUNCH(clip_kernel, cuda_team_blocks(rows, team), THREADS, cuda_on(s), team, rows, width, bias,
           top, y);
    return cuda_end(s, "clip");
}

static __global__ void clip_back_kernel(size_t tiles, size_t rows, size_t width, float top,
                                        const float *__restrict__ y, float *__restrict__ dy,
                                        float *__restrict__ sums) {
    SHARED(float, scratch, THREADS);
    const rows_of_block here = rows_here(tiles, rows, width);
    float sum = 0.0f;
    if (here.is_column)
        for (size_t row = here.first; BELOW(row, here.end); row += WARPS) {
            const size_t i = row * width + here.column;
            const float back = train_clip_back(y[i], top, dy[i]);
            dy[i] = back;
            sum += back;
        }
    put_sum(&here, tiles, width, sum, scratch, sums);
}

taper_status train_cuda_clip_backward(train_stream *s, size_t rows, size_t width, float top,
                                      const float *y, float *dy, float *dbias, float *scratch) {
    const size_t blocks = train_sum_blocks(rows), tiles = tiles_of(width), n = rows * width;
    if (!n) return TAPER_OK;
    CUDA_BEGIN(s, "clip_backward", CUDA_ARRAY(y, n), CUDA_ARRAY(dy, n), CUDA_ARRAY(dbias, width),
               CUDA_ARRAY(scratch, blocks * width));
    LAUNCH(clip_back_kernel, blocks * tiles, THREADS, cuda_on(s), tiles, rows, width, top, y, dy,
           scratch);
    LAUNCH(add_sums_kernel, tiles, THREADS, cuda_on(s), blocks, width, scratch, dbias);
    return cuda_end(s, "clip_backward");
}

/* --- residual: clip to 0 .. top, add, limit to top ------------------------------------- */

static __global__ void clip_added_kernel(unsigned team, train_residual l) {
    const float *__restrict__ bias = l.bias, *__restrict__ from = l.from;
    float *__restrict__ added = l.added, *__restrict__ to = l.to;
    for (EACH_TEAM(row, l.rows, team))
        for (EACH_MEMBER(j, l.width, team)) {
            const size_t i = row * l.width + j;
            const float clipped = train_clip(added[i] + bias[j], l.top);
            added[i] = clipped;
            to[i] = train_up_to(from[i] + clipped, l.top);
        }
}

taper_status train_cuda_clip_added(train_stream *s, const train_residual *l) {
    const unsigned team = cuda_team(l->width);
    const size_t n = l->rows * l->width;
    if (!n) return TAPER_OK;
    CUDA_BEGIN(s, "clip_added", CUDA_ARRAY(l->bias, l->width), CUDA_ARRAY(l->from, n),
               CUDA_ARRAY(l->added, n), CUDA_ARRAY(l->to, n));
    LAUNCH(clip_added_kernel, cuda_team_blocks(l->rows, team), THREADS, cuda_on(s), team, *l);
    return cuda_end(s, "clip_added");
}

static __global__ void clip_added_back_kernel(size_t tiles, train_residual l,
                                              float *__restrict__ dto, float *__restrict__ dadded,
                                              float *__restrict__ sums) {
    SHARED(float, scratch, THREADS);
    const float *__restrict__ added = l.added, *__restrict__ to = l.to;
    const rows_of_block here = rows_here(tiles, l.rows, l.width);
    float sum = 0.0f;
    if (here.is_column)
        for (size_t row = here.first; BELOW(row, here.end); row += WARPS) {
            const size_t i = row * l.width + here.column;
            const float back = train_up_to_back(to[i], l.top, dto[i]),
                        inside = train_clip_back(added[i], l.top, back);
            dto[i] = back;
            dadded[i] = inside;
            sum += inside;
        }
    put_sum(&here, tiles, l.width, sum, scratch, sums);
}

taper_status train_cuda_clip_added_backward(train_stream *s, const train_residual *l, float *dto,
                                            float *dadded, float *dbias, float *scratch) {
    const size_t blocks = train_sum_blocks(l->rows), tiles = tiles_of(l->width),
                 n = l->rows * l->width;
    const float *added = l->added, *to = l->to; /* inputs */
    if (!n) return TAPER_OK;
    CUDA_BEGIN(s, "clip_added_backward", CUDA_ARRAY(added, n), CUDA_ARRAY(to, n),
               CUDA_ARRAY(dto, n), CUDA_ARRAY(dadded, n), CUDA_ARRAY(dbias, l->width),
               CUDA_ARRAY(scratch, blocks * l->width));
    LAUNCH(clip_added_back_kernel, blocks * tiles, THREADS, cuda_on(s), tiles, *l, dto, dadded,
           scratch);
    LAUNCH(add_sums_kernel, tiles, THREADS, cuda_on(s), blocks, l->width, scratch, dbias);
    return cuda_end(s, "clip_added_backward");
}

/* --- clip to -top .. top, and the positive part ---------------------------------------- */

static __global__ void relu_added_kernel(unsigned team, size_t rows, size_t width,
                                         const float *__restrict__ bias, float top,
                                         const float *__restrict__ before, float *__restrict__ h,
                                         float *__restrict__ a) {
    for (EACH_TEAM(row, rows, team))
        for (EACH_MEMBER(j, width, team)) {
            const size_t i = row * width + j;
            const float sum = h[i] + bias[j] + (before ? before[i] : 0.0f);
            train_relu_added(sum, top, &h[i], &a[i]);
        }
}

taper_status train_cuda_relu_added(train_stream *s, size_t rows, size_t width, const float *bias,
                                   float top, const float *before, float *h, float *a) {
    const unsigned team = cuda_team(width);
    const size_t n = rows * width;
    if (!n) return TAPER_OK;
    CUDA_BEGIN(s, "relu_added", CUDA_ARRAY(bias, width), CUDA_ARRAY(before, n), CUDA_ARRAY(h, n),
               CUDA_ARRAY(a, n));
    LAUNCH(relu_added_kernel, cuda_team_blocks(rows, team), THREADS, cuda_on(s), team, rows, width,
           bias, top, before, h, a);
    return cuda_end(s, "relu_added");
}

static __global__ void relu_added_back_kernel(size_t n, float top, const float *__restrict__ h,
                                              const float *__restrict__ da,
                                              float *__restrict__ dh) {
    for (EACH(i, n)) dh[i] = train_relu_added_back(h[i], top, da[i], dh[i]);
}

taper_status train_cuda_relu_added_backward(train_stream *s, size_t n, float top, const float *h,
                                            const float *da, float *dh) {
    if (!n) return TAPER_OK;
    CUDA_BEGIN(s, "relu_added_backward", CUDA_ARRAY(h, n), CUDA_ARRAY(da, n), CUDA_ARRAY(dh, n));
    LAUNCH(relu_added_back_kernel, cuda_blocks(n, THREADS), THREADS, cuda_on(s), n, top, h, da, dh);
    return cuda_end(s, "relu_added_backward");
}

/* --- batch normalisation --------------------------------------------------------------- */

/* A block has 32 columns of all rows, one for each lane. All threads of a lane get its column's
 * sum; scratch may be reused after the call. */
static __device__ float sum_of_column(float part, float *scratch) {
    const float sum = column_sum(part, scratch);
    BARRIER();
    return sum;
}

static __global__ void normalise_kernel(train_normalised n) {
    SHARED(float, scratch, THREADS);
    const unsigned warp = threadIdx.x / CUDA_WARP;
    const size_t column = (size_t)blockIdx.x * CUDA_WARP + threadIdx.x % CUDA_WARP;
    const int is_column = BELOW(column, n.width);
    const float top = is_column ? n.unit[column] : 0.0f; /* see train/processor/layers.c */
    float sum = 0.0f, squares = 0.0f;
    if (is_column)
        for (size_t r = warp; BELOW(r, n.rows); r += WARPS)
            sum += n.unit[r * n.width + column] - top;
    const float mean = top + sum_of_column(sum, scratch) / (float)n.rows;
    if (is_column)
        for (size_t r = warp; BELOW(r, n.rows); r += WARPS) {
            const float from_mean = n.unit[r * n.width + column] - mean;
            squares += from_mean * from_mean;
        }
    const float inverse = train_inverse_deviation(column_sum(squares, scratch), n.rows);
    if (!is_column) return;
    const float bias = n.bias[column];
    for (size_t r = warp; BELOW(r, n.rows); r += WARPS) {
        const size_t i = r * n.width + column;
        const float unit = (n.unit[i] - mean) * inverse;
        n.unit[i] = unit;
        n.y[i] = train_positive(unit + bias);
    }
    if (warp == 0) n.mean[column] = mean, n.inverse[column] = inverse;
}

taper_status train_cuda_normalise(train_stream *s, const train_normalised *n) {
    const size_t all = n->rows * n->width;
    if (!all) return TAPER_OK;
    CUDA_BEGIN(s, "normalise", CUDA_ARRAY(n->bias, n->width), CUDA_ARRAY(n->unit, all),
               CUDA_ARRAY(n->y, all), CUDA_ARRAY(n->mean, n->width),
               CUDA_ARRAY(n->inverse, n->width));
    LAUNCH(normalise_kernel, tiles_of(n->width), THREADS, cuda_on(s), *n);
    return cuda_end(s, "normalise");
}

static __global__ void normalise_back_kernel(train_normalised n, float *__restrict__ dy,
                                             float *__restrict__ dbias) {
    SHARED(float, scratch, THREADS);
    const unsigned warp = threadIdx.x / CUDA_WARP;
    const size_t column = (size_t)blockIdx.x * CUDA_WARP + threadIdx.x % CUDA_WARP;
    const int is_column = BELOW(column, n.width);
    const float of = 1.0f / (float)n.rows;
    float sum = 0.0f, product = 0.0f;
    if (is_column)
        for (size_t r = warp; BELOW(r, n.rows); r += WARPS) {
            const size_t i = r * n.width + column;
            const float d = train_slope(CODEC_RELU, n.y[i], dy[i]);
            dy[i] = d;
            sum += d;
            product += d * n.unit[i];
        }
    sum = sum_of_column(sum, scratch);
    product = column_sum(product, scratch);
    if (!is_column) return;
    const float inverse = n.inverse[column];
    for (size_t r = warp; BELOW(r, n.rows); r += WARPS) {
        const size_t i = r * n.width + column;
        dy[i] = train_normalise_back(dy[i], n.unit[i], inverse, sum * of, product * of);
    }
    if (warp == 0) dbias[column] += sum;
}

taper_status train_cuda_normalise_backward(train_stream *s, const train_normalised *n, float *dy,
                                           float *dbias) {
    const size_t all = n->rows * n->width;
    if (!all) return TAPER_OK;
    CUDA_BEGIN(s, "normalise_backward", CUDA_ARRAY(n->unit, all), CUDA_ARRAY(n->y, all),
               CUDA_ARRAY(n->inverse, n->width), CUDA_ARRAY(dy, all), CUDA_ARRAY(dbias, n->width));
    LAUNCH(normalise_back_kernel, tiles_of(n->width), THREADS, cuda_on(s), *n, dy, dbias);
    return cuda_end(s, "normalise_backward");
}
