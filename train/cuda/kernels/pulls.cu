/* pulls.cu -- the gradient of losses of neighbours; see train/device/operations.h. */
#include "train/cuda/kernels/neighbours.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"

static const unsigned THREADS = 256;

static __device__ train_share share_of(const train_neighbours &n, size_t row) {
    const train_share share = {n.share[row], n.share[n.rows + row], n.share[2 * n.rows + row]};
    return share;
}

/* The pull of a pair; its part of the gradient by alpha is added to by_alpha. */
static __device__ float pull_of(const train_neighbours &n, train_kernel k, train_share row,
                                train_share column, float square, bool is_same, float &by_alpha) {
    const float log_kernel = train_log_kernel(n.student, k, square);
    const float m = train_pull_of(n.loss, row, log_kernel, is_same) +
                    train_pull_of(n.loss, column, log_kernel, is_same);
    const float pull = train_pull_factor(&n) * train_kernel_slope(n.student, k, square) * m;
    if (n.by_number) by_alpha += train_pull_by_alpha(k, square, pull);
    const float hinge = n.hinge > 0.0 && !is_same ? train_hinge(square) : 0.0f;
    return pull + train_hinge_factor(&n) * hinge;
}

/* pull[rows][n.rows] for rows from `first` on. */
static __global__ void pulls_kernel(size_t groups, train_neighbours n, size_t first, size_t rows,
                                    float *pull) {
    const train_kernel k = train_kernel_of(&n);
    for (EACH_WARP(group, groups)) {
        const cuda_warp_rows w = cuda_rows_from(n, first + group * CUDA_ROWS_AT_ONCE);
        float sum[CUDA_ROWS_AT_ONCE] = {}, by_alpha[CUDA_ROWS_AT_ONCE] = {};
        train_share own[CUDA_ROWS_AT_ONCE];
        for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++)
            own[r] = share_of(n, BELOW(w.first + r, n.rows) ? w.first + r : w.first);
        for (EACH_LANE(j, n.rows)) {
            float square[CUDA_ROWS_AT_ONCE];
            const uint32_t label = n.label[j];
            const train_share column = share_of(n, j);
            cuda_measure(n, w, j, square);
            for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++) {
                float p = 0.0f;
                if (cuda_is_pair(w, r, j, label))
                    p = pull_of(n, k, own[r], column, square[r], label == w.label[r], by_alpha[r]);
                sum[r] += p;
                if (BELOW(w.first + r, first + rows) && w.first + r != j)
                    pull[(w.first - first + r) * n.rows + j] = p;
            }
        }
        for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++) {
            const double all = warp_sum((double)sum[r]), alpha = warp_sum((double)by_alpha[r]);
            if (threadIdx.x % CUDA_WARP != 0 || !BELOW(w.first + r, first + rows)) continue;
            pull[(w.first - first + r) * n.rows + w.first + r] = (float)-all;
            if (n.by_number) n.by_number[w.first + r] = (float)alpha;
        }
    }
}

taper_status train_cuda_neighbour_pulls(train_stream *s, const train_neighbours *n, size_t first,
                                        size_t rows, float *pull) {
    const size_t groups = cuda_groups(rows);
    if (!groups) return TAPER_OK;
    CUDA_BEGIN(s, "neighbour_pulls", CUDA_ARRAY(n->code, n->rows * n->units),
               CUDA_ARRAY(n->across, n->rows * n->units), CUDA_ARRAY(n->label, n->rows),
               CUDA_ARRAY(n->number, 1),
               CUDA_ARRAY((const float *)n->share, n->rows * TRAIN_SHARES),
               CUDA_ARRAY(n->by_number, n->rows), CUDA_ARRAY(pull, rows * n->rows));
    LAUNCH(pulls_kernel, cuda_blocks(groups, THREADS / CUDA_WARP), THREADS, cuda_on(s), groups, *n,
           first, rows, pull);
    return cuda_end(s, "neighbour_pulls");
}
