/* units.cu -- whole units: values, gradients, changes under perturbed inputs, and feedback; see
 * train/device/operations.h. */
#include "train/cuda/factors.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements_units.h"

static const unsigned THREADS = 256, WARPS = THREADS / CUDA_WARP;

/* A warp for each row. */
static unsigned blocks_of(size_t rows) { return cuda_blocks(rows, WARPS); }

static __device__ size_t kept_of(const uint32_t *kept, size_t row, size_t units) {
    return kept && kept[row] < units ? kept[row] : units;
}

/* --- values and gradients --------------------------------------------------------------- */

static __global__ void unit_values_kernel(train_units u, const float *a, cuda_numbers x) {
    const size_t units = u.units;
    for (EACH_WARP(row, u.rows)) {
        const size_t end = kept_of(u.kept, row, units);
        for (EACH_LANE(k, units)) {
            const size_t at = row * units + k;
            x.put(at, BELOW(k, end) ? train_unit_value(&u, k, a[at]) : 0.0f);
        }
    }
}

taper_status train_cuda_unit_values(train_stream *s, const train_units *u, const float *a,
                                    float *x) {
    const size_t n = u->rows * u->units;
    CUDA_BEGIN(s, "unit_values", CUDA_ARRAY(u->bias, u->binary ? u->units : 0),
               CUDA_ARRAY(u->kept, u->rows), CUDA_ARRAY(a, n), CUDA_NUMBERS(x, n));
    LAUNCH(unit_values_kernel, blocks_of(u->rows), THREADS, cuda_on(s), *u, a,
           cuda_numbers_at(s, x));
    return cuda_end(s, "unit_values");
}

/* da may be dx: the thread that writes an element also reads it. */
static __global__ void unit_gradient_kernel(train_units u, size_t first, const float *a,
                                            cuda_numbers dx, cuda_numbers da) {
    const size_t units = u.units, width = units - first;
    for (EACH_WARP(row, u.rows)) {
        const size_t end = kept_of(u.kept, row, units);
        for (EACH_LANE(j, width)) {
            const size_t k = first + j, at = row * width + j;
            float gradient = 0.0f;
            if (BELOW(k, end)) {
                const float pre = a[row * units + k];
                gradient = dx.get(at) * train_unit_slope(&u, k, pre, train_unit_value(&u, k, pre));
            }
            da.put(at, gradient);
        }
    }
}

taper_status train_cuda_unit_gradient(train_stream *s, const train_units *u, uint32_t first,
                                      const float *a, const float *dx, float *da) {
    const size_t n = u->rows * (u->units - first), arrays = u->binary ? u->units : 0;
    CUDA_BEGIN(s, "unit_gradient", CUDA_ARRAY(u->bias, arrays), CUDA_ARRAY(u->spread, arrays),
               CUDA_ARRAY(u->kept, u->rows), CUDA_ARRAY(a, u->rows * u->units), CUDA_NUMBERS(dx, n),
               CUDA_NUMBERS(da, n));
    LAUNCH(unit_gradient_kernel, blocks_of(u->rows), THREADS, cuda_on(s), *u, first, a,
           cuda_numbers_at(s, dx), cuda_numbers_at(s, da));
    return cuda_end(s, "unit_gradient");
}

/* --- equation 14 ----------------------------------------------------------------------- */

/* da and dnear: m's. */
static __global__ void unit_moves_kernel(train_moves m, cuda_numbers da, cuda_numbers dnear) {
    const size_t units = m.units.units, first = m.first, width = units - first;
    for (EACH_WARP(row, m.units.rows)) {
        const double length = m.noise[row] + 1e-30;
        const float pull = (float)(m.weight / (m.of * length));
        double sum = 0.0;
        for (EACH_LANE(k, units)) {
            const size_t at = row * units + k;
            const train_move move = train_unit_move(&m.units, k, m.a[at], m.near[at]);
            sum += move.value;
            if (BELOW(k, first)) continue;
            const size_t to = row * width + k - first;
            da.put(to, da.get(to) + pull * move.by_a);
            dnear.put(to, pull * move.by_near);
        }
        sum = warp_sum(sum);
        if (threadIdx.x % CUDA_WARP == 0) m.moved[row] = sum / length;
    }
}

taper_status train_cuda_unit_moves(train_stream *s, const train_moves *m) {
    const train_units *u = &m->units;
    const size_t rows = u->rows, all = rows * u->units, n = rows * (u->units - m->first),
                 arrays = u->binary ? u->units : 0;
    CUDA_BEGIN(s, "unit_moves", CUDA_ARRAY(u->bias, arrays), CUDA_ARRAY(u->spread, arrays),
               CUDA_ARRAY(m->noise, rows), CUDA_ARRAY(m->a, all), CUDA_ARRAY(m->near, all),
               CUDA_NUMBERS(m->da, n), CUDA_NUMBERS(m->dnear, n), CUDA_ARRAY(m->moved, rows));
    LAUNCH(unit_moves_kernel, blocks_of(rows), THREADS, cuda_on(s), *m, cuda_numbers_at(s, m->da),
           cuda_numbers_at(s, m->dnear));
    return cuda_end(s, "unit_moves");
}

/* --- triangles ------------------------------------------------------------------------- */

/* Rows first .. first + rows - 1 of `to`, a warp for each. */
static __global__ void set_lower_kernel(size_t first, size_t rows, size_t columns,
                                        const float *from, float *to, size_t stride) {
    for (EACH_WARP(row, rows)) {
        const size_t k = first + row;
        for (EACH_LANE(j, stride))
            to[k * stride + j] = BELOW(j, k) ? from[row * columns + j] : 0.0f;
    }
}

taper_status train_cuda_set_lower(train_stream *s, size_t first, size_t rows, size_t columns,
                                  const float *from, float *to, size_t stride) {
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "set_lower", CUDA_ARRAY(from, (rows - 1) * columns + first + rows - 1),
               CUDA_ARRAY(to, (first + rows) * stride));
    LAUNCH(set_lower_kernel, blocks_of(rows), THREADS, cuda_on(s), first, rows, columns, from, to,
           stride);
    return cuda_end(s, "set_lower");
}

/* decide and mix. A block has PER rows for each of its warps and processes TILE units at a time,
 * one for each lane. The contribution of earlier units is a matrix product. Its factors are loaded
 * to shared memory, TILE earlier units at a time, while the product of the previous tile is
 * computed. Each sum belongs to one thread and runs from 0.0f in ascending order of units, for any
 * shape.
 *
 * For K units a row costs K (K - 1) / 2 multiplications and as many additions. The matrix is read
 * once for each block, 2 K^2 R / (PER WARPS) bytes for R rows, from the second-level cache. Of the
 * loads of a warp from shared memory, 1 / PER are of the matrix; the others are broadcasts of 4
 * numbers. */
static const unsigned TILE = CUDA_WARP, FOURS = TILE / 4, PITCH = FOURS + 1,
                      MANY_ROWS = 2048; /* enough rows to fill a GPU with one row per warp */

struct alignas(16) four {
    float of[4];
};

struct lower {
    const float *matrix; /* strictly below its diagonal; rows are `stride` apart */
    size_t stride, rows, units;
};

/* Elements from the beginning to the last one below the diagonal. */
static size_t lower_count(uint32_t units, size_t stride) {
    return units > 1 ? (units - 1) * stride + units - 1 : 0;
}

/* How later units use a computed unit: its value, or its decision. */
struct as_it_is {
    __device__ float least(size_t) const { return 0.0f; }
    __device__ float of(float value, float) const { return value; }
};
struct decided {
    const float *bias; /* or NULL */
    float high, low;
    __device__ float least(size_t k) const { return bias ? -bias[k] : 0.0f; }
    __device__ float of(float value, float least) const { return value > least ? high : low; }
};

/* A thread's part of a tile: matrix[k][t] for units k in tile k0 and its own unit t in tile t0; the
 * values of unit t in its warp's rows; and its threshold. sum[row]: over earlier tiles. */
template <unsigned PER> struct part { float matrix[TILE / WARPS], value[PER], least, sum[PER]; };

template <unsigned PER, class Kind>
static __device__ void fetch(const lower &g, const Kind &kind, const float *values, size_t row,
                             size_t k0, size_t t0, part<PER> *to) {
    const size_t t = t0 + threadIdx.x % CUDA_WARP, from = k0 + threadIdx.x / CUDA_WARP;
    for (unsigned i = 0; i < TILE / WARPS; i++) {
        const size_t k = from + i * WARPS;
        to->matrix[i] = 0.0f;
        if (!BELOW(k, g.units)) continue;
        if (BELOW(t, k)) to->matrix[i] = g.matrix[k * g.stride + t];
    }
    const bool is_unit = BELOW(t, g.units);
    to->least = is_unit ? kind.least(t) : 0.0f;
    for (unsigned i = 0; i < PER; i++)
        to->value[i] = BELOW(row + i, g.rows) && is_unit ? values[(row + i) * g.units + t] : 0.0f;
}

/* Writes to shared memory: panel[TILE][PITCH] of the matrix, before[WARPS * PER][FOURS]. */
template <unsigned PER, class Kind>
static __device__ void put(const Kind &kind, const part<PER> &from, four *panel, four *before) {
    const unsigned lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    for (unsigned i = 0; i < TILE / WARPS; i++)
        panel[(warp + i * WARPS) * PITCH + lane / 4].of[lane % 4] = from.matrix[i];
    for (unsigned i = 0; i < PER; i++)
        before[(warp * PER + i) * FOURS + lane / 4].of[lane % 4] =
            kind.of(from.value[i], from.least);
}

/* sum[row] += the sum over the tile's t of matrix[lane][t] before[row][t], t ascending. */
template <unsigned PER>
static __device__ void add_products(const four *panel, const four *before, float *sum) {
    const unsigned lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    for (unsigned f = 0; f < FOURS; f++) {
        const four m = panel[lane * PITCH + f];
        for (unsigned i = 0; i < PER; i++) {
            const four v = before[(warp * PER + i) * FOURS + f];
            for (unsigned j = 0; j < 4; j++) sum[i] += m.of[j] * v.of[j];
        }
    }
}

/* For the units of tile k0: own->sum. Afterwards the tile's own part of the matrix is in shared
 * memory, and own->value are its values. All threads of the block call it. */
template <unsigned PER, class Kind>
static __device__ void sum_before(const lower &g, const Kind &kind, const float *values, size_t row,
                                  size_t k0, four *panel, four *before, part<PER> *own) {
    for (unsigned i = 0; i < PER; i++) own->sum[i] = 0.0f;
    fetch(g, kind, values, row, k0, 0, own);
    for (size_t t0 = 0;; t0 += TILE) {
        BARRIER(); /* the previous tile is no longer needed */
        put(kind, *own, panel, before);
        BARRIER();
        if (t0 == k0) return;
        fetch(g, kind, values, row, k0, t0 + TILE, own);
        add_products<PER>(panel, before, own->sum);
    }
}

/* The n units of a tile in order. Each lane has the sums of its unit and decides at every step, one
 * bit for each row. Only the bits of the lane of the present unit count; later lanes add their
 * products with it. For other lanes the panel is 0 and leaves their sums unchanged, because a sum
 * from 0.0f is never -0. a becomes a - sum. */
template <unsigned PER>
static __device__ void decide_tile(const decided &kind, const four *panel, size_t n, float least,
                                   float *a, float *sum) {
    for (unsigned f = 0; f < FOURS && 4 * f < n; f++) {
        const four m = panel[threadIdx.x % CUDA_WARP * PITCH + f];
        for (unsigned j = 0; j < 4; j++) {
            unsigned bits = 0;
            for (unsigned i = 0; i < PER; i++) bits |= (unsigned)(a[i] - sum[i] > least) << i;
            bits = __shfl_sync(0xffffffffu, bits, (int)(4 * f + j));
            for (unsigned i = 0; i < PER; i++)
                sum[i] += m.of[j] * (bits >> i & 1 ? kind.high : kind.low);
        }
    }
    for (unsigned i = 0; i < PER; i++) a[i] -= sum[i];
}

/* A unit's decision is recomputed from a, by the thread that made it. */
template <unsigned PER>
static __global__ void decide_kernel(lower g, decided kind, const uint32_t *kept, float *a,
                                     cuda_numbers x) {
    SHARED(four, panel, TILE * PITCH);
    SHARED(four, before, WARPS * PER * FOURS);
    const size_t row = ((size_t)blockIdx.x * WARPS + threadIdx.x / CUDA_WARP) * PER;
    for (size_t k0 = 0; k0 < g.units; k0 += TILE) {
        const size_t k = k0 + threadIdx.x % CUDA_WARP;
        part<PER> own;
        sum_before(g, kind, a, row, k0, panel, before, &own);
        decide_tile<PER>(kind, panel, g.units - k0, own.least, own.value, own.sum);
        if (!BELOW(k, g.units)) continue;
        for (unsigned i = 0; i < PER; i++)
            if (BELOW(row + i, g.rows)) {
                const size_t at = (row + i) * g.units + k;
                a[at] = own.value[i];
                x.put(at, BELOW(k, kept_of(kept, row + i, g.units))
                              ? kind.of(own.value[i], own.least)
                              : 0.0f);
            }
    }
}

taper_status train_cuda_decide(train_stream *s, const train_units *u, const float *feedback,
                               size_t stride, float *a, float *x) {
    const size_t rows = u->rows, n = rows * u->units;
    const lower g = {feedback, stride, rows, u->units};
    const decided kind = {u->bias, 1.0f - u->centre, 0.0f - u->centre};
    if (!n) return TAPER_OK;
    CUDA_BEGIN(s, "decide", CUDA_ARRAY(u->bias, u->units), CUDA_ARRAY(u->kept, rows),
               CUDA_ARRAY(feedback, lower_count(u->units, stride)), CUDA_ARRAY(a, n),
               CUDA_NUMBERS(x, n));
    const cuda_numbers to = cuda_numbers_at(s, x);
    if (rows > MANY_ROWS)
        LAUNCH(decide_kernel<4>, (rows - 1) / (4 * WARPS) + 1, THREADS, cuda_on(s), g, kind,
               u->kept, a, to);
    else
        LAUNCH(decide_kernel<1>, (rows - 1) / WARPS + 1, THREADS, cuda_on(s), g, kind, u->kept, a,
               to);
    return cuda_end(s, "decide");
}

/* A block for each tile of units; those with the longest sums start first. */
template <unsigned PER>
static __global__ void mix_kernel(lower g, size_t across, const float *x, float *z) {
    SHARED(four, panel, TILE * PITCH);
    SHARED(four, before, WARPS * PER * FOURS);
    const size_t row = (blockIdx.x % across * WARPS + threadIdx.x / CUDA_WARP) * PER,
                 k0 = (gridDim.x / across - 1 - blockIdx.x / across) * TILE,
                 k = k0 + threadIdx.x % CUDA_WARP;
    part<PER> own;
    sum_before(g, as_it_is(), x, row, k0, panel, before, &own);
    add_products<PER>(panel, before, own.sum);
    if (!BELOW(k, g.units)) return;
    for (unsigned i = 0; i < PER; i++)
        if (BELOW(row + i, g.rows)) z[(row + i) * g.units + k] = own.value[i] + own.sum[i];
}

taper_status train_cuda_mix(train_stream *s, size_t rows, uint32_t units, const float *mixing,
                            size_t stride, const float *x, float *z) {
    const size_t n = rows * units;
    const lower g = {mixing, stride, rows, units};
    if (!n) return TAPER_OK;
    const size_t tiles = (units - 1) / TILE + 1, many = (rows - 1) / (4 * WARPS) + 1,
                 few = (rows - 1) / WARPS + 1;
    CUDA_BEGIN(s, "mix", CUDA_ARRAY(mixing, lower_count(units, stride)), CUDA_ARRAY(x, n),
               CUDA_ARRAY(z, n));
    if (rows > MANY_ROWS)
        LAUNCH(mix_kernel<4>, many * tiles, THREADS, cuda_on(s), g, many, x, z);
    else
        LAUNCH(mix_kernel<1>, few * tiles, THREADS, cuda_on(s), g, few, x, z);
    return cuda_end(s, "mix");
}
