/* rows.c -- rows of examples: gathered, centred, moved; see train/device/operations.h. */
#include "formats/bytes.h"
#include "codec/backend/simd.h"
#include "train/device/elements.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
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
                         t->step, i, t->to + i * values);
}

taper_status train_plain_jitter(train_stream *s, const train_jitter *jitter, size_t rows,
                                const uint8_t *pixels, const uint32_t *order, uint64_t seed,
                                uint64_t step, uint8_t *to) {
    jitter_task task = {jitter, rows, pixels, order, seed, step, to};
    return train_processor_run(s, jitter_rows, &task, train_row_blocks(rows));
}

/* --- and put back ---------------------------------------------------------------------- */

enum { SCATTER_COLUMNS = 256 };

typedef struct scatter_task {
    size_t rows, width;
    const float *from;
    const uint32_t *order;
    float *to;
} scatter_task;

/* Some columns of all rows, so that no two blocks add to one number. */
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
