/* codes.cu -- codes at a cut: quantisation and rate; see train/device/operations.h. A warp
 * processes a row; each element is read once and written once. */
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements_codes.h"

static const unsigned THREADS = 256;

static unsigned blocks_of(size_t rows) { return cuda_blocks(rows, THREADS / CUDA_WARP); }

static __global__ void quantise_kernel(size_t rows, uint32_t units, const train_cut *cuts,
                                       float scale, float gradient_floor, const float *x,
                                       float *x_q, float *gradient) {
    for (EACH_WARP(row, rows)) {
        const train_cut cut = cuts[row];
        const float threshold = cut.threshold / scale, inverse = 1.0f / threshold;
        for (EACH_LANE(u, units)) {
            const size_t at = row * units + u;
            float slope = 0.0f, value = 0.0f;
            if (BELOW(u, cut.kept))
                value = train_quantised(x[at], threshold, inverse, gradient_floor, &slope);
            x_q[at] = value, gradient[at] = slope;
        }
    }
}

taper_status train_cuda_quantise(train_stream *s, size_t rows, uint32_t units,
                                 const train_cut *cuts, float scale, float gradient_floor,
                                 const float *x, float *x_q, float *gradient) {
    const size_t n = rows * units;
    CUDA_BEGIN(s, "quantise", CUDA_ARRAY(cuts, rows), CUDA_ARRAY(x, n), CUDA_ARRAY(x_q, n),
               CUDA_ARRAY(gradient, n));
    LAUNCH(quantise_kernel, blocks_of(rows), THREADS, cuda_on(s), rows, units, cuts, scale,
           gradient_floor, x, x_q, gradient);
    return cuda_end(s, "quantise");
}

/* A lane multiplies masses, each at least 1e-6, and takes a logarithm before a double
 * underflows. */
static __global__ void rate_kernel(size_t rows, uint32_t units, const train_cut *cuts, float scale,
                                   float weight, const float *x, const float *inverse_scale,
                                   double *bits, float *dlog_scale) {
    for (EACH_WARP(row, rows)) {
        const train_cut cut = cuts[row];
        const float threshold = cut.threshold / scale, inverse = 1.0f / threshold;
        double sum = 0.0, product = 1.0;
        for (EACH_LANE(u, units)) {
            const size_t at = row * units + u;
            float slope = 0.0f, mass;
            if (BELOW(u, cut.kept)) {
                sum +=
                    train_rate_element(x[at], inverse, threshold * inverse_scale[u], &slope, &mass);
                product *= mass;
            }
            if (product < 1e-290) sum -= log2(product), product = 1.0;
            dlog_scale[at] = slope * weight;
        }
        sum = warp_sum(sum - log2(product));
        if (threadIdx.x % CUDA_WARP == 0) bits[row] = (float)sum;
    }
}

taper_status train_cuda_rate(train_stream *s, size_t rows, uint32_t units, const train_cut *cuts,
                             float scale, float weight, const float *x, const float *inverse_scale,
                             double *bits, float *dlog_scale) {
    const size_t n = rows * units;
    CUDA_BEGIN(s, "rate", CUDA_ARRAY(cuts, rows), CUDA_ARRAY(x, n),
               CUDA_ARRAY(inverse_scale, units), CUDA_ARRAY(bits, rows), CUDA_ARRAY(dlog_scale, n));
    LAUNCH(rate_kernel, blocks_of(rows), THREADS, cuda_on(s), rows, units, cuts, scale, weight, x,
           inverse_scale, bits, dlog_scale);
    return cuda_end(s, "rate");
}

static __global__ void rate_gradient_kernel(size_t rows, uint32_t units, const train_cut *cuts,
                                            float scale, float weight, const float *x,
                                            const float *inverse_scale, float *dx) {
    for (EACH_WARP(row, rows)) {
        const train_cut cut = cuts[row];
        const float threshold = cut.threshold / scale, inverse = 1.0f / threshold;
        for (EACH_LANE(u, cut.kept)) {
            const size_t at = row * units + u;
            dx[at] += weight * train_rate_slope(x[at], inverse, threshold * inverse_scale[u]);
        }
    }
}

taper_status train_cuda_rate_gradient(train_stream *s, size_t rows, uint32_t units,
                                      const train_cut *cuts, float scale, float weight,
                                      const float *x, const float *inverse_scale, float *dx) {
    const size_t n = rows * units;
    CUDA_BEGIN(s, "rate_gradient", CUDA_ARRAY(cuts, rows), CUDA_ARRAY(x, n),
               CUDA_ARRAY(inverse_scale, units), CUDA_ARRAY(dx, n));
    LAUNCH(rate_gradient_kernel, blocks_of(rows), THREADS, cuda_on(s), rows, units, cuts, scale,
           weight, x, inverse_scale, dx);
    return cuda_end(s, "rate_gradient");
}
