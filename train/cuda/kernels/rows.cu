/* rows.cu -- rows of examples: gathered, centred, moved; rows of windows and their neighbours. See
 * train/device/operations.h. */
#include "train/cuda/factors.h"
#include "train/cuda/kernels/teams.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements.h"

static const unsigned THREADS = 256;

/* --- numbers --------------------------------------------------------------------------- */

static __global__ void centre_kernel(unsigned team, size_t rows, size_t width,
                                     const uint8_t *__restrict__ pixels,
                                     const uint32_t *__restrict__ order,
                                     const float *__restrict__ mean, float inverse_scale,
                                     cuda_numbers to) {
    for (EACH_TEAM(row, rows, team)) {
        const uint8_t *from = pixels + (order ? order[row] : row) * width;
        FOUR_AT_A_TIME /* because a byte is little for a load */
            for (EACH_MEMBER(j, width, team))
                to.put(row * width + j, train_centred(from[j], mean[j], inverse_scale));
    }
}

taper_status train_cuda_centre_rows(train_stream *s, size_t rows, size_t width,
                                    const uint8_t *pixels, const uint32_t *order, const float *mean,
                                    float inverse_scale, float *to) {
    const unsigned team = cuda_team((width + 3) / 4);
    if (!rows || !width) return TAPER_OK;
    CUDA_BEGIN(s, "centre_rows", cuda_picked(pixels, order, rows, width), CUDA_ARRAY(order, rows),
               CUDA_ARRAY(mean, width), CUDA_NUMBERS(to, rows * width));
    LAUNCH(centre_kernel, cuda_team_blocks(rows, team), THREADS, cuda_on(s), team, rows, width,
           pixels, order, mean, inverse_scale, cuda_numbers_at(s, to));
    return cuda_end(s, "centre_rows");
}

/* --- copies ---------------------------------------------------------------------------- */

/* Rows of `width` units, at these strides. */
template <typename unit>
static __global__ void copy_kernel(unsigned team, size_t rows, size_t width,
                                   const unit *__restrict__ from, size_t from_stride,
                                   const uint32_t *__restrict__ order, unit *__restrict__ to,
                                   size_t to_stride) {
    for (EACH_TEAM(row, rows, team)) {
        const unit *read = from + (order ? order[row] : row) * from_stride;
        unit *written = to + row * to_stride;
        for (EACH_MEMBER(j, width, team)) written[j] = read[j];
    }
}

template <typename unit>
static void copy_units(train_stream *s, size_t rows, size_t bytes, const void *from,
                       size_t from_stride, const uint32_t *order, void *to, size_t to_stride) {
    const size_t width = bytes / sizeof(unit);
    const unsigned team = cuda_team(width);
    LAUNCH(copy_kernel<unit>, cuda_team_blocks(rows, team), THREADS, cuda_on(s), team, rows, width,
           (const unit *)from, from_stride / sizeof(unit), order, (unit *)to,
           to_stride / sizeof(unit));
}

/* Sizes are in bytes. */
static void copy_rows(train_stream *s, size_t rows, size_t bytes, const void *from,
                      size_t from_stride, const uint32_t *order, void *to, size_t to_stride) {
    const size_t at_once =
        cuda_at_once(bytes | from_stride | to_stride | (uintptr_t)from | (uintptr_t)to);
    (at_once == 16  ? copy_units<cuda_sixteen>
     : at_once == 4 ? copy_units<uint32_t>
                    : copy_units<uint8_t>)(s, rows, bytes, from, from_stride, order, to, to_stride);
}

taper_status train_cuda_gather_rows(train_stream *s, size_t rows, size_t bytes, const void *from,
                                    const uint32_t *order, void *to) {
    if (!rows || !bytes) return TAPER_OK;
    CUDA_BEGIN(s, "gather_rows", cuda_picked((const char *)from, order, rows, bytes),
               CUDA_ARRAY(order, rows), CUDA_ARRAY((char *)to, rows * bytes));
    copy_rows(s, rows, bytes, from, bytes, order, to, bytes);
    return cuda_end(s, "gather_rows");
}

/* From factors to single precision. */
static __global__ void copy_factors_kernel(unsigned team, size_t rows, size_t width,
                                           const uint16_t *__restrict__ from, size_t from_stride,
                                           float *__restrict__ to, size_t to_stride) {
    for (EACH_TEAM(row, rows, team))
        for (EACH_MEMBER(j, width, team))
            to[row * to_stride + j] = train_from_bfloat16(from[row * from_stride + j]);
}

taper_status train_cuda_copy_columns(train_stream *s, size_t rows, size_t width, const float *from,
                                     size_t from_stride, float *to, size_t to_stride) {
    const size_t size = sizeof *to;
    const unsigned team = cuda_team(width);
    if (!rows || !width) return TAPER_OK;
    CUDA_BEGIN(s, "copy_columns", CUDA_NUMBERS(from, (rows - 1) * from_stride + width),
               CUDA_ARRAY(to, (rows - 1) * to_stride + width));
    const uint16_t *factor = cuda_numbers_at(s, from).factor;
    if (factor)
        LAUNCH(copy_factors_kernel, cuda_team_blocks(rows, team), THREADS, cuda_on(s), team, rows,
               width, factor, from_stride, to, to_stride);
    else
        copy_rows(s, rows, width * size, from, from_stride * size, NULL, to, to_stride * size);
    return cuda_end(s, "copy_columns");
}

/* --- jitter ---------------------------------------------------------------------------- */

/* A block for each row. Every thread computes the row's motion, which is faster than waiting for
 * one thread, and computes a pixel's source once for all channels. */
static __global__ void jitter_kernel(train_jitter jitter, size_t rows,
                                     const uint8_t *__restrict__ pixels,
                                     const uint32_t *__restrict__ order, uint64_t seed,
                                     uint64_t step, uint8_t *__restrict__ to) {
    const uint32_t width = jitter.width, plane = width * jitter.height;
    for (EACH_BLOCK(row, rows)) {
        train_motion motion;
        const int moves = train_motion_of(&jitter, seed, step,
                                          jitter.position ? jitter.position[row] : row, &motion);
        const uint8_t *from = pixels + (order ? order[row] : row) * plane * jitter.channels;
        uint8_t *moved = to + row * plane * jitter.channels;
        for (EACH_IN_BLOCK(p, plane)) {
            train_place place = {p, 0, 0};
            if (moves)
                place = train_place_of(&motion, (uint32_t)p % width, (uint32_t)p / width, width,
                                       jitter.height);
            for (size_t c = 0; c < (size_t)jitter.channels * plane; c += plane)
                moved[c + p] = moves ? train_pixel_at(from + c, width, place) : from[c + p];
        }
    }
}

taper_status train_cuda_jitter(train_stream *s, const train_jitter *jitter, size_t rows,
                               const uint8_t *pixels, const uint32_t *order, uint64_t seed,
                               uint64_t step, uint8_t *to) {
    const size_t plane = (size_t)jitter->width * jitter->height, values = plane * jitter->channels,
                 threads =
                     plane < THREADS ? (plane + CUDA_WARP - 1) / CUDA_WARP * CUDA_WARP : THREADS;
    if (!rows || !values) return TAPER_OK;
    CUDA_BEGIN(s, "jitter", cuda_picked(pixels, order, rows, values), CUDA_ARRAY(order, rows),
               CUDA_ARRAY(jitter->position, rows), CUDA_ARRAY(to, rows * values));
    LAUNCH(jitter_kernel, cuda_blocks(rows, 1), threads, cuda_on(s), *jitter, rows, pixels, order,
           seed, step, to);
    return cuda_end(s, "jitter");
}

/* --- a step of each row ---------------------------------------------------------------- */

/* A block for each row. */
static __global__ void step_rows_kernel(size_t rows, size_t width, float length,
                                        const float *__restrict__ x, const float *__restrict__ g,
                                        float *__restrict__ y) {
    SHARED(double, scratch, CUDA_WARP);
    SHARED(double, step, 1);
    for (EACH_BLOCK(row, rows)) {
        const size_t at = row * width;
        double squares = 0.0;
        for (EACH_IN_BLOCK(j, width)) squares += (double)g[at + j] * (double)g[at + j];
        squares = block_sum(squares, scratch);
        if (threadIdx.x == 0) *step = train_step_of(squares, length);
        BARRIER();
        const double by = *step;
        for (EACH_IN_BLOCK(j, width)) y[at + j] = train_step(by, x[at + j], g[at + j]);
    } /* block_sum ensures that all threads have read *step before thread 0 writes the next one */
}

taper_status train_cuda_step_rows(train_stream *s, size_t rows, size_t width, float length,
                                  const float *x, const float *g, float *y) {
    if (!rows || !width) return TAPER_OK;
    CUDA_BEGIN(s, "step_rows", CUDA_ARRAY(x, rows * width), CUDA_ARRAY(g, rows * width),
               CUDA_ARRAY(y, rows * width));
    LAUNCH(step_rows_kernel, cuda_blocks(rows, 1), THREADS, cuda_on(s), rows, width, length, x, g,
           y);
    return cuda_end(s, "step_rows");
}

/* --- scatter --------------------------------------------------------------------------- */

static const size_t SCATTER_COLUMNS = 256;
static const uint32_t SCATTER_MOST = 512;

/* A block is one warp. It has some columns, and one part of the rows of `to`; the number of parts
 * is a power of two. It searches the order for its rows, 32 entries at a time. So additions are in
 * ascending order, and no two warps add to the same number. */
static __global__ void scatter_kernel(uint32_t parts, size_t rows, size_t width,
                                      const float *__restrict__ from,
                                      const uint32_t *__restrict__ order, float *__restrict__ to) {
    const uint32_t part = blockIdx.x & (parts - 1);
    const size_t first = blockIdx.x / parts * SCATTER_COLUMNS,
                 columns = width - first < SCATTER_COLUMNS ? width - first : SCATTER_COLUMNS;
    for (size_t block = 0; block < rows; block += CUDA_WARP) {
        const size_t looked_at = block + threadIdx.x;
        const int is_own = BELOW(looked_at, rows) && (order[looked_at] & (parts - 1)) == part;
        unsigned own = __ballot_sync(0xffffffffu, is_own);
        for (size_t row = block; own; row++, own >>= 1) {
            if (!(own & 1)) continue;
            const float *added = from + row * width + first;
            float *sum = to + order[row] * width + first;
            for (EACH_LANE(j, columns)) sum[j] += added[j];
        }
    }
}

taper_status train_cuda_scatter_rows(train_stream *s, size_t rows, size_t width, const float *from,
                                     const uint32_t *order, float *to) {
    uint32_t parts = 1;
    while (parts < rows && parts < SCATTER_MOST) parts *= 2;
    if (!rows || !width) return TAPER_OK;
    CUDA_BEGIN(s, "scatter_rows", CUDA_ARRAY(from, rows * width), CUDA_ARRAY(order, rows),
               CUDA_ARRAY(to, width));
    LAUNCH(scatter_kernel, parts * (1 + (width - 1) / SCATTER_COLUMNS), CUDA_WARP, cuda_on(s),
           parts, rows, width, from, order, to);
    return cuda_end(s, "scatter_rows");
}

/* --- windows and their eight neighbours --------------------------------------------------- */

/* A team for each side of each row of `width` units; `none` is a unit of zeros. */
template <typename unit>
static __global__ void sides_kernel(unsigned team, size_t rows, size_t width,
                                    const uint32_t *__restrict__ neighbour, int mirrored,
                                    const unit *__restrict__ from, unit none,
                                    unit *__restrict__ to) {
    for (EACH_TEAM(place, rows * TRAIN_SIDES, team)) {
        const size_t row = place / TRAIN_SIDES, side = place % TRAIN_SIDES,
                     of = mirrored ? TRAIN_SIDES - 1 - side : side;
        const size_t at = neighbour[of * rows + row];
        const int is_there = BELOW(at, rows);
        for (EACH_MEMBER(j, width, team))
            to[place * width + j] = is_there ? from[at * width + j] : none;
    }
}

template <typename unit>
static void gather_units(train_stream *s, size_t rows, size_t bytes, const uint32_t *neighbour,
                         int mirrored, const void *from, void *to) {
    const size_t width = bytes / sizeof(unit);
    const unsigned team = cuda_team(width);
    LAUNCH(sides_kernel<unit>, cuda_team_blocks(rows * TRAIN_SIDES, team), THREADS, cuda_on(s),
           team, rows, width, neighbour, mirrored, (const unit *)from, unit{}, (unit *)to);
}

taper_status train_cuda_gather_sides(train_stream *s, size_t rows, size_t width,
                                     const uint32_t *neighbour, int mirrored, const float *from,
                                     float *to) {
    const size_t bytes = width * sizeof *to;
    const int by_sixteen = cuda_at_once(bytes | (uintptr_t)from | (uintptr_t)to) == 16;
    if (!rows || !width) return TAPER_OK;
    CUDA_BEGIN(s, "gather_sides", CUDA_ARRAY(neighbour, TRAIN_SIDES * rows),
               CUDA_ARRAY(from, rows * width), CUDA_ARRAY(to, rows * TRAIN_SIDES * width));
    (by_sixteen ? gather_units<cuda_sixteen> : gather_units<float>)(s, rows, bytes, neighbour,
                                                                    mirrored, from, to);
    return cuda_end(s, "gather_sides");
}

/* --- inputs of a conditional model ----------------------------------------------------- */

/* A team for each side of each row. For TRAIN_SELF it writes the `own` units of the row itself. It
 * also writes whether the side exists. */
static __global__ void input_kernel(unsigned team, size_t rows, size_t own, size_t neighbour_units,
                                    const int8_t *__restrict__ seen,
                                    const uint32_t *__restrict__ neighbour, float *__restrict__ x) {
    const size_t flags = 2 * (own + (TRAIN_SIDES - 1) * neighbour_units),
                 columns = flags + TRAIN_SIDES;
    for (EACH_TEAM(place, rows * TRAIN_SIDES, team)) {
        const size_t row = place / TRAIN_SIDES, side = place % TRAIN_SIDES;
        const size_t before = side < TRAIN_SELF ? side : side - 1,
                     at = neighbour[side * rows + row];
        const int is_self = side == TRAIN_SELF, is_there = BELOW(at, rows);
        const int8_t *units = seen + (is_self ? row : at) * own;
        float *to = x + row * columns,
              *first = to + (is_self ? 0 : 2 * (own + before * neighbour_units));
        for (EACH_MEMBER(j, 2 * (is_self ? own : neighbour_units), team))
            first[j] = is_self || is_there ? train_input(units[j / 2], j % 2) : 0.0f;
        if (threadIdx.x % (1u << team) == 0) to[flags + side] = (float)is_there;
    }
}

taper_status train_cuda_conditional_inputs(train_stream *s, size_t rows, uint32_t own,
                                           uint32_t neighbour_units, const int8_t *seen,
                                           const uint32_t *neighbour, float *x) {
    const unsigned team = cuda_team(2 * (size_t)neighbour_units);
    const size_t columns = 2 * (own + (TRAIN_SIDES - 1) * (size_t)neighbour_units) + TRAIN_SIDES;
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "conditional_inputs", CUDA_ARRAY(seen, rows * own),
               CUDA_ARRAY(neighbour, TRAIN_SIDES * rows), CUDA_ARRAY(x, rows * columns));
    LAUNCH(input_kernel, cuda_team_blocks(rows * TRAIN_SIDES, team), THREADS, cuda_on(s), team,
           rows, (size_t)own, (size_t)neighbour_units, seen, neighbour, x);
    return cuda_end(s, "conditional_inputs");
}
