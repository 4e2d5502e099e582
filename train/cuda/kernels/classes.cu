/* classes.cu -- losses of classes; see train/device/operations.h. */
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements_losses.h"

static const unsigned THREADS = 256;

/* --- cross-entropy --------------------------------------------------------------------- */

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
