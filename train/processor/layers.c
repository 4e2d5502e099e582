/* layers.c -- clipped layers, residual layers, normalised layers; see train/device/operations.h. */
#include "codec/backend/pool.h"
#include "codec/backend/simd.h"
#include "codec/transform/convolution.h"
#include "train/device/elements.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <string.h>

/* Matrices [rows][width], processed in blocks of TRAIN_SUM_ROWS rows. */
typedef struct clip_task {
    size_t rows, width;
    const float *bias;
    float top;
    const float *from, *added, *to; /* inputs */
    float *out[2];                  /* outputs */
    float *sums;                    /* [blocks][width] */
} clip_task;

static void rows_of(const clip_task *t, size_t block, size_t *first, size_t *end) {
    *first = block * TRAIN_SUM_ROWS;
    *end = *first + TRAIN_SUM_ROWS < t->rows ? *first + TRAIN_SUM_ROWS : t->rows;
}

static taper_status run(train_stream *s, codec_task_fn *fn, clip_task *t) {
    return train_processor_run(s, fn, t, train_sum_blocks(t->rows));
}

/* Runs the task, then adds the sums of the blocks to dbias in order. */
static taper_status run_and_sum(train_stream *s, codec_task_fn *fn, clip_task *t, float *dbias) {
    size_t blocks = train_sum_blocks(t->rows);
    TAPER_TRY(train_processor_begin(s));
    codec_pool_run(train_processor_pool(s), fn, t, blocks);
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < t->width; i++) dbias[i] += t->sums[b * t->width + i];
    train_processor_end(s);
    return TAPER_OK;
}

/* --- clip to 0 .. top ------------------------------------------------------------------ */

static void clip_rows(void *context, size_t block) {
    const clip_task *t = context;
    const float *restrict bias = t->bias, top = t->top;
    size_t r, end;
    for (rows_of(t, block, &r, &end); r < end; r++) {
        float *restrict y = t->out[0] + r * t->width;
        for (size_t i = 0; i < t->width; i++) y[i] = train_clip(y[i] + bias[i], top);
    }
}

taper_status train_plain_clip(train_stream *s, size_t rows, size_t width, const float *bias,
                              float top, float *y) {
    clip_task task = {.rows = rows, .width = width, .bias = bias, .top = top, .out = {y}};
    return run(s, clip_rows, &task);
}

static void clip_rows_backward(void *context, size_t block) {
    const clip_task *t = context;
    const float top = t->top;
    size_t r, end;
    float *restrict sum = t->sums + block * t->width;
    memset(sum, 0, t->width * sizeof *sum);
    for (rows_of(t, block, &r, &end); r < end; r++) {
        const float *restrict y = t->to + r * t->width;
        float *restrict dy = t->out[0] + r * t->width;
        for (size_t i = 0; i < t->width; i++) {
            dy[i] = train_clip_back(y[i], top, dy[i]);
            sum[i] += dy[i];
        }
    }
}

taper_status train_plain_clip_backward(train_stream *s, size_t rows, size_t width, float top,
                                       const float *y, float *dy, float *dbias, float *scratch) {
    clip_task task = {
        .rows = rows, .width = width, .top = top, .to = y, .out = {dy}, .sums = scratch};
    return run_and_sum(s, clip_rows_backward, &task, dbias);
}

/* --- residual: clip to 0 .. top, add, limit to top ------------------------------------- */

static void add_rows(void *context, size_t block) {
    const clip_task *t = context;
    const float *restrict bias = t->bias, top = t->top;
    size_t r, end;
    for (rows_of(t, block, &r, &end); r < end; r++) {
        const float *restrict from = t->from + r * t->width;
        float *restrict added = t->out[0] + r * t->width, *restrict to = t->out[1] + r * t->width;
        for (size_t i = 0; i < t->width; i++) {
            added[i] = train_clip(added[i] + bias[i], top);
            to[i] = train_up_to(from[i] + added[i], top);
        }
    }
}

taper_status train_plain_clip_added(train_stream *s, const train_residual *l) {
    clip_task task = {.rows = l->rows,
                      .width = l->width,
                      .bias = l->bias,
                      .top = l->top,
                      .from = l->from,
                      .out = {l->added, l->to}};
    return run(s, add_rows, &task);
}

static void add_rows_backward(void *context, size_t block) {
    const clip_task *t = context;
    const float top = t->top;
    size_t r, end;
    float *restrict sum = t->sums + block * t->width;
    memset(sum, 0, t->width * sizeof *sum);
    for (rows_of(t, block, &r, &end); r < end; r++) {
        const float *restrict to = t->to + r * t->width, *restrict added = t->added + r * t->width;
        float *restrict dto = t->out[0] + r * t->width, *restrict dadded = t->out[1] + r * t->width;
        for (size_t i = 0; i < t->width; i++) {
            dto[i] = train_up_to_back(to[i], top, dto[i]);
            dadded[i] = train_clip_back(added[i], top, dto[i]);
            sum[i] += dadded[i];
        }
    }
}

taper_status train_plain_clip_added_backward(train_stream *s, const train_residual *l, float *dto,
                                             float *dadded, float *dbias, float *scratch) {
    clip_task task = {.rows = l->rows,
                      .width = l->width,
                      .top = l->top,
                      .added = l->added,
                      .to = l->to,
                      .out = {dto, dadded},
                      .sums = scratch};
    return run_and_sum(s, add_rows_backward, &task, dbias);
}

/* --- clip to -top .. top, and the positive part ---------------------------------------- */

static void relu_rows(void *context, size_t block) {
    const clip_task *t = context;
    const float *restrict bias = t->bias, top = t->top;
    size_t r, end;
    for (rows_of(t, block, &r, &end); r < end; r++) {
        const float *restrict before = t->from ? t->from + r * t->width : NULL;
        float *restrict h = t->out[0] + r * t->width, *restrict a = t->out[1] + r * t->width;
        for (size_t i = 0; i < t->width; i++) {
            float sum = h[i] + bias[i] + (before ? before[i] : 0.0f);
            train_relu_added(sum, top, &h[i], &a[i]);
        }
    }
}

taper_status train_plain_relu_added(train_stream *s, size_t rows, size_t width, const float *bias,
                                    float top, const float *before, float *h, float *a) {
    clip_task task = {
        .rows = rows, .width = width, .bias = bias, .top = top, .from = before, .out = {h, a}};
    return run(s, relu_rows, &task);
}

enum { ELEMENTS = 1 << 13 };

static void relu_backward(void *context, size_t block) {
    const clip_task *t = context;
    const float *restrict h = t->to, *restrict da = t->from, top = t->top;
    float *restrict dh = t->out[0];
    size_t i = block * ELEMENTS, end = i + ELEMENTS < t->width ? i + ELEMENTS : t->width;
    for (; i < end; i++) dh[i] = train_relu_added_back(h[i], top, da[i], dh[i]);
}

taper_status train_plain_relu_added_backward(train_stream *s, size_t n, float top, const float *h,
                                             const float *da, float *dh) {
    clip_task task = {.rows = 1, .width = n, .top = top, .from = da, .to = h, .out = {dh}};
    return train_processor_run(s, relu_backward, &task, n / ELEMENTS + (n % ELEMENTS != 0));
}

/* --- batch normalisation --------------------------------------------------------------- */

enum { COLUMNS = 64 }; /* of one block of a task */

typedef struct normalise_task {
    train_normalised n;
    float *dy, *dbias;
} normalise_task;

static size_t columns_of(const normalise_task *t, size_t block, size_t *first) {
    *first = block * COLUMNS;
    return t->n.width - *first < COLUMNS ? t->n.width - *first : COLUMNS;
}

static void normalise_columns(void *context, size_t block) {
    const normalise_task *t = context;
    const train_normalised *n = &t->n;
    size_t first, columns = columns_of(t, block, &first);
    const float *restrict bias = n->bias + first;
    float *restrict mean = n->mean + first, *restrict inverse = n->inverse + first;
    /* the first row: sums are of differences from it, which are 0 in a constant column */
    const float *top = n->unit + first;
    memset(mean, 0, columns * sizeof *mean);
    memset(inverse, 0, columns * sizeof *inverse);
    for (size_t r = 0; r < n->rows; r++)
        for (size_t j = 0; j < columns; j++) mean[j] += n->unit[r * n->width + first + j] - top[j];
    for (size_t j = 0; j < columns; j++) mean[j] = top[j] + mean[j] / (float)n->rows;
    for (size_t r = 0; r < n->rows; r++)
        for (size_t j = 0; j < columns; j++) {
            const float from_mean = n->unit[r * n->width + first + j] - mean[j];
            inverse[j] += from_mean * from_mean;
        }
    for (size_t j = 0; j < columns; j++) inverse[j] = train_inverse_deviation(inverse[j], n->rows);
    for (size_t r = 0; r < n->rows; r++) {
        float *restrict unit = n->unit + r * n->width + first, *restrict y =
                                                                   n->y + r * n->width + first;
        for (size_t j = 0; j < columns; j++) {
            unit[j] = (unit[j] - mean[j]) * inverse[j];
            y[j] = train_positive(unit[j] + bias[j]);
        }
    }
}

static taper_status run_columns(train_stream *s, codec_task_fn *fn, normalise_task *t) {
    return train_processor_run(s, fn, t, t->n.rows ? (t->n.width + COLUMNS - 1) / COLUMNS : 0);
}

taper_status train_plain_normalise(train_stream *s, const train_normalised *n) {
    normalise_task task = {*n, NULL, NULL};
    return run_columns(s, normalise_columns, &task);
}

static void normalise_columns_backward(void *context, size_t block) {
    const normalise_task *t = context;
    const train_normalised *n = &t->n;
    size_t first, columns = columns_of(t, block, &first);
    const float *restrict inverse = n->inverse + first, of = 1.0f / (float)n->rows;
    float sum[COLUMNS] = {0}, product[COLUMNS] = {0};
    for (size_t r = 0; r < n->rows; r++) {
        const size_t at = r * n->width + first;
        const float *restrict unit = n->unit + at, *restrict y = n->y + at;
        float *restrict dy = t->dy + at;
        for (size_t j = 0; j < columns; j++) {
            dy[j] = train_slope(CODEC_RELU, y[j], dy[j]);
            sum[j] += dy[j];
            product[j] += dy[j] * unit[j];
        }
    }
    for (size_t j = 0; j < columns; j++) t->dbias[first + j] += sum[j];
    for (size_t r = 0; r < n->rows; r++) {
        const float *restrict unit = n->unit + r * n->width + first;
        float *restrict dy = t->dy + r * n->width + first;
        for (size_t j = 0; j < columns; j++)
            dy[j] = train_normalise_back(dy[j], unit[j], inverse[j], sum[j] * of, product[j] * of);
    }
}

taper_status train_plain_normalise_backward(train_stream *s, const train_normalised *n, float *dy,
                                            float *dbias) {
    normalise_task task = {*n, dy, dbias};
    return run_columns(s, normalise_columns_backward, &task);
}

/* --- convolutional layers, a row in each block --------------------------------------------- */

typedef struct convolution_task {
    codec_map map;
    uint32_t channels; /* of the output */
    const float *from;
    float *to;
    uint8_t *which;
    const uint8_t *chosen;
} convolution_task;

static void take_patches(void *context, size_t row) {
    const convolution_task *t = context;
    const size_t values = codec_map_values(t->map);
    codec_map_patches(t->map, t->from + row * values, t->to + row * values * CODEC_MAP_TAPS);
}

taper_status train_plain_patches(train_stream *s, codec_map map, size_t rows, const float *from,
                                 float *to) {
    convolution_task task = {.map = map, .from = from, .to = to};
    return train_processor_run(s, take_patches, &task, rows);
}

CODEC_CLONES static void add_channels(uint32_t channels, const float *restrict from, size_t stride,
                                      float *restrict to) {
    if (stride == 1)
        for (uint32_t c = 0; c < channels; c++) to[c] += from[c];
    else
        for (uint32_t c = 0; c < channels; c++) to[c * stride] += from[c];
}

/* The patch of place (x, y) is added to the places around it. As patches come in the order of their
 * places, taps of one value descend. */
static void add_patch(codec_map m, int64_t x, int64_t y, const float *from, float *to) {
    const size_t stride = m.planar ? codec_map_places(m) : 1;
    for (int tap = 0; tap < CODEC_MAP_TAPS; tap++, from += m.channels) {
        const int64_t x2 = x + tap % 3 - 1, y2 = y + tap / 3 - 1;
        if (x2 < 0 || y2 < 0 || x2 >= m.width || y2 >= m.height) continue;
        const size_t at = (size_t)y2 * m.width + (size_t)x2;
        add_channels(m.channels, from, stride, to + (m.planar ? at : at * m.channels));
    }
}

static void add_patches(void *context, size_t row) {
    const convolution_task *t = context;
    const codec_map m = t->map;
    const size_t values = codec_map_values(m), step = codec_map_row(m);
    const float *from = t->from + row * values * CODEC_MAP_TAPS;
    float *to = t->to + row * values;
    memset(to, 0, values * sizeof *to);
    for (int64_t y = 0; y < m.height; y++)
        for (int64_t x = 0; x < m.width; x++, from += step) add_patch(m, x, y, from, to);
}

taper_status train_plain_add_patches(train_stream *s, codec_map map, size_t rows, const float *from,
                                     float *to) {
    convolution_task task = {.map = map, .from = from, .to = to};
    return train_processor_run(s, add_patches, &task, rows);
}

static size_t values_before(const convolution_task *t) {
    return codec_map_places(t->map) * t->channels;
}

static size_t values_after(const convolution_task *t) {
    return codec_map_values(codec_map_pooled(t->map, t->channels));
}

static void pool_row(void *context, size_t row) {
    const convolution_task *t = context;
    const size_t before = values_before(t), after = values_after(t);
    codec_map_pool(t->map, t->channels, t->from + row * before, t->to + row * after,
                   t->which + row * after);
}

taper_status train_plain_pool(train_stream *s, codec_map map, uint32_t channels, size_t rows,
                              const float *from, float *to, uint8_t *which) {
    convolution_task task = {
        .map = map, .channels = channels, .from = from, .to = to, .which = which};
    return train_processor_run(s, pool_row, &task, rows);
}

/* to[channels] = from where `which` is this number, else 0. */
CODEC_CLONES static void put_chosen(uint32_t channels, const float *restrict from,
                                    const uint8_t *restrict which, uint8_t number,
                                    float *restrict to) {
    for (uint32_t k = 0; k < channels; k++) to[k] = which[k] == number ? from[k] : 0.0f;
}

static void unpool_row(void *context, size_t row) {
    const convolution_task *t = context;
    const codec_map m = t->map;
    const size_t before = values_before(t), after = values_after(t);
    const size_t across = codec_pooled_side(m.width);
    float *to = t->to + row * before;
    for (uint32_t y = 0; y < m.height; y++)
        for (uint32_t x = 0; x < m.width; x++, to += t->channels) {
            const size_t at =
                row * after + (y / CODEC_POOL_SIDE * across + x / CODEC_POOL_SIDE) * t->channels;
            const uint8_t number =
                (uint8_t)(y % CODEC_POOL_SIDE * CODEC_POOL_SIDE + x % CODEC_POOL_SIDE);
            put_chosen(t->channels, t->from + at, t->chosen + at, number, to);
        }
}

taper_status train_plain_unpool(train_stream *s, codec_map map, uint32_t channels, size_t rows,
                                const float *from, const uint8_t *which, float *to) {
    convolution_task task = {
        .map = map, .channels = channels, .from = from, .to = to, .chosen = which};
    return train_processor_run(s, unpool_row, &task, rows);
}
