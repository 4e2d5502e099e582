/* products.cu -- products of matrices, and biases; see train/device/operations.h. */
#include "train/cuda/lt.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements.h"

static const unsigned THREADS = 256;

/* --- products -------------------------------------------------------------------------- */

taper_status train_cuda_gemm(train_stream *s, int transpose_a, int transpose_b, size_t m, size_t n,
                             size_t k, const float *a, const float *b, float beta, float *c) {
    if (!m || !n) return TAPER_OK;
    CUDA_BEGIN(s, "gemm", CUDA_ARRAY(a, m * k), CUDA_ARRAY(b, k * n), CUDA_ARRAY(c, m * n));
    if (!k && beta == 0.0f) return train_zero(s, c, m * n * sizeof *c);
    if (!k) return train_cuda_scale(s, m * n, beta, c, c);
    const cuda_product p = {transpose_a, transpose_b, m, n, k, a, b, beta, c};
    TAPER_TRY(cuda_lt_product(s, &p));
    return cuda_end(s, "gemm");
}

/* --- biases ---------------------------------------------------------------------------- */

static __global__ void bias_kernel(size_t n, size_t width, const float *bias,
                                   codec_activation activation, float *y) {
    for (EACH(i, n)) y[i] = codec_activate(activation, y[i] + (bias ? bias[i % width] : 0.0f));
}

taper_status train_cuda_bias(train_stream *s, size_t rows, size_t width, const float *bias,
                             codec_activation activation, float *y) {
    CUDA_BEGIN(s, "bias", CUDA_ARRAY(bias, width), CUDA_ARRAY(y, rows * width));
    LAUNCH(bias_kernel, cuda_blocks(rows * width, THREADS), THREADS, cuda_on(s), rows * width,
           width, bias, activation, y);
    return cuda_end(s, "bias");
}

/* --- and back -------------------------------------------------------------------------- */

/* Column sums. A block stands for 32 columns of one part of the rows, a warp for every eighth row
 * of it; the parts' sums, in `room`, are added by column_kernel, in their order. */
static const unsigned COLUMNS = 32, WALKERS = THREADS / COLUMNS, MOST_PARTS = 64;

/* Columns whose sums are taken at once: those of all parts fit into the stream's room. */
static const size_t MOST_COLUMNS = CUDA_ROOM_BYTES / sizeof(float) / MOST_PARTS;

/* Columns first .. first + width of rows that lie `stride` elements apart. */
struct columns {
    size_t rows, width, stride, first;
};

static size_t parts_of(size_t rows) {
    const size_t parts = (rows + 63) / 64;
    return parts < MOST_PARTS ? parts : MOST_PARTS;
}

/* A tile of one part's rows and COLUMNS columns a block. */
static __global__ void backward_kernel(columns c, size_t parts, size_t across,
                                       codec_activation activation, const float *y, float *dy,
                                       float *room) {
    SHARED(float, sums, THREADS);
    const size_t lane = threadIdx.x % COLUMNS, walker = threadIdx.x / COLUMNS,
                 part = blockIdx.x / across, column = blockIdx.x % across * COLUMNS + lane,
                 end = c.rows * (part + 1) / parts;
    float sum = 0.0f;
    for (size_t r = c.rows * part / parts + walker; BELOW(r, end); r += WALKERS) {
        if (!BELOW(column, c.width)) continue;
        const size_t at = r * c.stride + c.first + column;
        const float d = train_slope(activation, y ? y[at] : 0.0f, dy[at]);
        if (activation != CODEC_LINEAR) dy[at] = d;
        sum += d;
    }
    sums[threadIdx.x] = sum;
    BARRIER();
    if (walker == 0 && BELOW(column, c.width)) {
        for (unsigned w = 1; w < WALKERS; w++) sum += sums[w * COLUMNS + lane];
        room[part * c.width + column] = sum;
    }
}

static __global__ void column_kernel(size_t parts, size_t width, const float *room, int add_to,
                                     float *dbias) {
    for (EACH(column, width)) {
        float sum = add_to ? dbias[column] : 0.0f;
        for (size_t part = 0; BELOW(part, parts); part++) sum += room[part * width + column];
        dbias[column] = sum;
    }
}

/* One slice of the columns. */
static void sum_columns(train_stream *s, const columns &c, codec_activation activation,
                        const float *y, float *dy, int add_to, float *dbias) {
    const size_t across = (c.width + COLUMNS - 1) / COLUMNS, parts = parts_of(c.rows);
    float *room = (float *)cuda_room(s);
    if (parts)
        LAUNCH(backward_kernel, parts * across, THREADS, cuda_on(s), c, parts, across, activation,
               y, dy, room);
    LAUNCH(column_kernel, cuda_blocks(c.width, THREADS), THREADS, cuda_on(s), parts, c.width, room,
           add_to, dbias + c.first);
}

static __global__ void slope_kernel(size_t n, codec_activation activation, const float *y,
                                    float *dy) {
    for (EACH(i, n)) dy[i] = train_slope(activation, y[i], dy[i]);
}

taper_status train_cuda_bias_backward(train_stream *s, size_t rows, size_t width,
                                      codec_activation activation, const float *y, float *dy,
                                      int add_to, float *dbias) {
    const size_t n = rows * width;
    if (activation == CODEC_LINEAR) y = NULL; /* not read */
    CUDA_BEGIN(s, "bias_backward", CUDA_ARRAY(y, n), CUDA_ARRAY(dy, n), CUDA_ARRAY(dbias, width));
    if (!dbias && activation == CODEC_LINEAR) return TAPER_OK;
    if (!dbias)
        LAUNCH(slope_kernel, cuda_blocks(n, THREADS), THREADS, cuda_on(s), n, activation, y, dy);
    for (size_t first = 0; dbias && first < width; first += MOST_COLUMNS) {
        const size_t left = width - first;
        const columns c = {rows, left < MOST_COLUMNS ? left : MOST_COLUMNS, width, first};
        sum_columns(s, c, activation, y, dy, add_to, dbias);
    }
    return cuda_end(s, "bias_backward");
}
