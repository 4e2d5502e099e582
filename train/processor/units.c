/* units.c -- whole units: values, gradients, and changes under perturbed inputs; see
 * operations.h. */
#include "codec/transform/triangle.h"
#include "formats/bytes.h"
#include "train/device/elements_units.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

static uint32_t kept_of(const train_units *u, size_t row) {
    return u->kept && u->kept[row] < u->units ? u->kept[row] : u->units;
}

/* --- values and gradients --------------------------------------------------------------- */

typedef struct unit_task {
    train_units u;
    uint32_t first;
    const float *a, *dx;
    float *to;
} unit_task;

static void value_rows(void *context, size_t block) {
    const unit_task *t = context;
    const train_units *u = &t->u;
    const size_t end = train_row_block_end(u->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const float *a = t->a + i * u->units;
        float *x = t->to + i * u->units;
        uint32_t kept = kept_of(u, i);
        for (uint32_t k = 0; k < kept; k++) x[k] = train_unit_value(u, k, a[k]);
        memset(x + kept, 0, (u->units - kept) * sizeof *x);
    }
}

taper_status train_plain_unit_values(train_stream *s, const train_units *u, const float *a,
                                     float *x) {
    unit_task task = {.u = *u, .a = a, .to = x};
    return train_processor_run(s, value_rows, &task, train_row_blocks(u->rows));
}

static void gradient_rows(void *context, size_t block) {
    const unit_task *t = context;
    const train_units *u = &t->u;
    const size_t width = u->units - t->first, end = train_row_block_end(u->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const float *a = t->a + i * u->units, *dx = t->dx + i * width;
        float *da = t->to + i * width;
        uint32_t k = t->first, kept = kept_of(u, i);
        for (; k < kept; k++)
            da[k - t->first] =
                dx[k - t->first] * train_unit_slope(u, k, a[k], train_unit_value(u, k, a[k]));
        for (; k < u->units; k++) da[k - t->first] = 0.0f;
    }
}

taper_status train_plain_unit_gradient(train_stream *s, const train_units *u, uint32_t first,
                                       const float *a, const float *dx, float *da) {
    unit_task task = {*u, first, a, dx, da};
    return train_processor_run(s, gradient_rows, &task, train_row_blocks(u->rows));
}

/* --- units with feedback from earlier units -------------------------------------------- */

enum { TRIANGLE_BLOCK = 64 }; /* rows of one block: codec/transform/triangle works in tiles */

typedef struct triangle_task {
    const train_units *u;
    const float *matrix;
    size_t stride;
    const float *x;
    float *a, *to;
    atomic_int failed;
} triangle_task;

static size_t triangle_blocks(size_t rows) { return (rows + TRIANGLE_BLOCK - 1) / TRIANGLE_BLOCK; }

static void decide_rows(void *context, size_t block) {
    triangle_task *t = context;
    const train_units *u = t->u;
    const size_t first = block * TRIANGLE_BLOCK,
                 n = formats_smaller(TRIANGLE_BLOCK, u->rows - first);
    float *x = t->to + first * u->units;
    if (codec_triangle_decide(t->matrix, t->stride, u->units, u->bias, u->centre, n,
                              t->a + first * u->units, x) != TAPER_OK)
        t->failed = 1;
    for (size_t i = 0; i < n; i++) {
        const uint32_t kept = kept_of(u, first + i);
        memset(x + i * u->units + kept, 0, (u->units - kept) * sizeof *x);
    }
}

taper_status train_plain_decide(train_stream *s, const train_units *u, const float *feedback,
                                size_t stride, float *a, float *x) {
    triangle_task task = {.u = u, .matrix = feedback, .stride = stride, .a = a, .to = x};
    TAPER_TRY(train_processor_run(s, decide_rows, &task, triangle_blocks(u->rows)));
    return task.failed ? TAPER_ERR_NOMEM : TAPER_OK;
}

static void mix_rows(void *context, size_t block) {
    triangle_task *t = context;
    const uint32_t units = t->u->units;
    const size_t first = block * TRIANGLE_BLOCK,
                 n = formats_smaller(TRIANGLE_BLOCK, t->u->rows - first);
    if (codec_triangle_mix(t->matrix, t->stride, units, n, t->x + first * units,
                           t->to + first * units) != TAPER_OK)
        t->failed = 1;
}

taper_status train_plain_mix(train_stream *s, size_t rows, uint32_t units, const float *mixing,
                             size_t stride, const float *x, float *z) {
    const train_units u = {.rows = rows, .units = units};
    triangle_task task = {.u = &u, .matrix = mixing, .stride = stride, .x = x, .to = z};
    TAPER_TRY(train_processor_run(s, mix_rows, &task, triangle_blocks(rows)));
    return task.failed ? TAPER_ERR_NOMEM : TAPER_OK;
}

typedef struct lower_task {
    size_t first, rows, columns, stride;
    const float *from;
    float *to;
} lower_task;

static void set_lower_rows(void *context, size_t block) {
    const lower_task *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const size_t k = t->first + i;
        float *to = t->to + k * t->stride;
        memcpy(to, t->from + i * t->columns, k * sizeof *to);
        memset(to + k, 0, (t->stride - k) * sizeof *to);
    }
}

taper_status train_plain_set_lower(train_stream *s, size_t first, size_t rows, size_t columns,
                                   const float *from, float *to, size_t stride) {
    lower_task task = {first, rows, columns, stride, from, to};
    return train_processor_run(s, set_lower_rows, &task, train_row_blocks(rows));
}

/* --- equation 14 ----------------------------------------------------------------------- */

static void move_rows(void *context, size_t block) {
    const train_moves *m = context;
    const uint32_t units = m->units.units, first = m->first;
    const size_t width = units - first, end = train_row_block_end(m->units.rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const float *a = m->a + i * units, *near = m->near + i * units;
        float *da = m->da + i * width, *dnear = m->dnear + i * width;
        double noise = m->noise[i] + 1e-30, sum = 0.0;
        float pull = (float)(m->weight / (m->of * noise));
        for (uint32_t k = 0; k < units; k++) {
            const train_move move = train_unit_move(&m->units, k, a[k], near[k]);
            sum += move.value;
            if (k < first) continue;
            da[k - first] += pull * move.by_a;
            dnear[k - first] = pull * move.by_near;
        }
        m->moved[i] = sum / noise;
    }
}

taper_status train_plain_unit_moves(train_stream *s, const train_moves *m) {
    train_moves task = *m;
    return train_processor_run(s, move_rows, &task, train_row_blocks(m->units.rows));
}
