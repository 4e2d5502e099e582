/* neighbours.cu -- sums and losses of codes that select each other as neighbours; see
 * train/device/operations.h. */
#include "train/cuda/kernels/neighbours.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"

static const unsigned THREADS = 256, WARPS = THREADS / CUDA_WARP;

/* --- sums ------------------------------------------------------------------------------- */

/* All lanes get the minimum over their warp. */
static __device__ float warp_least(float value) {
    for (unsigned apart = CUDA_WARP / 2; apart; apart /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, (int)apart);
        value = other < value ? other : value;
    }
    return value;
}

/* The least distance of each row to a column of a pair, and to one with its label; FLT_MAX:
 * none. */
static __device__ void find_least(const train_neighbours &n, const cuda_warp_rows &w,
                                  float (&all)[CUDA_ROWS_AT_ONCE],
                                  float (&same)[CUDA_ROWS_AT_ONCE]) {
    for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++) all[r] = same[r] = FLT_MAX;
    for (EACH_LANE(j, n.rows)) {
        float square[CUDA_ROWS_AT_ONCE];
        const uint32_t label = n.label[j];
        cuda_measure(n, w, j, square);
        for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++) {
            if (!cuda_is_pair(w, r, j, label)) continue;
            all[r] = square[r] < all[r] ? square[r] : all[r];
            if (label == w.label[r]) same[r] = square[r] < same[r] ? square[r] : same[r];
        }
    }
    for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++)
        all[r] = warp_least(all[r]), same[r] = warp_least(same[r]);
}

/* A lane's part of a row's sums; kernels are relative to 2^most. */
struct lane_sums {
    float most, most_same, all, same, logs, count, hinges;
};

static __device__ void add_pair(const train_neighbours &n, train_kernel k, float square,
                                bool is_same, lane_sums &to) {
    const float log_kernel = train_log_kernel(n.student, k, square);
    to.all += train_exp2(log_kernel - to.most);
    if (is_same) {
        to.same += train_exp2(log_kernel - to.most_same);
        to.logs += log_kernel;
        to.count += 1.0f;
    } else if (n.hinge > 0.0) {
        const float h = train_hinge(square);
        to.hinges += h * h;
    }
}

/* Lane 0 writes the sums of its warp. */
static __device__ void write_sums(const lane_sums &from, double *to, bool is_there) {
    train_log_sum all = {(double)from.most, warp_sum((double)from.all)},
                  same = {(double)from.most_same, warp_sum((double)from.same)};
    const double logs = warp_sum((double)from.logs), count = warp_sum((double)from.count),
                 hinges = warp_sum((double)from.hinges);
    if (!is_there || threadIdx.x % CUDA_WARP != 0) return;
    to[TRAIN_ALL] = train_log_of(all), to[TRAIN_SAME] = train_log_of(same);
    to[TRAIN_LOGS] = logs * TRAIN_LN_2, to[TRAIN_COUNT] = count, to[TRAIN_HINGES] = hinges;
}

static __global__ void sums_kernel(size_t groups, train_neighbours n) {
    const train_kernel k = train_kernel_of(&n);
    for (EACH_WARP(group, groups)) {
        const cuda_warp_rows w = cuda_rows_from(n, group * CUDA_ROWS_AT_ONCE);
        float least[CUDA_ROWS_AT_ONCE], least_same[CUDA_ROWS_AT_ONCE];
        lane_sums sums[CUDA_ROWS_AT_ONCE] = {};
        find_least(n, w, least, least_same);
        for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++) {
            sums[r].most = train_log_kernel(n.student, k, least[r]);
            sums[r].most_same = train_log_kernel(n.student, k, least_same[r]);
        }
        for (EACH_LANE(j, n.rows)) {
            float square[CUDA_ROWS_AT_ONCE];
            const uint32_t label = n.label[j];
            cuda_measure(n, w, j, square);
            for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++)
                if (cuda_is_pair(w, r, j, label))
                    add_pair(n, k, square[r], label == w.label[r], sums[r]);
        }
        for (unsigned r = 0; r < CUDA_ROWS_AT_ONCE; r++)
            write_sums(sums[r], n.sums + (w.first + r) * TRAIN_NEIGHBOUR_SUMS,
                       BELOW(w.first + r, n.rows));
    }
}

taper_status train_cuda_neighbour_sums(train_stream *s, const train_neighbours *n) {
    const size_t groups = cuda_groups(n->rows);
    if (!groups) return TAPER_OK;
    CUDA_BEGIN(s, "neighbour_sums", CUDA_ARRAY(n->code, n->rows * n->units),
               CUDA_ARRAY(n->across, n->rows * n->units), CUDA_ARRAY(n->label, n->rows),
               CUDA_ARRAY(n->number, 1), CUDA_ARRAY(n->sums, n->rows * TRAIN_NEIGHBOUR_SUMS));
    LAUNCH(sums_kernel, cuda_blocks(groups, WARPS), THREADS, cuda_on(s), groups, *n);
    return cuda_end(s, "neighbour_sums");
}

/* --- losses ----------------------------------------------------------------------------- */

/* All threads get the maximum over their block; scratch[WARPS] is used by one call only. */
static __device__ double block_most(double value, double *scratch) {
    const unsigned lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    for (unsigned apart = CUDA_WARP / 2; apart; apart /= 2) {
        const double other = __shfl_xor_sync(0xffffffffu, value, (int)apart);
        value = other > value ? other : value;
    }
    if (lane == 0) scratch[warp] = value;
    BARRIER();
    for (unsigned i = 0; BELOW(i, WARPS); i++) value = scratch[i] > value ? scratch[i] : value;
    return value;
}

/* Sums over all pairs: one block, two passes over the sums of rows. */
static __global__ void pairs_kernel(train_neighbours n, train_all_pairs *to) {
    SHARED(double, scratch, CUDA_WARP);
    SHARED(double, tops, WARPS);
    SHARED(double, all, 1);
    double most = -FLT_MAX, sum = 0.0, pairs = 0.0, rows = 0.0, p = 0.0;
    for (EACH_IN_BLOCK(i, n.rows)) {
        const double row = n.sums[i * TRAIN_NEIGHBOUR_SUMS + TRAIN_ALL] / TRAIN_LN_2;
        if (n.label[i] != TRAIN_UNLABELLED && row > most) most = row;
    }
    most = block_most(most, tops);
    for (EACH_IN_BLOCK(i, n.rows)) {
        const double *row = n.sums + i * TRAIN_NEIGHBOUR_SUMS;
        if (n.label[i] == TRAIN_UNLABELLED) continue;
        sum += exp2(row[TRAIN_ALL] / TRAIN_LN_2 - most);
        pairs += row[TRAIN_COUNT];
        rows += row[TRAIN_COUNT] > 0.0 ? 1.0 : 0.0;
    }
    sum = block_sum(sum, scratch), pairs = block_sum(pairs, scratch),
    rows = block_sum(rows, scratch);
    const train_log_sum z = {most, sum};
    if (threadIdx.x == 0) *all = train_log_of(z);
    BARRIER();
    for (EACH_IN_BLOCK(i, n.rows))
        if (n.label[i] != TRAIN_UNLABELLED)
            p += train_probability(n.sums + i * TRAIN_NEIGHBOUR_SUMS, *all);
    p = block_sum(p, scratch);
    const train_all_pairs in_common = {z, p, pairs, rows};
    if (threadIdx.x == 0) *to = in_common;
}

static __global__ void losses_kernel(train_neighbours n, const train_all_pairs *pairs,
                                     double *loss) {
    for (EACH(i, n.rows)) {
        train_share share = {0.0f, 0.0f, 0.0f};
        if (n.label[i] != TRAIN_UNLABELLED)
            loss[i] += train_neighbour_cost(&n, n.sums + i * TRAIN_NEIGHBOUR_SUMS, pairs, &share);
        n.share[i] = share.norm;
        n.share[n.rows + i] = share.own;
        n.share[2 * n.rows + i] = share.centre;
    }
}

taper_status train_cuda_neighbour_losses(train_stream *s, const train_neighbours *n, double *loss) {
    if (!n->rows) return TAPER_OK;
    CUDA_BEGIN(s, "neighbour_losses", CUDA_ARRAY(n->label, n->rows),
               CUDA_ARRAY((const double *)n->sums, n->rows * TRAIN_NEIGHBOUR_SUMS),
               CUDA_ARRAY(n->share, n->rows * TRAIN_SHARES), CUDA_ARRAY(loss, n->rows));
    train_all_pairs *pairs = (train_all_pairs *)cuda_scratch(s);
    if (n->all_pairs) LAUNCH(pairs_kernel, 1, THREADS, cuda_on(s), *n, pairs);
    LAUNCH(losses_kernel, cuda_blocks(n->rows, THREADS), THREADS, cuda_on(s), *n, pairs, loss);
    return cuda_end(s, "neighbour_losses");
}
