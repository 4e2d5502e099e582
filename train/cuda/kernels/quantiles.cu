/* quantiles.cu -- tracks quantiles of units from batch to batch; see train/device/operations.h. */
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements_units.h"
#include "train/sampling/quantile.h"

static const unsigned THREADS = 256, WARPS = THREADS / CUDA_WARP,
                      LEAST_ROWS = 8 * WARPS; /* of a part */
/* Limits of units of one launch, and of parts: their sums fill the stream's scratch memory. */
static const unsigned MOST_UNITS = 4096,
                      MOST_PARTS = CUDA_SCRATCH_BYTES / sizeof(double) / 2 / MOST_UNITS;

/* --- units that have seen a batch ------------------------------------------------------- */

/* Number of parts into which rows are divided. */
static unsigned parts_of(size_t rows) {
    const size_t parts = (rows - 1) / LEAST_ROWS + 1;
    return parts < MOST_PARTS ? (unsigned)parts : MOST_PARTS;
}

/* A block has CUDA_WARP units, one for each lane, and a part of the rows. scratch[part][units] gets
 * the sums of distances from the threshold, then as many counts of values above it. */
static __global__ void distances_kernel(train_quantiles q, unsigned parts, double *scratch) {
    SHARED(double, distances, THREADS);
    SHARED(unsigned, counts, THREADS);
    const size_t unit = (size_t)blockIdx.x / parts * CUDA_WARP + threadIdx.x % CUDA_WARP,
                 part = blockIdx.x % parts;
    const bool is_unit = BELOW(unit, q.units);
    const float threshold = is_unit ? -q.bias[unit] : 0.0f;
    double distance = 0.0;
    unsigned above = 0;
    for (size_t r = part * WARPS + threadIdx.x / CUDA_WARP; BELOW(r, q.rows); r += parts * WARPS) {
        const float value = is_unit ? q.a[r * q.stride + unit] : 0.0f;
        above += value > threshold;
        distance += fabsf(value - threshold);
    }
    distances[threadIdx.x] = distance, counts[threadIdx.x] = above;
    BARRIER();
    if (threadIdx.x >= CUDA_WARP || !is_unit) return;
    for (unsigned warp = 1; warp < WARPS; warp++) {
        distance += distances[warp * CUDA_WARP + threadIdx.x];
        above += counts[warp * CUDA_WARP + threadIdx.x];
    }
    scratch[part * q.units + unit] = distance;
    scratch[(parts + part) * q.units + unit] = above;
}

static __global__ void follow_kernel(train_quantiles q, unsigned parts,
                                     const train_verdict *verdict, const double *scratch) {
    if (verdict && verdict->diverged) return;
    for (EACH(k, q.units)) {
        double distance = 0.0, above = 0.0;
        for (unsigned part = 0; part < parts; part++) {
            distance += scratch[part * q.units + k];
            above += scratch[(parts + part) * q.units + k];
        }
        train_follow_quantile(q.beta, distance / (double)q.rows, above / (double)q.rows, &q.bias[k],
                              &q.spread[k]);
    }
}

/* --- units that see their first batch --------------------------------------------------- */

/* A block has UNITS_AT_ONCE adjacent units, whose values in a row are one sector of memory. Thread
 * t has rows t / UNITS_AT_ONCE, (t + THREADS) / UNITS_AT_ONCE, .. of unit t % UNITS_AT_ONCE. */
static const unsigned UNITS_AT_ONCE = 8, SLOTS = WARPS * UNITS_AT_ONCE;

/* Bits whose order is that of the numbers, -0 being 0; and the reverse. */
static __device__ uint32_t rank_bits(float x) {
    union {
        float f;
        uint32_t u;
    } bits = {x == 0.0f ? 0.0f : x};
    return bits.u >> 31 ? ~bits.u : bits.u | 0x80000000u;
}

static __device__ float of_rank_bits(uint32_t rank) {
    union {
        uint32_t u;
        float f;
    } bits = {rank >> 31 ? rank & 0x7fffffffu : ~rank};
    return bits.f;
}

struct sum_of {
    template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct least_of {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a < b ? a : b; }
};
struct most_of {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a < b ? b : a; }
};

/* Shared memory for exchanges among the threads of a unit. Two buffers are used alternately, so
 * that a fast warp does not overwrite what another still reads. */
template <typename T> struct exchange {
    T *scratch; /* [2][SLOTS] */
    unsigned which;
};

/* A reduction over the threads of each unit, in the same order for all; all threads of the block
 * call it. */
template <typename T, class Op> static __device__ T of_unit(T value, Op op, exchange<T> *at) {
    const unsigned lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP,
                   unit = threadIdx.x % UNITS_AT_ONCE;
    T *scratch = at->scratch + at->which * SLOTS;
    at->which ^= 1;
    for (unsigned apart = UNITS_AT_ONCE; apart < CUDA_WARP; apart *= 2)
        value = op(value, __shfl_xor_sync(0xffffffffu, value, (int)apart));
    if (lane < UNITS_AT_ONCE) scratch[warp * UNITS_AT_ONCE + unit] = value;
    BARRIER();
    value = scratch[unit];
    for (unsigned w = 1; w < WARPS; w++) value = op(value, scratch[w * UNITS_AT_ONCE + unit]);
    return value;
}

/* A thread's values of its unit. */
struct column {
    const float *a; /* the unit's first value */
    size_t rows, stride;
};
#define EACH_OF_COLUMN(r, c)                \
    size_t r = threadIdx.x / UNITS_AT_ONCE; \
    BELOW(r, (c).rows);                     \
    r += THREADS / UNITS_AT_ONCE

/* The bits of the value of rank `rank` by falling size: the greatest that more than `rank` values
 * reach, found bit by bit. */
static __device__ uint32_t select_falling(const column &c, size_t rank, exchange<uint32_t> *at) {
    uint32_t found = 0;
    for (uint32_t bit = 0x80000000u; bit; bit >>= 1) {
        uint32_t reach = 0;
        for (EACH_OF_COLUMN(r, c)) reach += rank_bits(c.a[r * c.stride]) >= (found | bit);
        if (of_unit(reach, sum_of(), at) > rank) found |= bit;
    }
    return found;
}

/* train_exact_quantile. */
static __device__ float exact_quantile(const column &c, double beta, exchange<uint32_t> *at) {
    const size_t n = c.rows ? c.rows : 1;
    const double wanted = beta * (double)n;
    const uint32_t x = select_falling(c, train_quantile_rank(wanted, n), at);
    uint32_t above = 0, below = 0, higher = rank_bits(INFINITY), lower = rank_bits(-INFINITY);
    for (EACH_OF_COLUMN(r, c)) {
        const uint32_t v = rank_bits(c.a[r * c.stride]);
        above += v > x, below += v < x;
        if (v > x && v < higher) higher = v;
        if (v < x && v > lower) lower = v;
    }
    above = of_unit(above, sum_of(), at), below = of_unit(below, sum_of(), at);
    higher = of_unit(higher, least_of(), at), lower = of_unit(lower, most_of(), at);
    return train_quantile_next_to(of_rank_bits(x), wanted, n, above, of_rank_bits(higher), below,
                                  of_rank_bits(lower));
}

static __global__ void start_kernel(train_quantiles q, const train_verdict *verdict) {
    SHARED(uint32_t, counts, 2 * SLOTS);
    SHARED(double, sums, 2 * SLOTS);
    const size_t first = (size_t)blockIdx.x * UNITS_AT_ONCE,
                 own_place = threadIdx.x % UNITS_AT_ONCE, unit = first + own_place;
    bool is_new = false, any = false;
    for (size_t i = 0; i < UNITS_AT_ONCE; i++)
        if (BELOW(first + i, q.units) && !(q.spread[first + i] >= 0.0f))
            any = true, is_new |= i == own_place;
    if (!any || (verdict && verdict->diverged)) return;
    const column own = {q.a + unit, is_new ? q.rows : 0, q.stride};
    exchange<uint32_t> counted = {counts, 0};
    exchange<double> summed = {sums, 0};
    const float threshold = exact_quantile(own, q.beta, &counted);
    double sum = 0.0;
    for (EACH_OF_COLUMN(r, own)) sum += fabs((double)own.a[r * q.stride] - threshold);
    sum = of_unit(sum, sum_of(), &summed);
    if (!is_new || threadIdx.x >= UNITS_AT_ONCE || !isfinite(sum)) return;
    q.bias[unit] = -threshold;
    q.spread[unit] = (float)(sum / (double)q.rows);
}

/* --- the operation ---------------------------------------------------------------------- */

static void launch(train_stream *s, const train_quantiles *q, const train_verdict *verdict) {
    const size_t tiles = (q->units - 1) / CUDA_WARP + 1;
    const unsigned parts = parts_of(q->rows);
    double *scratch = cuda_scratch(s);
    LAUNCH(distances_kernel, tiles * parts, THREADS, cuda_on(s), *q, parts, scratch);
    LAUNCH(follow_kernel, cuda_blocks(q->units, THREADS), THREADS, cuda_on(s), *q, parts, verdict,
           scratch);
    LAUNCH(start_kernel, (q->units - 1) / UNITS_AT_ONCE + 1, THREADS, cuda_on(s), *q, verdict);
}

taper_status train_cuda_follow_quantiles(train_stream *s, const train_quantiles *q,
                                         const train_verdict *verdict) {
    if (!q->rows || !q->units) return TAPER_OK;
    CUDA_BEGIN(s, "follow_quantiles", CUDA_ARRAY(verdict, 1),
               CUDA_ARRAY(q->a, (q->rows - 1) * q->stride + q->units),
               CUDA_ARRAY(q->bias, q->units), CUDA_ARRAY(q->spread, q->units));
    for (size_t at = 0; at < q->units; at += MOST_UNITS) {
        train_quantiles some = *q;
        some.units = q->units - at < MOST_UNITS ? q->units - at : MOST_UNITS;
        some.a += at, some.bias += at, some.spread += at;
        launch(s, &some, verdict);
    }
    return cuda_end(s, "follow_quantiles");
}
