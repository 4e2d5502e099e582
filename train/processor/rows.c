/* rows.c -- rows of examples: gathered, centred, moved; rows of windows and their neighbours. See
 * train/device/operations.h. */
#include "formats/bytes.h"
#include "codec/backend/simd.h"
#include "train/device/elements.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <stdatomic.h>
#include <string.h>

typedef struct centre_task {
    size_t rows, width;
    const uint8_t *pixels;
    const uint32_t *order;
    const float *mean;
    float inverse_scale;
    float *to;
} centre_task;

CODEC_CLONES static void centre_rows(void *context, size_t block) {
    const centre_task *t = context;
    const size_t d = t->width, end = train_row_block_end(t->rows, block);
    const float inverse = t->inverse_scale;
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const uint8_t *y = t->pixels + (t->order ? (size_t)t->order[i] : i) * d;
        float *c = t->to + i * d;
        for (size_t j = 0; j < d; j++) c[j] = train_centred(y[j], t->mean[j], inverse);
    }
}

taper_status train_plain_centre_rows(train_stream *s, size_t rows, size_t width,
                                     const uint8_t *pixels, const uint32_t *order,
                                     const float *mean, float inverse_scale, float *to) {
    centre_task task = {rows, width, pixels, order, mean, inverse_scale, to};
    return train_processor_run(s, centre_rows, &task, train_row_blocks(rows));
}

typedef struct gather_task {
    size_t rows, bytes;
    const char *from;
    const uint32_t *order;
    char *to;
} gather_task;

static void gather_rows(void *context, size_t block) {
    const gather_task *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++)
        memcpy(t->to + i * t->bytes, t->from + (t->order ? (size_t)t->order[i] : i) * t->bytes,
               t->bytes);
}

taper_status train_plain_gather_rows(train_stream *s, size_t rows, size_t bytes, const void *from,
                                     const uint32_t *order, void *to) {
    gather_task task = {rows, bytes, from, order, to};
    return train_processor_run(s, gather_rows, &task, train_row_blocks(rows));
}

typedef struct jitter_task {
    const train_jitter *jitter;
    size_t rows;
    const uint8_t *pixels;
    const uint32_t *order;
    uint64_t seed, step;
    uint8_t *to;
} jitter_task;

static void jitter_rows(void *context, size_t block) {
    const jitter_task *t = context;
    const train_jitter *j = t->jitter;
    const size_t values = (size_t)j->width * j->height * j->channels,
                 end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++)
        train_jitter_row(j, t->pixels + (t->order ? (size_t)t->order[i] : i) * values, t->seed,
                         t->step, j->position ? j->position[i] : i, t->to + i * values);
}

taper_status train_plain_jitter(train_stream *s, const train_jitter *jitter, size_t rows,
                                const uint8_t *pixels, const uint32_t *order, uint64_t seed,
                                uint64_t step, uint8_t *to) {
    jitter_task task = {jitter, rows, pixels, order, seed, step, to};
    return train_processor_run(s, jitter_rows, &task, train_row_blocks(rows));
}

typedef struct gradients_task {
    const train_gradients *of;
    atomic_int status;
} gradients_task;

static void describe_rows(void *context, size_t block) {
    gradients_task *t = context;
    const train_gradients *g = t->of;
    const size_t values = codec_window_values(g->window),
                 count = codec_gradients_count(g->window, g->cells),
                 end = train_row_block_end(g->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const taper_status status = codec_gradients(
            g->window, g->cells, 1, g->pixels + (g->order ? (size_t)g->order[i] : i) * values,
            g->to + i * count);
        if (status != TAPER_OK) atomic_store(&t->status, (int)status);
    }
}

taper_status train_plain_gradients(train_stream *s, const train_gradients *g) {
    gradients_task task = {g, TAPER_OK};
    TAPER_TRY(train_processor_run(s, describe_rows, &task, train_row_blocks(g->rows)));
    return (taper_status)atomic_load(&task.status);
}

/* --- a step of each row ---------------------------------------------------------------- */

typedef struct step_task {
    size_t rows, width;
    float length;
    const float *x, *g;
    float *y;
} step_task;

static void step_rows(void *context, size_t block) {
    const step_task *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const float *restrict x = t->x + i * t->width, *restrict g = t->g + i * t->width;
        float *restrict y = t->y + i * t->width;
        double squares = 0.0;
        for (size_t j = 0; j < t->width; j++) squares += (double)g[j] * (double)g[j];
        const double step = train_step_of(squares, t->length);
        for (size_t j = 0; j < t->width; j++) y[j] = train_step(step, x[j], g[j]);
    }
}

taper_status train_plain_step_rows(train_stream *s, size_t rows, size_t width, float length,
                                   const float *x, const float *g, float *y) {
    step_task task = {rows, width, length, x, g, y};
    return train_processor_run(s, step_rows, &task, train_row_blocks(rows));
}

/* --- scatter --------------------------------------------------------------------------- */

enum { SCATTER_COLUMNS = 256 };

typedef struct scatter_task {
    size_t rows, width;
    const float *from;
    const uint32_t *order;
    float *to;
} scatter_task;

/* A block has some columns of all rows, so that no two blocks add to the same number. */
static void scatter_columns(void *context, size_t block) {
    const scatter_task *t = context;
    size_t first = block * SCATTER_COLUMNS,
           end = formats_smaller(t->width, first + SCATTER_COLUMNS);
    for (size_t i = 0; i < t->rows; i++) {
        const float *restrict from = t->from + i * t->width;
        float *restrict to = t->to + t->order[i] * t->width;
        for (size_t j = first; j < end; j++) to[j] += from[j];
    }
}

taper_status train_plain_scatter_rows(train_stream *s, size_t rows, size_t width, const float *from,
                                      const uint32_t *order, float *to) {
    scatter_task task = {rows, width, from, order, to};
    return train_processor_run(s, scatter_columns, &task,
                               (width + SCATTER_COLUMNS - 1) / SCATTER_COLUMNS);
}

typedef struct columns_task {
    size_t rows, width;
    const float *from;
    size_t from_stride;
    float *to;
    size_t to_stride;
} columns_task;

static void copy_column_rows(void *context, size_t block) {
    const columns_task *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++)
        memcpy(t->to + i * t->to_stride, t->from + i * t->from_stride, t->width * sizeof *t->to);
}

taper_status train_plain_copy_columns(train_stream *s, size_t rows, size_t width, const float *from,
                                      size_t from_stride, float *to, size_t to_stride) {
    columns_task task = {rows, width, from, from_stride, to, to_stride};
    return train_processor_run(s, copy_column_rows, &task, train_row_blocks(rows));
}

/* --- windows and their eight neighbours --------------------------------------------------- */

enum { SIDE_ROWS = 128 };

static size_t side_blocks(size_t rows) { return (rows + SIDE_ROWS - 1) / SIDE_ROWS; }
typedef struct sides_task {
    size_t rows, width;
    const uint32_t *neighbour;
    int mirrored;
    const float *from;
    float *to;
} sides_task;

static void gather_sides(void *context, size_t block) {
    const sides_task *t = context;
    const size_t bytes = t->width * sizeof *t->to,
                 end = formats_smaller(t->rows, (block + 1) * SIDE_ROWS);
    size_t r = block * SIDE_ROWS;
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
    sides_task task = {rows, width, neighbour, mirrored, from, to};
    return train_processor_run(s, gather_sides, &task, side_blocks(rows));
}

/* --- inputs of a conditional model ----------------------------------------------------- */

typedef struct input_task {
    size_t rows;
    uint32_t own, neighbour_units;
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
    float *to = x + 2 * t->own, *is_there = to + 2 * (TRAIN_SIDES - 1) * t->neighbour_units;
    spread(t->seen + row * t->own, t->own, x);
    for (size_t side = 0; side < TRAIN_SIDES; side++) {
        size_t at = t->neighbour[side * t->rows + row];
        is_there[side] = at < t->rows;
        if (side == TRAIN_SELF) continue;
        if (at < t->rows)
            spread(t->seen + at * t->own, t->neighbour_units, to);
        else
            memset(to, 0, 2 * t->neighbour_units * sizeof *to);
        to += 2 * t->neighbour_units;
    }
}

static void fill_rows(void *context, size_t block) {
    const input_task *t = context;
    const size_t columns =
                     2 * (t->own + (TRAIN_SIDES - 1) * (size_t)t->neighbour_units) + TRAIN_SIDES,
                 end = formats_smaller(t->rows, (block + 1) * SIDE_ROWS);
    for (size_t r = block * SIDE_ROWS; r < end; r++) fill_row(t, r, t->x + r * columns);
}

taper_status train_plain_conditional_inputs(train_stream *s, size_t rows, uint32_t own,
                                            uint32_t neighbour_units, const int8_t *seen,
                                            const uint32_t *neighbour, float *x) {
    input_task task = {rows, own, neighbour_units, seen, neighbour, x};
    return train_processor_run(s, fill_rows, &task, side_blocks(rows));
}
