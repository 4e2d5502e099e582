/* sides.c -- rows and the eight around them; see train/device/operations.h. */
#include "train/device/elements.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <string.h>

enum { ROW_BLOCK = 128 };

static size_t blocks_of(size_t rows) { return (rows + ROW_BLOCK - 1) / ROW_BLOCK; }
static size_t end_of(size_t rows, size_t block) {
    size_t end = (block + 1) * ROW_BLOCK;
    return end < rows ? end : rows;
}

typedef struct gather_task {
    size_t rows, width;
    const uint32_t *neighbour;
    int mirrored;
    const float *from;
    float *to;
} gather_task;

static void gather_sides(void *context, size_t block) {
    const gather_task *t = context;
    const size_t bytes = t->width * sizeof *t->to, end = end_of(t->rows, block);
    size_t r = block * ROW_BLOCK;
    for (float *to = t->to + r * TRAIN_SIDES * t->width; r < end; r++)
        for (size_t side = 0; side < TRAIN_SIDES; side++, to += t->width) {
            size_t of = t->mirrored ? TRAIN_SIDES - 1 - side : side;
            size_t at = t->neighbour[of * t->rows + r];
            if (at < t->rows)
                memcpy(to, t->from + at * t->width, bytes);
            else
                memset(to, 0, bytes);
        }
}

taper_status train_plain_gather_sides(train_stream *s, size_t rows, size_t width,
                                      const uint32_t *neighbour, int mirrored, const float *from,
                                      float *to) {
    gather_task task = {rows, width, neighbour, mirrored, from, to};
    return train_processor_run(s, gather_sides, &task, blocks_of(rows));
}

/* --- inputs of a conditional model ----------------------------------------------------- */

typedef struct input_task {
    size_t rows;
    uint32_t own, beside;
    const int8_t *seen;
    const uint32_t *neighbour;
    float *x;
} input_task;

static void spread(const int8_t *seen, uint32_t n, float *to) {
    for (uint32_t u = 0; u < n; u++) {
        to[2 * u] = train_input(seen[u], 0);
        to[2 * u + 1] = train_input(seen[u], 1);
    }
}

static void fill_row(const input_task *t, size_t row, float *x) {
    float *to = x + 2 * t->own, *is_there = to + 2 * (TRAIN_SIDES - 1) * t->beside;
    spread(t->seen + row * t->own, t->own, x);
    for (size_t side = 0; side < TRAIN_SIDES; side++) {
        size_t at = t->neighbour[side * t->rows + row];
        is_there[side] = at < t->rows;
        if (side == TRAIN_SELF) continue;
        if (at < t->rows)
            spread(t->seen + at * t->own, t->beside, to);
        else
            memset(to, 0, 2 * t->beside * sizeof *to);
        to += 2 * t->beside;
    }
}

static void fill_rows(void *context, size_t block) {
    const input_task *t = context;
    const size_t columns = 2 * (t->own + (TRAIN_SIDES - 1) * (size_t)t->beside) + TRAIN_SIDES,
                 end = end_of(t->rows, block);
    for (size_t r = block * ROW_BLOCK; r < end; r++) fill_row(t, r, t->x + r * columns);
}

taper_status train_plain_conditional_inputs(train_stream *s, size_t rows, uint32_t own,
                                            uint32_t beside, const int8_t *seen,
                                            const uint32_t *neighbour, float *x) {
    input_task task = {rows, own, beside, seen, neighbour, x};
    return train_processor_run(s, fill_rows, &task, blocks_of(rows));
}
