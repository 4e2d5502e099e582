/* vectors.cu -- long vectors of numbers, weight decay by rows, and the optimiser; see
 * train/device/operations.h. */
#include "train/cuda/factors.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements.h"
#include "train/device/elements_units.h"

static const unsigned THREADS = 256, TILE = 32;

static unsigned blocks_of(size_t n) { return cuda_blocks(n, THREADS); }

/* --- element by element ---------------------------------------------------------------- */

static __global__ void scale_kernel(size_t n, float factor, cuda_numbers x, cuda_numbers y) {
    for (EACH(i, n)) y.put(i, factor * x.get(i));
}

taper_status train_cuda_scale(train_stream *s, size_t n, float factor, const float *x, float *y) {
    CUDA_BEGIN(s, "scale", CUDA_NUMBERS(x, n), CUDA_NUMBERS(y, n));
    LAUNCH(scale_kernel, blocks_of(n), THREADS, cuda_on(s), n, factor, cuda_numbers_at(s, x),
           cuda_numbers_at(s, y));
    return cuda_end(s, "scale");
}

static __global__ void exponential_kernel(size_t n, float factor, const float *x, float *y) {
    for (EACH(i, n)) y[i] = train_exp(factor * x[i]);
}

taper_status train_cuda_exponential(train_stream *s, size_t n, float factor, const float *x,
                                    float *y) {
    CUDA_BEGIN(s, "exponential", CUDA_ARRAY(x, n), CUDA_ARRAY(y, n));
    LAUNCH(exponential_kernel, blocks_of(n), THREADS, cuda_on(s), n, factor, x, y);
    return cuda_end(s, "exponential");
}

static __global__ void add_products_kernel(size_t n, const float *a, const float *b, float *y) {
    for (EACH(i, n)) y[i] += a[i] * b[i];
}

taper_status train_cuda_add_products(train_stream *s, size_t n, const float *a, const float *b,
                                     float *y) {
    CUDA_BEGIN(s, "add_products", CUDA_ARRAY(a, n), CUDA_ARRAY(b, n), CUDA_ARRAY(y, n));
    LAUNCH(add_products_kernel, blocks_of(n), THREADS, cuda_on(s), n, a, b, y);
    return cuda_end(s, "add_products");
}

static __global__ void axpy_kernel(size_t n, float factor, const float *x, float *y) {
    for (EACH(i, n)) y[i] += factor * x[i];
}

taper_status train_cuda_axpy(train_stream *s, size_t n, float factor, const float *x, float *y) {
    CUDA_BEGIN(s, "axpy", CUDA_ARRAY(x, n), CUDA_ARRAY(y, n));
    LAUNCH(axpy_kernel, blocks_of(n), THREADS, cuda_on(s), n, factor, x, y);
    return cuda_end(s, "axpy");
}

static __global__ void interpolate_kernel(size_t n, float part, const float *a, const float *b,
                                          float *to) {
    for (EACH(i, n)) to[i] = a[i] + part * (b[i] - a[i]);
}

taper_status train_cuda_interpolate(train_stream *s, size_t n, float part, const float *a,
                                    const float *b, float *to) {
    CUDA_BEGIN(s, "interpolate", CUDA_ARRAY(a, n), CUDA_ARRAY(b, n), CUDA_ARRAY(to, n));
    LAUNCH(interpolate_kernel, blocks_of(n), THREADS, cuda_on(s), n, part, a, b, to);
    return cuda_end(s, "interpolate");
}

static __global__ void standardise_kernel(size_t n, float centre, float scale, float most,
                                          const float *x, float *y) {
    for (EACH(i, n)) {
        float z = (x[i] - centre) / scale;
        y[i] = z > most ? most : z < -most ? -most : z;
    }
}

taper_status train_cuda_standardise(train_stream *s, size_t n, float centre, float scale,
                                    float most, const float *x, float *y) {
    CUDA_BEGIN(s, "standardise", CUDA_ARRAY(x, n), CUDA_ARRAY(y, n));
    LAUNCH(standardise_kernel, blocks_of(n), THREADS, cuda_on(s), n, centre, scale, most, x, y);
    return cuda_end(s, "standardise");
}

/* A block has a tile of TILE x TILE of one matrix; it reads rows and writes rows. */
static __global__ void transpose_kernel(size_t across, size_t of_one, size_t rows, size_t columns,
                                        const float *from, float *to) {
    SHARED(float, tile, TILE *(TILE + 1));
    const size_t lane = threadIdx.x % TILE, first = threadIdx.x / TILE, step = blockDim.x / TILE;
    const size_t matrix = blockIdx.x / of_one * rows * columns, place = blockIdx.x % of_one,
                 row = place / across * TILE, column = place % across * TILE;
    for (size_t i = first; BELOW(i, TILE); i += step)
        if (BELOW(row + i, rows) && BELOW(column + lane, columns))
            tile[i * (TILE + 1) + lane] = from[matrix + (row + i) * columns + column + lane];
    BARRIER();
    for (size_t i = first; BELOW(i, TILE); i += step)
        if (BELOW(column + i, columns) && BELOW(row + lane, rows))
            to[matrix + (column + i) * rows + row + lane] = tile[lane * (TILE + 1) + i];
}

taper_status train_cuda_transpose(train_stream *s, size_t n, size_t rows, size_t columns,
                                  const float *from, float *to) {
    const size_t across = (columns + TILE - 1) / TILE, of_one = across * ((rows + TILE - 1) / TILE);
    if (!n || !rows || !columns) return TAPER_OK;
    CUDA_BEGIN(s, "transpose", CUDA_ARRAY(from, n * rows * columns),
               CUDA_ARRAY(to, n * rows * columns));
    LAUNCH(transpose_kernel, n * of_one, THREADS, cuda_on(s), across, of_one, rows, columns, from,
           to);
    return cuda_end(s, "transpose");
}

/* --- in double ------------------------------------------------------------------------- */

static __global__ void combine_kernel(size_t n, double alpha, const float *x, double beta,
                                      const float *y, float *to) {
    for (EACH(i, n)) to[i] = (float)(alpha * x[i] + beta * y[i]);
}

taper_status train_cuda_combine(train_stream *s, size_t n, double alpha, const float *x,
                                double beta, const float *y, float *to) {
    CUDA_BEGIN(s, "combine", CUDA_ARRAY(x, n), CUDA_ARRAY(y, n), CUDA_ARRAY(to, n));
    LAUNCH(combine_kernel, blocks_of(n), THREADS, cuda_on(s), n, alpha, x, beta, y, to);
    return cuda_end(s, "combine");
}

static __global__ void add_difference_kernel(size_t n, const float *a, const float *b, float *y) {
    for (EACH(i, n)) y[i] = (float)((double)y[i] + a[i] - b[i]);
}

taper_status train_cuda_add_difference(train_stream *s, size_t n, const float *a, const float *b,
                                       float *y) {
    CUDA_BEGIN(s, "add_difference", CUDA_ARRAY(a, n), CUDA_ARRAY(b, n), CUDA_ARRAY(y, n));
    LAUNCH(add_difference_kernel, blocks_of(n), THREADS, cuda_on(s), n, a, b, y);
    return cuda_end(s, "add_difference");
}

/* --- sums ------------------------------------------------------------------------------ */

/* elements of a thread, at least; blocks, at most */
static const unsigned SUM_EACH = 8, SUM_BLOCKS = 512;

static unsigned sum_blocks(size_t n) {
    unsigned blocks = cuda_blocks(n, THREADS * SUM_EACH);
    return blocks < SUM_BLOCKS ? blocks : SUM_BLOCKS;
}

/* scratch[block] = this block's part of the sum of a b. */
static __global__ void dot_kernel(size_t n, const float *a, const float *b, double *scratch) {
    SHARED(double, warps, CUDA_WARP);
    double sum = 0.0;
    for (EACH(i, n)) sum += (double)a[i] * b[i];
    sum = block_sum(sum, warps);
    if (threadIdx.x == 0) scratch[blockIdx.x] = sum;
}

/* scratch[block] and scratch[SUM_BLOCKS + block]: of |a - b|^2 and |a|^2. */
static __global__ void distance_kernel(size_t n, const float *a, const float *b, double *scratch) {
    SHARED(double, warps, CUDA_WARP);
    double apart = 0.0, length = 0.0;
    for (EACH(i, n)) {
        double d = (double)a[i] - b[i];
        apart += d * d, length += (double)a[i] * a[i];
    }
    apart = block_sum(apart, warps);
    length = block_sum(length, warps);
    if (threadIdx.x == 0) scratch[blockIdx.x] = apart, scratch[SUM_BLOCKS + blockIdx.x] = length;
}

/* Runs in one block: *sum = add_to *sum + sum of scratch[n]. */
static __global__ void finish_kernel(size_t n, const double *scratch, int add_to, double *sum) {
    SHARED(double, warps, CUDA_WARP);
    double part = 0.0;
    for (EACH_IN_BLOCK(i, n)) part += scratch[i];
    part = block_sum(part, warps);
    if (threadIdx.x == 0) *sum = (add_to ? *sum : 0.0) + part;
}

taper_status train_cuda_sum_squares(train_stream *s, size_t n, const float *x, int add_to,
                                    double *sum) {
    const unsigned blocks = sum_blocks(n);
    CUDA_BEGIN(s, "sum_squares", CUDA_ARRAY(x, n), CUDA_ARRAY(sum, 1));
    LAUNCH(dot_kernel, blocks, THREADS, cuda_on(s), n, x, x, cuda_scratch(s));
    LAUNCH(finish_kernel, 1, THREADS, cuda_on(s), blocks, cuda_scratch(s), add_to, sum);
    return cuda_end(s, "sum_squares");
}

taper_status train_cuda_dot(train_stream *s, size_t n, const float *a, const float *b,
                            double *sum) {
    const unsigned blocks = sum_blocks(n);
    CUDA_BEGIN(s, "dot", CUDA_ARRAY(a, n), CUDA_ARRAY(b, n), CUDA_ARRAY(sum, 1));
    LAUNCH(dot_kernel, blocks, THREADS, cuda_on(s), n, a, b, cuda_scratch(s));
    LAUNCH(finish_kernel, 1, THREADS, cuda_on(s), blocks, cuda_scratch(s), 0, sum);
    return cuda_end(s, "dot");
}

taper_status train_cuda_distance(train_stream *s, size_t n, const float *a, const float *b,
                                 double *squares) {
    const unsigned blocks = sum_blocks(n);
    double *scratch = cuda_scratch(s);
    CUDA_BEGIN(s, "distance", CUDA_ARRAY(a, n), CUDA_ARRAY(b, n), CUDA_ARRAY(squares, 2));
    LAUNCH(distance_kernel, blocks, THREADS, cuda_on(s), n, a, b, scratch);
    LAUNCH(finish_kernel, 1, THREADS, cuda_on(s), blocks, scratch, 0, squares);
    LAUNCH(finish_kernel, 1, THREADS, cuda_on(s), blocks, scratch + SUM_BLOCKS, 0, squares + 1);
    return cuda_end(s, "distance");
}

/* --- weight decay of rows ------------------------------------------------------------- */

/* A block for each row: its sums, then its gradient, while the row is still in the cache.
 * scratch[block] gets the penalty of the block's rows. */
static __global__ void decay_kernel(train_decay d, double *scratch) {
    SHARED(double, warps, CUDA_WARP);
    SHARED(double, of_row, 1);
    const int is_l2 = d.penalty == TRAIN_PENALTY_L2,
              is_given = d.coefficient == TRAIN_COEFFICIENT_GIVEN;
    double value = 0.0;
    for (EACH_BLOCK(row, d.rows)) {
        const float *w = d.weight + row * d.width;
        float *g = d.gradient + row * d.width;
        double own = 0.0, squares = 0.0, sizes = 0.0, some = 0.0;
        for (EACH_IN_BLOCK(i, d.width)) {
            own += (double)g[i] * g[i], squares += (double)w[i] * w[i];
            sizes += fabs((double)w[i]), some += w[i] != 0.0f;
        }
        own = block_sum(own, warps);
        const double slopes = block_sum(is_l2 ? squares : some, warps),
                     size = is_l2 ? slopes : block_sum(sizes, warps);
        if (threadIdx.x == 0) {
            const double l = is_given
                                 ? d.lambda[row]
                                 : train_decay_coefficient(d.coefficient, d.strength, own, slopes);
            if (d.lambda) d.lambda[row] = l;
            if (l > 0.0) value += (is_l2 ? 0.5 * l : l) * size;
            *of_row = l;
        }
        BARRIER();
        const double l = *of_row;
        if (is_given && !(l > 0.0)) continue;
        for (EACH_IN_BLOCK(i, d.width))
            g[i] = is_l2 ? train_decayed_l2(l, w[i], g[i]) : train_decayed_l1(l, w[i], g[i]);
    }
    if (threadIdx.x == 0) scratch[blockIdx.x] = value;
}

/* Runs in one block. */
static __global__ void value_kernel(size_t n, const double *scratch, double *value) {
    SHARED(double, warps, CUDA_WARP);
    double sum = 0.0;
    for (EACH_IN_BLOCK(i, n)) sum += scratch[i];
    sum = block_sum(sum, warps);
    if (threadIdx.x == 0) *value += sum;
}

taper_status train_cuda_decay(train_stream *s, const train_decay *d) {
    const size_t n = d->rows * d->width;
    const unsigned blocks = cuda_blocks(d->rows, 1);
    double *scratch = cuda_scratch(s);
    CUDA_BEGIN(s, "decay", CUDA_ARRAY(d->weight, n), CUDA_ARRAY(d->gradient, n),
               CUDA_ARRAY(d->lambda, d->rows), CUDA_ARRAY(d->value, 1));
    LAUNCH(decay_kernel, blocks, THREADS, cuda_on(s), *d, scratch);
    if (d->value) LAUNCH(value_kernel, 1, THREADS, cuda_on(s), blocks, scratch, d->value);
    return cuda_end(s, "decay");
}

/* --- the optimiser --------------------------------------------------------------------- */

static __global__ void judge_kernel(uint64_t step, const double *loss, double most_loss,
                                    const double *squares, float max_norm, train_verdict *verdict) {
    if (threadIdx.x == 0) train_judge(step, *loss, most_loss, *squares, max_norm, verdict);
}

taper_status train_cuda_judge(train_stream *s, uint64_t step, const double *loss, double most_loss,
                              const double *squares, float max_norm, train_verdict *verdict) {
    CUDA_BEGIN(s, "judge", CUDA_ARRAY(loss, 1), CUDA_ARRAY(squares, 1), CUDA_ARRAY(verdict, 1));
    LAUNCH(judge_kernel, 1, CUDA_WARP, cuda_on(s), step, loss, most_loss, squares, max_norm,
           verdict);
    return cuda_end(s, "judge");
}

/* copy: the bfloat16 copy of w, or NULL. */
static __global__ void adam_kernel(size_t n, train_adam_step step, const train_verdict *verdict,
                                   const float *g, float *w, float *m, float *v, uint16_t *copy) {
    if (verdict->diverged) return;
    const float scale = verdict->scale;
    for (EACH(i, n)) {
        train_adam_element(&step, scale * g[i], &w[i], &m[i], &v[i]);
        if (copy) copy[i] = train_to_bfloat16(w[i]);
    }
}

taper_status train_cuda_adam(train_stream *s, size_t n, const train_adam_step *step,
                             const train_verdict *verdict, const float *g, float *w, float *m,
                             float *v) {
    CUDA_BEGIN(s, "adam", CUDA_ARRAY(verdict, 1), CUDA_ARRAY(g, n), cuda_array_of(w, n, CUDA_BOTH),
               CUDA_ARRAY(m, n), CUDA_ARRAY(v, n));
    LAUNCH(adam_kernel, blocks_of(n), THREADS, cuda_on(s), n, *step, verdict, g, w, m, v,
           cuda_copy_at(s, w));
    return cuda_end(s, "adam");
}
