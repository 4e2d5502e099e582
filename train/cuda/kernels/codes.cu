/* codes.cu -- codes at a cut: quantisation and rate; see train/device/operations.h. A warp
 * processes a row; each element is read once and written once. */
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements_codes.h"

static const unsigned THREADS = 256;

static unsigned blocks_of(size_t rows) { return cuda_blocks(rows, THREADS / CUDA_WARP); }

static __global__ void quantise_kernel(train_cut_codes c, float gradient_floor, float *x_q,
                                       float *gradient) {
    const size_t units = c.units;
    for (EACH_WARP(row, c.rows)) {
        const train_cut cut = c.cuts[row];
        const float threshold = cut.threshold / c.scale, inverse = 1.0f / threshold;
        for (EACH_LANE(u, units)) {
            const size_t at = row * units + u;
            float slope = 0.0f, value = 0.0f;
            if (BELOW(u, cut.kept))
                value = train_quantised(c.x[at], threshold, inverse, gradient_floor, &slope);
            x_q[at] = value, gradient[at] = slope;
        }
    }
}

taper_status train_cuda_quantise(train_stream *s, const train_cut_codes *c, float gradient_floor,
                                 float *x_q, float *gradient) {
    const size_t n = c->rows * c->units;
    CUDA_BEGIN(s, "quantise", CUDA_ARRAY(c->cuts, c->rows), CUDA_ARRAY(c->x, n), CUDA_ARRAY(x_q, n),
               CUDA_ARRAY(gradient, n));
    LAUNCH(quantise_kernel, blocks_of(c->rows), THREADS, cuda_on(s), *c, gradient_floor, x_q,
           gradient);
    return cuda_end(s, "quantise");
}

/* A lane multiplies masses, each at least 1e-6, and takes a logarithm before a double
 * underflows. */
static __global__ void rate_kernel(train_cut_codes c, const float *inverse_scale, float weight,
                                   double *bits, float *dlog_scale) {
    const size_t units = c.units;
    for (EACH_WARP(row, c.rows)) {
        const train_cut cut = c.cuts[row];
        const float threshold = cut.threshold / c.scale, inverse = 1.0f / threshold;
        double sum = 0.0, product = 1.0;
        for (EACH_LANE(u, units)) {
            const size_t at = row * units + u;
            float slope = 0.0f, mass;
            if (BELOW(u, cut.kept)) {
                sum += train_rate_element(c.x[at], inverse, threshold * inverse_scale[u], &slope,
                                          &mass);
                product *= mass;
            }
            if (product < 1e-290) sum -= log2(product), product = 1.0;
            dlog_scale[at] = slope * weight;
        }
        sum = warp_sum(sum - log2(product));
        if (threadIdx.x % CUDA_WARP == 0) bits[row] = (float)sum;
    }
}

taper_status train_cuda_rate(train_stream *s, const train_cut_codes *c, const float *inverse_scale,
                             float weight, double *bits, float *dlog_scale) {
    const size_t n = c->rows * c->units;
    CUDA_BEGIN(s, "rate", CUDA_ARRAY(c->cuts, c->rows), CUDA_ARRAY(c->x, n),
               CUDA_ARRAY(inverse_scale, c->units), CUDA_ARRAY(bits, c->rows),
               CUDA_ARRAY(dlog_scale, n));
    LAUNCH(rate_kernel, blocks_of(c->rows), THREADS, cuda_on(s), *c, inverse_scale, weight, bits,
           dlog_scale);
    return cuda_end(s, "rate");
}

static __global__ void rate_gradient_kernel(train_cut_codes c, const float *inverse_scale,
                                            float weight, float *dx) {
    for (EACH_WARP(row, c.rows)) {
        const train_cut cut = c.cuts[row];
        const float threshold = cut.threshold / c.scale, inverse = 1.0f / threshold;
        for (EACH_LANE(u, cut.kept)) {
            const size_t at = row * c.units + u;
            dx[at] += weight * train_rate_slope(c.x[at], inverse, threshold * inverse_scale[u]);
        }
    }
}

taper_status train_cuda_rate_gradient(train_stream *s, const train_cut_codes *c,
                                      const float *inverse_scale, float weight, float *dx) {
    const size_t n = c->rows * c->units;
    CUDA_BEGIN(s, "rate_gradient", CUDA_ARRAY(c->cuts, c->rows), CUDA_ARRAY(c->x, n),
               CUDA_ARRAY(inverse_scale, c->units), CUDA_ARRAY(dx, n));
    LAUNCH(rate_gradient_kernel, blocks_of(c->rows), THREADS, cuda_on(s), *c, inverse_scale, weight,
           dx);
    return cuda_end(s, "rate_gradient");
}
