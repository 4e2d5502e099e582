/* losses.cu -- errors of rows, their weights and their sums; see train/device/operations.h. */
#include "train/cuda/factors.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements_losses.h"

static const unsigned THREADS = 256;

/* --- rows ------------------------------------------------------------------------------ */

/* Threads of a block that processes one row at a time. */
static unsigned row_threads(size_t width) {
    const size_t warps = (width + CUDA_WARP - 1) / CUDA_WARP;
    return warps < 1                     ? CUDA_WARP
           : warps * CUDA_WARP < THREADS ? (unsigned)warps * CUDA_WARP
                                         : THREADS;
}

static __global__ void errors_kernel(size_t rows, size_t width, const float *target, float *y,
                                     double *square) {
    SHARED(float, warps, CUDA_WARP);
    for (EACH_BLOCK(row, rows)) {
        float sum = 0.0f;
        for (EACH_IN_BLOCK(j, width)) {
            const float e = y[row * width + j] - target[row * width + j];
            y[row * width + j] = e;
            sum += e * e;
        }
        sum = block_sum(sum, warps);
        if (threadIdx.x == 0) square[row] = (double)sum;
    }
}

taper_status train_cuda_errors(train_stream *s, size_t rows, size_t width, const float *target,
                               float *y, double *square) {
    CUDA_BEGIN(s, "errors", CUDA_ARRAY(target, rows * width), CUDA_ARRAY(y, rows * width),
               CUDA_ARRAY(square, rows));
    LAUNCH(errors_kernel, cuda_blocks(rows, 1), row_threads(width), cuda_on(s), rows, width, target,
           y, square);
    return cuda_end(s, "errors");
}

/* e may be y: the thread that writes an element also reads it. */
static __global__ void mean_errors_kernel(train_inputs in, float factor, cuda_numbers y,
                                          cuda_numbers e, double *mean) {
    SHARED(double, warps, CUDA_WARP);
    for (EACH_BLOCK(row, in.rows)) {
        const uint8_t *target = in.pixels + (in.order ? in.order[row] : row) * in.width;
        double sum = 0.0;
        for (EACH_IN_BLOCK(j, in.width)) {
            const size_t at = row * in.width + j;
            const float error = y.get(at) - train_centred(target[j], in.mean[j], in.inverse_scale);
            e.put(at, factor * error);
            sum += (double)error * (double)error;
        }
        sum = block_sum(sum, warps);
        if (threadIdx.x == 0) mean[row] = sum / (double)in.width;
    }
}

taper_status train_cuda_mean_errors(train_stream *s, const train_inputs *target, float factor,
                                    const float *y, float *e, double *mean) {
    const train_inputs *in = target;
    const size_t rows = in->rows, width = in->width;
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "mean_errors", cuda_picked(in->pixels, in->order, rows, width),
               CUDA_ARRAY(in->order, rows), CUDA_ARRAY(in->mean, width),
               CUDA_NUMBERS(y, rows * width), CUDA_NUMBERS(e, rows * width),
               CUDA_ARRAY(mean, rows));
    LAUNCH(mean_errors_kernel, cuda_blocks(rows, 1), row_threads(width), cuda_on(s), *in, factor,
           cuda_numbers_at(s, y), cuda_numbers_at(s, e), mean);
    return cuda_end(s, "mean_errors");
}

/* e may be a: the thread that writes an element also reads it. */
static __global__ void pixel_entropy_kernel(train_inputs in, float factor, const float *a, float *e,
                                            double *cost) {
    SHARED(double, warps, CUDA_WARP);
    for (EACH_BLOCK(row, in.rows)) {
        const uint8_t *target = in.pixels + (in.order ? in.order[row] : row) * in.width;
        double sum = 0.0;
        for (EACH_IN_BLOCK(j, in.width)) {
            const size_t at = row * in.width + j;
            const float x = train_centred(target[j], in.mean[j], in.inverse_scale);
            float s;
            sum += (double)train_pixel_cost(a[at], x, &s);
            e[at] = factor * (s - x);
        }
        sum = block_sum(sum, warps);
        if (threadIdx.x == 0) cost[row] = sum;
    }
}

taper_status train_cuda_pixel_entropy(train_stream *s, const train_inputs *target, float factor,
                                      const float *a, float *e, double *cost) {
    const train_inputs *in = target;
    const size_t rows = in->rows, width = in->width;
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "pixel_entropy", cuda_picked(in->pixels, in->order, rows, width),
               CUDA_ARRAY(in->order, rows), CUDA_ARRAY(in->mean, width),
               CUDA_ARRAY(a, rows * width), CUDA_ARRAY(e, rows * width), CUDA_ARRAY(cost, rows));
    LAUNCH(pixel_entropy_kernel, cuda_blocks(rows, 1), row_threads(width), cuda_on(s), *in, factor,
           a, e, cost);
    return cuda_end(s, "pixel_entropy");
}

static __global__ void error_gradient_kernel(size_t rows, size_t width, const double *weight,
                                             float *e) {
    for (EACH_BLOCK(row, rows)) {
        const float factor = train_error_factor(weight[row], rows);
        for (EACH_IN_BLOCK(j, width)) e[row * width + j] *= factor;
    }
}

taper_status train_cuda_error_gradient(train_stream *s, size_t rows, size_t width,
                                       const double *weight, float *e) {
    CUDA_BEGIN(s, "error_gradient", CUDA_ARRAY(weight, rows), CUDA_ARRAY(e, rows * width));
    LAUNCH(error_gradient_kernel, cuda_blocks(rows, 1), row_threads(width), cuda_on(s), rows, width,
           weight, e);
    return cuda_end(s, "error_gradient");
}

/* --- weights of rows ------------------------------------------------------------------- */

/* All of THREADS threads get the maximum of their values. scratch[THREADS / CUDA_WARP] is shared
 * memory and may be reused after the call. */
static __device__ double block_most(double value, double *scratch) {
    for (unsigned apart = CUDA_WARP / 2; apart; apart /= 2)
        value = fmax(value, __shfl_xor_sync(0xffffffffu, value, (int)apart));
    if (threadIdx.x % CUDA_WARP == 0) scratch[threadIdx.x / CUDA_WARP] = value;
    BARRIER();
    for (unsigned warp = 0; BELOW(warp, THREADS / CUDA_WARP); warp++)
        value = fmax(value, scratch[warp]);
    BARRIER();
    return value;
}

/* Runs in one block: the range of thresholds first, then the sums of the bins. */
static __global__ void error_bins_kernel(size_t rows, const train_cut *cuts, const double *error,
                                         train_error_bins *bins) {
    SHARED(double, warps, CUDA_WARP);
    SHARED(double, most, THREADS / CUDA_WARP);
    double low = INFINITY, high = 0.0, sum[TRAIN_ERROR_BINS] = {0}, count[TRAIN_ERROR_BINS] = {0};
    for (EACH_IN_BLOCK(i, rows)) {
        low = fmin(low, (double)cuts[i].threshold);
        high = fmax(high, (double)cuts[i].threshold);
    }
    low = -block_most(-low, most);
    const double per_bin = train_bins_of_range(low, block_most(high, most));
    for (EACH_IN_BLOCK(i, rows)) {
        const int own = train_error_bin(low, per_bin, (double)cuts[i].threshold);
        for (int bin = 0; BELOW(bin, TRAIN_ERROR_BINS); bin++) {
            sum[bin] += bin == own ? error[i] : 0.0;
            count[bin] += bin == own;
        }
    }
    if (threadIdx.x == 0) bins->low = low, bins->per_bin = per_bin;
    for (int bin = 0; BELOW(bin, TRAIN_ERROR_BINS); bin++) {
        const double all = block_sum(sum[bin], warps), of = block_sum(count[bin], warps);
        if (threadIdx.x == 0) bins->mean[bin] = of > 0.0 ? all / of : 0.0;
    }
}

static __global__ void weigh_errors_kernel(size_t rows, const train_cut *cuts, float scale,
                                           float balance, const train_error_bins *bins,
                                           const double *error, double *weight, double *loss) {
    for (EACH(i, rows)) {
        weight[i] = train_error_weight(bins, cuts[i], scale, balance, error[i]);
        loss[i] += error[i] * weight[i];
    }
}

taper_status train_cuda_weigh_errors(train_stream *s, size_t rows, const train_cut *cuts,
                                     float scale, float balance, const double *error,
                                     double *weight, double *loss) {
    train_error_bins *bins = (train_error_bins *)cuda_stream_of(s)->scratch;
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "weigh_errors", CUDA_ARRAY(cuts, rows), CUDA_ARRAY(error, rows),
               CUDA_ARRAY(weight, rows), CUDA_ARRAY(loss, rows));
    LAUNCH(error_bins_kernel, 1, THREADS, cuda_on(s), rows, cuts, error, bins);
    LAUNCH(weigh_errors_kernel, cuda_blocks(rows, THREADS), THREADS, cuda_on(s), rows, cuts, scale,
           balance, bins, error, weight, loss);
    return cuda_end(s, "weigh_errors");
}

static __global__ void log_errors_kernel(size_t rows, double least, const double *error,
                                         double *weight, double *loss) {
    for (EACH(i, rows)) train_log_error(error[i], least, &weight[i], &loss[i]);
}

taper_status train_cuda_log_errors(train_stream *s, size_t rows, double least, const double *error,
                                   double *weight, double *loss) {
    CUDA_BEGIN(s, "log_errors", CUDA_ARRAY(error, rows), CUDA_ARRAY(weight, rows),
               CUDA_ARRAY(loss, rows));
    LAUNCH(log_errors_kernel, cuda_blocks(rows, THREADS), THREADS, cuda_on(s), rows, least, error,
           weight, loss);
    return cuda_end(s, "log_errors");
}

/* --- sums ------------------------------------------------------------------------------ */

static __global__ void add_doubles_kernel(size_t n, double factor, const double *x, double *y) {
    for (EACH(i, n)) y[i] += factor * x[i];
}

taper_status train_cuda_add_doubles(train_stream *s, size_t n, double factor, const double *x,
                                    double *y) {
    CUDA_BEGIN(s, "add_doubles", CUDA_ARRAY(x, n), CUDA_ARRAY(y, n));
    LAUNCH(add_doubles_kernel, cuda_blocks(n, THREADS), THREADS, cuda_on(s), n, factor, x, y);
    return cuda_end(s, "add_doubles");
}

/* Runs in one block, because n is the rows of a batch. */
static __global__ void sum_doubles_kernel(size_t n, const double *x, double *to) {
    SHARED(double, warps, CUDA_WARP);
    double sum = 0.0;
    for (EACH_IN_BLOCK(i, n)) sum += x[i];
    sum = block_sum(sum, warps);
    if (threadIdx.x == 0) *to = sum;
}

taper_status train_cuda_sum_doubles(train_stream *s, size_t n, const double *x, double *sum) {
    CUDA_BEGIN(s, "sum_doubles", CUDA_ARRAY(x, n), CUDA_ARRAY(sum, 1));
    LAUNCH(sum_doubles_kernel, 1, THREADS, cuda_on(s), n, x, sum);
    return cuda_end(s, "sum_doubles");
}

/* Runs in one block. */
static __global__ void error_losses_kernel(size_t rows, const double *error, const double *moved,
                                           double weight, double scale, double of, double *losses) {
    SHARED(double, warps, CUDA_WARP);
    double sum = 0.0, move = 0.0;
    for (EACH_IN_BLOCK(i, rows)) {
        sum += error[i];
        if (moved) move += moved[i];
    }
    sum = block_sum(sum, warps);
    move = block_sum(move, warps);
    if (threadIdx.x == 0) train_add_error_losses(sum, move, weight, scale, of, losses);
}

taper_status train_cuda_error_losses(train_stream *s, size_t rows, const double *error,
                                     const double *moved, double weight, double scale, double of,
                                     double *losses) {
    CUDA_BEGIN(s, "error_losses", CUDA_ARRAY(error, rows), CUDA_ARRAY(moved, rows),
               CUDA_ARRAY(losses, 3));
    LAUNCH(error_losses_kernel, 1, THREADS, cuda_on(s), rows, error, moved, weight, scale, of,
           losses);
    return cuda_end(s, "error_losses");
}
