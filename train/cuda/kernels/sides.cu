/* sides.cu -- rows and the eight around them; see train/device/operations.h. */
#include "train/cuda/kernels/teams.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include "train/device/elements.h"

static const unsigned THREADS = 256;

/* A team for each side of each row, of `width` units; `none` is a unit of zeros. */
template <typename unit>
static __global__ void gather_kernel(unsigned team, size_t rows, size_t width,
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
    LAUNCH(gather_kernel<unit>, cuda_team_blocks(rows * TRAIN_SIDES, team), THREADS, cuda_on(s),
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

/* A team for each side of each row. Of TRAIN_SELF it writes the `own` units of the row itself; it
 * writes, too, whether the side is there. */
static __global__ void input_kernel(unsigned team, size_t rows, size_t own, size_t beside,
                                    const int8_t *__restrict__ seen,
                                    const uint32_t *__restrict__ neighbour, float *__restrict__ x) {
    const size_t flags = 2 * (own + (TRAIN_SIDES - 1) * beside), columns = flags + TRAIN_SIDES;
    for (EACH_TEAM(place, rows * TRAIN_SIDES, team)) {
        const size_t row = place / TRAIN_SIDES, side = place % TRAIN_SIDES;
        const size_t before = side < TRAIN_SELF ? side : side - 1,
                     at = neighbour[side * rows + row];
        const int is_self = side == TRAIN_SELF, is_there = BELOW(at, rows);
        const int8_t *units = seen + (is_self ? row : at) * own;
        float *to = x + row * columns, *first = to + (is_self ? 0 : 2 * (own + before * beside));
        for (EACH_MEMBER(j, 2 * (is_self ? own : beside), team))
            first[j] = is_self || is_there ? train_input(units[j / 2], j % 2) : 0.0f;
        if (threadIdx.x % (1u << team) == 0) to[flags + side] = (float)is_there;
    }
}

taper_status train_cuda_conditional_inputs(train_stream *s, size_t rows, uint32_t own,
                                           uint32_t beside, const int8_t *seen,
                                           const uint32_t *neighbour, float *x) {
    const unsigned team = cuda_team(2 * (size_t)beside);
    const size_t columns = 2 * (own + (TRAIN_SIDES - 1) * (size_t)beside) + TRAIN_SIDES;
    if (!rows) return TAPER_OK;
    CUDA_BEGIN(s, "conditional_inputs", CUDA_ARRAY(seen, rows * own),
               CUDA_ARRAY(neighbour, TRAIN_SIDES * rows), CUDA_ARRAY(x, rows * columns));
    LAUNCH(input_kernel, cuda_team_blocks(rows * TRAIN_SIDES, team), THREADS, cuda_on(s), team,
           rows, (size_t)own, (size_t)beside, seen, neighbour, x);
    return cuda_end(s, "conditional_inputs");
}
