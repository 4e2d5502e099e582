/* classes.cu -- softmax, and losses of classes; see train/device/operations.h. */
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements_losses.h"

static const unsigned THREADS = 256; /* ACROSS x ACROSS of them in distances */

/* --- softmax --------------------------------------------------------------------------- */

/* The maximum over a warp, for all its lanes. */
static __device__ float warp_most(float top) {
    for (unsigned apart = CUDA_WARP / 2; apart; apart /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, top, (int)apart);
        top = other > top ? other : top;
    }
    return top;
}

/* For a warp's row: y = e^(x - *most); returns the sum of y. All lanes get both. */
static __device__ float exponentials(size_t width, const float *x, float *most, float *y) {
    float top = -INFINITY, sum = 0.0f;
    for (EACH_LANE(j, width)) top = x[j] > top ? x[j] : top;
    top = warp_most(top);
    for (EACH_LANE(j, width)) {
        const float e = expf(x[j] - top);
        y[j] = e;
        sum += e;
    }
    *most = top;
    return __shfl_sync(0xffffffffu, warp_sum(sum), 0);
}

static __global__ void softmax_kernel(size_t rows, size_t width, const float *x, float *y) {
    for (EACH_WARP(row, rows)) {
        float most, *to = y + row * width;
        const float inverse = 1.0f / exponentials(width, x + row * width, &most, to);
        for (EACH_LANE(j, width)) to[j] *= inverse;
    }
}

taper_status train_cuda_softmax(train_stream *s, size_t rows, size_t width, const float *x,
                                float *y) {
    if (!width) return TAPER_OK;
    CUDA_BEGIN(s, "softmax", CUDA_ARRAY(x, rows * width), CUDA_ARRAY(y, rows * width));
    LAUNCH(softmax_kernel, cuda_blocks(rows, THREADS / CUDA_WARP), THREADS, cuda_on(s), rows, width,
           x, y);
    return cuda_end(s, "softmax");
}

static __global__ void cross_entropy_kernel(size_t rows, size_t classes, const float *logit,
                                            const uint32_t *label, double *loss, float *gradient) {
    for (EACH_WARP(row, rows)) {
        const float *x = logit + row * classes;
        float most, *y = gradient + row * classes;
        const float sum = exponentials(classes, x, &most, y);
        const size_t own = label[row];
        const bool labelled = BELOW(own, classes);
        for (EACH_LANE(j, classes))
            y[j] = labelled ? train_entropy_slope(y[j], sum, j == own, rows) : 0.0f;
        if (labelled && threadIdx.x % CUDA_WARP == 0) loss[row] += train_entropy(sum, most, x[own]);
    }
}

taper_status train_cuda_cross_entropy(train_stream *s, size_t rows, size_t classes,
                                      const float *logit, const uint32_t *label, double *loss,
                                      float *gradient) {
    if (!classes) return TAPER_OK;
    CUDA_BEGIN(s, "cross_entropy", CUDA_ARRAY(logit, rows * classes), CUDA_ARRAY(label, rows),
               CUDA_ARRAY(loss, rows), CUDA_ARRAY(gradient, rows * classes));
    LAUNCH(cross_entropy_kernel, cuda_blocks(rows, THREADS / CUDA_WARP), THREADS, cuda_on(s), rows,
           classes, logit, label, loss, gradient);
    return cuda_end(s, "cross_entropy");
}

/* --- losses without labels ------------------------------------------------------------- */

/* For a warp's row: the logarithm of the sum of e^(x - *most). All lanes get both. */
static __device__ float log_sum(size_t width, const float *x, float *most) {
    float top = -INFINITY, sum = 0.0f;
    for (EACH_LANE(j, width)) top = x[j] > top ? x[j] : top;
    top = warp_most(top);
    for (EACH_LANE(j, width)) sum += expf(x[j] - top);
    *most = top;
    return logf(__shfl_sync(0xffffffffu, warp_sum(sum), 0));
}

static __global__ void class_entropy_kernel(size_t rows, size_t classes, const float *logit,
                                            double *loss, float *gradient) {
    for (EACH_WARP(row, rows)) {
        float most;
        const float *x = logit + row * classes, all = log_sum(classes, x, &most);
        double part = 0.0;
        for (EACH_LANE(j, classes))
            part -= (double)expf((x[j] - most) - all) * (double)((x[j] - most) - all);
        const double entropy = __shfl_sync(0xffffffffu, warp_sum(part), 0);
        for (EACH_LANE(j, classes))
            gradient[row * classes + j] =
                train_class_entropy_slope((x[j] - most) - all, entropy, rows);
        if (threadIdx.x % CUDA_WARP == 0) loss[row] += entropy;
    }
}

taper_status train_cuda_class_entropy(train_stream *s, size_t rows, size_t classes,
                                      const float *logit, double *loss, float *gradient) {
    if (!classes) return TAPER_OK;
    CUDA_BEGIN(s, "class_entropy", CUDA_ARRAY(logit, rows * classes), CUDA_ARRAY(loss, rows),
               CUDA_ARRAY(gradient, rows * classes));
    LAUNCH(class_entropy_kernel, cuda_blocks(rows, THREADS / CUDA_WARP), THREADS, cuda_on(s), rows,
           classes, logit, loss, gradient);
    return cuda_end(s, "class_entropy");
}

static __global__ void class_divergence_kernel(size_t rows, size_t classes, const float *believed,
                                               const float *logit, double *loss, float *gradient) {
    for (EACH_WARP(row, rows)) {
        float most_p, most_q;
        const float *p = believed + row * classes, all_p = log_sum(classes, p, &most_p);
        const float *q = logit + row * classes, all_q = log_sum(classes, q, &most_q);
        double part = 0.0;
        for (EACH_LANE(j, classes)) {
            const float log_p = (p[j] - most_p) - all_p, log_q = (q[j] - most_q) - all_q;
            part += train_class_divergence(log_p, log_q);
            gradient[row * classes + j] = train_class_divergence_slope(log_p, log_q, rows);
        }
        part = warp_sum(part);
        if (threadIdx.x % CUDA_WARP == 0) loss[row] += part;
    }
}

taper_status train_cuda_class_divergence(train_stream *s, size_t rows, size_t classes,
                                         const float *believed, const float *logit, double *loss,
                                         float *gradient) {
    const size_t all = rows * classes;
    if (!classes) return TAPER_OK;
    CUDA_BEGIN(s, "class_divergence", CUDA_ARRAY(believed, all), CUDA_ARRAY(logit, all),
               CUDA_ARRAY(loss, rows), CUDA_ARRAY(gradient, all));
    LAUNCH(class_divergence_kernel, cuda_blocks(rows, THREADS / CUDA_WARP), THREADS, cuda_on(s),
           rows, classes, believed, logit, loss, gradient);
    return cuda_end(s, "class_divergence");
}

/* --- distances ------------------------------------------------------------------------- */

/* A block computes TILE x TILE distances and keeps DEPTH numbers of each row in shared memory at a
 * time. A thread computes EACH_WAY x EACH_WAY of them, ACROSS apart. A kept row has one more
 * number, against bank conflicts. */
static const unsigned TILE = 64, DEPTH = CUDA_WARP, ACROSS = 16, EACH_WAY = TILE / ACROSS;
static const unsigned KEPT_ROW = DEPTH + 1, KEPT = TILE * KEPT_ROW;

/* kept[TILE][KEPT_ROW] = numbers from k on of rows from `first` on of x[rows][width], 0 outside. */
static __device__ void keep_tile(size_t rows, size_t width, size_t first, size_t k, const float *x,
                                 float *kept) {
    const size_t lane = threadIdx.x % DEPTH, step = blockDim.x / DEPTH;
    for (size_t i = threadIdx.x / DEPTH; BELOW(i, TILE); i += step) {
        const bool is_there = BELOW(first + i, rows) && BELOW(k + lane, width);
        kept[i * KEPT_ROW + lane] = is_there ? x[(first + i) * width + k + lane] : 0.0f;
    }
}

/* sum += squared differences of this thread's rows of a and of b. */
static __device__ void add_squares(const float *a, const float *b,
                                   float (&sum)[EACH_WAY][EACH_WAY]) {
    for (unsigned d = 0; BELOW(d, DEPTH); d++)
        for (unsigned i = 0; BELOW(i, EACH_WAY); i++)
            for (unsigned j = 0; BELOW(j, EACH_WAY); j++) {
                const float e = a[i * ACROSS * KEPT_ROW + d] - b[j * ACROSS * KEPT_ROW + d];
                sum[i][j] += e * e;
            }
}

static __global__ void distances_kernel(size_t tiles_across, size_t rows, size_t others,
                                        size_t width, const float *a, const float *b,
                                        float *square) {
    SHARED(float, kept_a, KEPT);
    SHARED(float, kept_b, KEPT);
    const unsigned x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    const size_t row = blockIdx.x / tiles_across * TILE, other = blockIdx.x % tiles_across * TILE;
    float sum[EACH_WAY][EACH_WAY] = {};
    for (size_t k = 0; k < width; k += DEPTH) {
        keep_tile(rows, width, row, k, a, kept_a);
        keep_tile(others, width, other, k, b, kept_b);
        BARRIER();
        add_squares(kept_a + y * KEPT_ROW, kept_b + x * KEPT_ROW, sum);
        BARRIER();
    }
    for (unsigned i = 0; BELOW(i, EACH_WAY); i++)
        for (unsigned j = 0; BELOW(j, EACH_WAY); j++) {
            const size_t r = row + y + i * ACROSS, o = other + x + j * ACROSS;
            if (BELOW(r, rows) && BELOW(o, others)) square[r * others + o] = sum[i][j];
        }
}

taper_status train_cuda_distances(train_stream *s, size_t rows, size_t others, size_t width,
                                  const float *a, const float *b, float *square) {
    const size_t across = others / TILE + (others % TILE != 0),
                 tiles = across * (rows / TILE + (rows % TILE != 0));
    if (!tiles) return TAPER_OK;
    CUDA_BEGIN(s, "distances", CUDA_ARRAY(a, rows * width), CUDA_ARRAY(b, others * width),
               CUDA_ARRAY(square, rows * others));
    LAUNCH(distances_kernel, tiles, THREADS, cuda_on(s), across, rows, others, width, a, b, square);
    return cuda_end(s, "distances");
}
