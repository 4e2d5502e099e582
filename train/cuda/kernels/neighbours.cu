/* neighbours.cu -- codes that pick each other as neighbours; see train/device/operations.h.
 *
 * A warp takes TOGETHER rows against all columns: a number that it reads of a column serves all of
 * them, and lanes read neighbouring columns. */
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements_neighbours.h"

static const unsigned THREADS = 256, WARPS = THREADS / CUDA_WARP, TOGETHER = 4;

/* --- a warp's rows ---------------------------------------------------------------------- */

/* Rows beyond the last are unlabelled and lie where the first does. */
struct warp_rows {
    size_t first;
    const float *code[TOGETHER];
    uint32_t label[TOGETHER];
};

static __device__ warp_rows rows_from(const train_neighbours &n, size_t first) {
    warp_rows w = {first, {}, {}};
    for (unsigned r = 0; r < TOGETHER; r++) {
        const bool is_there = BELOW(first + r, n.rows);
        w.code[r] = n.code + (is_there ? first + r : first) * n.units;
        w.label[r] = is_there ? n.label[first + r] : TRAIN_UNLABELLED;
    }
    return w;
}

static __device__ void measure(const train_neighbours &n, const warp_rows &w, size_t column,
                               float (&square)[TOGETHER]) {
    for (unsigned r = 0; r < TOGETHER; r++) square[r] = 0.0f;
    for (size_t k = 0; BELOW(k, n.units); k++) {
        const float x = n.across[k * n.rows + column];
        for (unsigned r = 0; r < TOGETHER; r++) {
            const float e = w.code[r][k] - x;
            square[r] += e * e;
        }
    }
}

/* Does row r of them pick that column, of this label? */
static __device__ bool meets(const warp_rows &w, unsigned r, size_t column, uint32_t label) {
    return w.label[r] != TRAIN_UNLABELLED && label != TRAIN_UNLABELLED && w.first + r != column;
}

/* --- sums ------------------------------------------------------------------------------- */

/* All lanes get the least of their warp. */
static __device__ float warp_least(float value) {
    for (unsigned apart = CUDA_WARP / 2; apart; apart /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, (int)apart);
        value = other < value ? other : value;
    }
    return value;
}

/* The least distance of each row to a column that it meets, and to one of its label; FLT_MAX. */
static __device__ void find_least(const train_neighbours &n, const warp_rows &w,
                                  float (&all)[TOGETHER], float (&same)[TOGETHER]) {
    for (unsigned r = 0; r < TOGETHER; r++) all[r] = same[r] = FLT_MAX;
    for (EACH_LANE(j, n.rows)) {
        float square[TOGETHER];
        const uint32_t label = n.label[j];
        measure(n, w, j, square);
        for (unsigned r = 0; r < TOGETHER; r++) {
            if (!meets(w, r, j, label)) continue;
            all[r] = square[r] < all[r] ? square[r] : all[r];
            if (label == w.label[r]) same[r] = square[r] < same[r] ? square[r] : same[r];
        }
    }
    for (unsigned r = 0; r < TOGETHER; r++)
        all[r] = warp_least(all[r]), same[r] = warp_least(same[r]);
}

/* A lane's part of a row's sums; kernels relative to 2^most. */
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

/* Lane 0 writes what its warp has summed. */
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
        const warp_rows w = rows_from(n, group * TOGETHER);
        float least[TOGETHER], least_same[TOGETHER];
        lane_sums sums[TOGETHER] = {};
        find_least(n, w, least, least_same);
        for (unsigned r = 0; r < TOGETHER; r++) {
            sums[r].most = train_log_kernel(n.student, k, least[r]);
            sums[r].most_same = train_log_kernel(n.student, k, least_same[r]);
        }
        for (EACH_LANE(j, n.rows)) {
            float square[TOGETHER];
            const uint32_t label = n.label[j];
            measure(n, w, j, square);
            for (unsigned r = 0; r < TOGETHER; r++)
                if (meets(w, r, j, label)) add_pair(n, k, square[r], label == w.label[r], sums[r]);
        }
        for (unsigned r = 0; r < TOGETHER; r++)
            write_sums(sums[r], n.sums + (w.first + r) * TRAIN_NEIGHBOUR_SUMS,
                       BELOW(w.first + r, n.rows));
    }
}

static unsigned blocks_of(size_t groups) { return cuda_blocks(groups, WARPS); }

taper_status train_cuda_neighbour_sums(train_stream *s, const train_neighbours *n) {
    const size_t groups = n->rows / TOGETHER + (n->rows % TOGETHER != 0);
    if (!groups) return TAPER_OK;
    CUDA_BEGIN(s, "neighbour_sums", CUDA_ARRAY(n->code, n->rows * n->units),
               CUDA_ARRAY(n->across, n->rows * n->units), CUDA_ARRAY(n->label, n->rows),
               CUDA_ARRAY(n->number, 1), CUDA_ARRAY(n->sums, n->rows * TRAIN_NEIGHBOUR_SUMS));
    LAUNCH(sums_kernel, blocks_of(groups), THREADS, cuda_on(s), groups, *n);
    return cuda_end(s, "neighbour_sums");
}

/* --- losses ----------------------------------------------------------------------------- */

/* All threads get the largest of their block; room[WARPS] is for one call. */
static __device__ double block_most(double value, double *room) {
    const unsigned lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    for (unsigned apart = CUDA_WARP / 2; apart; apart /= 2) {
        const double other = __shfl_xor_sync(0xffffffffu, value, (int)apart);
        value = other > value ? other : value;
    }
    if (lane == 0) room[warp] = value;
    BARRIER();
    for (unsigned i = 0; BELOW(i, WARPS); i++) value = room[i] > value ? room[i] : value;
    return value;
}

/* What all pairs have in common: one block, two passes over the rows' sums. */
static __global__ void pairs_kernel(train_neighbours n, train_all_pairs *to) {
    SHARED(double, room, CUDA_WARP);
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
    sum = block_sum(sum, room), pairs = block_sum(pairs, room), rows = block_sum(rows, room);
    const train_log_sum z = {most, sum};
    if (threadIdx.x == 0) *all = train_log_of(z);
    BARRIER();
    for (EACH_IN_BLOCK(i, n.rows))
        if (n.label[i] != TRAIN_UNLABELLED)
            p += train_probability(n.sums + i * TRAIN_NEIGHBOUR_SUMS, *all);
    p = block_sum(p, room);
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
    train_all_pairs *pairs = (train_all_pairs *)cuda_room(s);
    if (n->all_pairs) LAUNCH(pairs_kernel, 1, THREADS, cuda_on(s), *n, pairs);
    LAUNCH(losses_kernel, cuda_blocks(n->rows, THREADS), THREADS, cuda_on(s), *n, pairs, loss);
    return cuda_end(s, "neighbour_losses");
}

/* --- pulls ------------------------------------------------------------------------------ */

static __device__ train_share share_of(const train_neighbours &n, size_t row) {
    const train_share share = {n.share[row], n.share[n.rows + row], n.share[2 * n.rows + row]};
    return share;
}

/* The pull of a pair that meets, and what it does to alpha, which is added. */
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

/* pull[rows][n.rows] of rows first .. */
static __global__ void pulls_kernel(size_t groups, train_neighbours n, size_t first, size_t rows,
                                    float *pull) {
    const train_kernel k = train_kernel_of(&n);
    for (EACH_WARP(group, groups)) {
        const warp_rows w = rows_from(n, first + group * TOGETHER);
        float sum[TOGETHER] = {}, by_alpha[TOGETHER] = {};
        train_share own[TOGETHER];
        for (unsigned r = 0; r < TOGETHER; r++)
            own[r] = share_of(n, BELOW(w.first + r, n.rows) ? w.first + r : w.first);
        for (EACH_LANE(j, n.rows)) {
            float square[TOGETHER];
            const uint32_t label = n.label[j];
            const train_share column = share_of(n, j);
            measure(n, w, j, square);
            for (unsigned r = 0; r < TOGETHER; r++) {
                float p = 0.0f;
                if (meets(w, r, j, label))
                    p = pull_of(n, k, own[r], column, square[r], label == w.label[r], by_alpha[r]);
                sum[r] += p;
                if (BELOW(w.first + r, first + rows) && w.first + r != j)
                    pull[(w.first - first + r) * n.rows + j] = p;
            }
        }
        for (unsigned r = 0; r < TOGETHER; r++) {
            const double all = warp_sum((double)sum[r]), alpha = warp_sum((double)by_alpha[r]);
            if (threadIdx.x % CUDA_WARP != 0 || !BELOW(w.first + r, first + rows)) continue;
            pull[(w.first - first + r) * n.rows + w.first + r] = (float)-all;
            if (n.by_number) n.by_number[w.first + r] = (float)alpha;
        }
    }
}

taper_status train_cuda_neighbour_pulls(train_stream *s, const train_neighbours *n, size_t first,
                                        size_t rows, float *pull) {
    const size_t groups = rows / TOGETHER + (rows % TOGETHER != 0);
    if (!groups) return TAPER_OK;
    CUDA_BEGIN(s, "neighbour_pulls", CUDA_ARRAY(n->code, n->rows * n->units),
               CUDA_ARRAY(n->across, n->rows * n->units), CUDA_ARRAY(n->label, n->rows),
               CUDA_ARRAY(n->number, 1),
               CUDA_ARRAY((const float *)n->share, n->rows * TRAIN_SHARES),
               CUDA_ARRAY(n->by_number, n->rows), CUDA_ARRAY(pull, rows * n->rows));
    LAUNCH(pulls_kernel, blocks_of(groups), THREADS, cuda_on(s), groups, *n, first, rows, pull);
    return cuda_end(s, "neighbour_pulls");
}
