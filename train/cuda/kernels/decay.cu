/* decay.cu -- weight decay of rows; see train/device/operations.h. */
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements_units.h"

static const unsigned THREADS = 256;

/* A row a block: its sums, then its gradient, for which the cache has the row still.
 * room[block] gets the value of the block's rows. */
static __global__ void decay_kernel(train_penalty penalty, train_coefficient coefficient,
                                    double strength, size_t rows, size_t width, const float *weight,
                                    float *gradient, double *lambda, double *room) {
    SHARED(double, warps, CUDA_WARP);
    SHARED(double, of_row, 1);
    double value = 0.0;
    for (EACH_BLOCK(row, rows)) {
        const float *w = weight + row * width;
        float *g = gradient + row * width;
        double own = 0.0, squares = 0.0, sizes = 0.0, some = 0.0;
        for (EACH_IN_BLOCK(i, width)) {
            own += (double)g[i] * g[i], squares += (double)w[i] * w[i];
            sizes += fabs((double)w[i]), some += w[i] != 0.0f;
        }
        const int is_l2 = penalty == TRAIN_PENALTY_L2;
        own = block_sum(own, warps);
        const double slopes = block_sum(is_l2 ? squares : some, warps),
                     size = is_l2 ? slopes : block_sum(sizes, warps);
        if (threadIdx.x == 0) {
            const double l = coefficient == TRAIN_COEFFICIENT_GIVEN
                                 ? lambda[row]
                                 : train_decay_coefficient(coefficient, strength, own, slopes);
            if (lambda) lambda[row] = l;
            if (l > 0.0) value += (is_l2 ? 0.5 * l : l) * size;
            *of_row = l;
        }
        BARRIER();
        const double l = *of_row;
        if (coefficient == TRAIN_COEFFICIENT_GIVEN && !(l > 0.0)) continue;
        for (EACH_IN_BLOCK(i, width))
            g[i] = is_l2 ? train_decayed_l2(l, w[i], g[i]) : train_decayed_l1(l, w[i], g[i]);
    }
    if (threadIdx.x == 0) room[blockIdx.x] = value;
}

/* Of one block. */
static __global__ void value_kernel(size_t n, const double *room, double *value) {
    SHARED(double, warps, CUDA_WARP);
    double sum = 0.0;
    for (EACH_IN_BLOCK(i, n)) sum += room[i];
    sum = block_sum(sum, warps);
    if (threadIdx.x == 0) *value += sum;
}

taper_status train_cuda_decay(train_stream *s, train_penalty penalty, train_coefficient coefficient,
                              double strength, size_t rows, size_t width, const float *weight,
                              float *gradient, double *lambda, double *value) {
    const size_t n = rows * width;
    const unsigned blocks = cuda_blocks(rows, 1);
    double *room = cuda_room(s);
    CUDA_BEGIN(s, "decay", CUDA_ARRAY(weight, n), CUDA_ARRAY(gradient, n), CUDA_ARRAY(lambda, rows),
               CUDA_ARRAY(value, 1));
    LAUNCH(decay_kernel, blocks, THREADS, cuda_on(s), penalty, coefficient, strength, rows, width,
           weight, gradient, lambda, room);
    if (value) LAUNCH(value_kernel, 1, THREADS, cuda_on(s), blocks, room, value);
    return cuda_end(s, "decay");
}
