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

typedef struct unit_task {
    train_units u;
    size_t rows;
    uint32_t first, units;
    const uint32_t *kept;
    double weight, of;
    const double *noise;
    const float *a, *near, *dx;
    float *to, *dnear;
    double *moved;
} unit_task;

static uint32_t kept_of(const unit_task *t, size_t row) {
    return t->kept && t->kept[row] < t->units ? t->kept[row] : t->units;
}

/* --- values ---------------------------------------------------------------------------- */

static void value_rows(void *context, size_t block) {
    const unit_task *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const float *a = t->a + i * t->units;
        float *x = t->to + i * t->units;
        uint32_t kept = kept_of(t, i);
        for (uint32_t k = 0; k < kept; k++) x[k] = train_unit_value(&t->u, k, a[k]);
        memset(x + kept, 0, (t->units - kept) * sizeof *x);
    }
}

taper_status train_plain_unit_values(train_stream *s, const train_units *u, size_t rows,
                                     uint32_t units, const uint32_t *kept, const float *a,
                                     float *x) {
    unit_task task = {.u = *u, .rows = rows, .units = units, .kept = kept, .a = a, .to = x};
    return train_processor_run(s, value_rows, &task, train_row_blocks(rows));
}

/* --- gradients ------------------------------------------------------------------------- */

static void gradient_rows(void *context, size_t block) {
    const unit_task *t = context;
    const size_t width = t->units - t->first, end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const float *a = t->a + i * t->units, *dx = t->dx + i * width;
        float *da = t->to + i * width;
        uint32_t k = t->first, kept = kept_of(t, i);
        for (; k < kept; k++)
            da[k - t->first] = dx[k - t->first] *
                               train_unit_slope(&t->u, k, a[k], train_unit_value(&t->u, k, a[k]));
        for (; k < t->units; k++) da[k - t->first] = 0.0f;
    }
}

taper_status train_plain_unit_gradient(train_stream *s, const train_units *u, size_t rows,
                                       uint32_t first, uint32_t units, const uint32_t *kept,
                                       const float *a, const float *dx, float *da) {
    unit_task task = {.u = *u,
                      .rows = rows,
                      .first = first,
                      .units = units,
                      .kept = kept,
                      .a = a,
                      .dx = dx,
                      .to = da};
    return train_processor_run(s, gradient_rows, &task, train_row_blocks(rows));
}

/* --- units with feedback from earlier units -------------------------------------------- */

enum { TRIANGLE_BLOCK = 64 }; /* rows of one block: codec/transform/triangle works in tiles */

typedef struct triangle_task {
    const train_units *u;
    size_t rows, stride;
    uint32_t units;
    const uint32_t *kept;
    const float *matrix, *x;
    float *a, *to;
    atomic_int failed;
} triangle_task;

static size_t triangle_blocks(size_t rows) { return (rows + TRIANGLE_BLOCK - 1) / TRIANGLE_BLOCK; }

static void decide_rows(void *context, size_t block) {
    triangle_task *t = context;
    const size_t first = block * TRIANGLE_BLOCK,
                 n = formats_smaller(TRIANGLE_BLOCK, t->rows - first);
    float *x = t->to + first * t->units;
    if (codec_triangle_decide(t->matrix, t->stride, t->units, t->u->bias, t->u->centre, n,
                              t->a + first * t->units, x) != TAPER_OK)
        t->failed = 1;
    for (size_t i = 0; t->kept && i < n; i++)
        if (t->kept[first + i] < t->units)
            memset(x + i * t->units + t->kept[first + i], 0,
                   (t->units - t->kept[first + i]) * sizeof *x);
}

taper_status train_plain_decide(train_stream *s, const train_units *u, size_t rows, uint32_t units,
                                const uint32_t *kept, const float *feedback, size_t stride,
                                float *a, float *x) {
    triangle_task task = {.u = u,
                          .rows = rows,
                          .stride = stride,
                          .units = units,
                          .kept = kept,
                          .matrix = feedback,
                          .a = a,
                          .to = x};
    TAPER_TRY(train_processor_run(s, decide_rows, &task, triangle_blocks(rows)));
    return task.failed ? TAPER_ERR_NOMEM : TAPER_OK;
}

static void mix_rows(void *context, size_t block) {
    triangle_task *t = context;
    const size_t first = block * TRIANGLE_BLOCK,
                 n = formats_smaller(TRIANGLE_BLOCK, t->rows - first);
    if (codec_triangle_mix(t->matrix, t->stride, t->units, n, t->x + first * t->units,
                           t->to + first * t->units) != TAPER_OK)
        t->failed = 1;
}

taper_status train_plain_mix(train_stream *s, size_t rows, uint32_t units, const float *mixing,
                             size_t stride, const float *x, float *z) {
    triangle_task task = {
        .rows = rows, .stride = stride, .units = units, .matrix = mixing, .x = x, .to = z};
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

/* Unit k of a row: returns its term, and computes the gradient if the unit is trained. */
static inline double move_unit(const unit_task *t, uint32_t k, float a, float near, float pull,
                               float *da, float *dnear) {
    const train_move m = train_unit_move(&t->u, k, a, near);
    if (k >= t->first) {
        da[k - t->first] += pull * m.by_a;
        dnear[k - t->first] = pull * m.by_near;
    }
    return m.value;
}

static void move_rows(void *context, size_t block) {
    const unit_task *t = context;
    const size_t width = t->units - t->first, end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const float *a = t->a + i * t->units, *near = t->near + i * t->units;
        double noise = t->noise[i] + 1e-30, sum = 0.0;
        float pull = (float)(t->weight / (t->of * noise));
        for (uint32_t k = 0; k < t->units; k++)
            sum += move_unit(t, k, a[k], near[k], pull, t->to + i * width, t->dnear + i * width);
        t->moved[i] = sum / noise;
    }
}

taper_status train_plain_unit_moves(train_stream *s, const train_units *u, size_t rows,
                                    uint32_t first, uint32_t units, double weight, double of,
                                    const double *noise, const float *a, const float *near,
                                    float *da, float *dnear, double *moved) {
    unit_task task = {*u,    rows, first, units, NULL, weight, of,
                      noise, a,    near,  NULL,  da,   dnear,  moved};
    return train_processor_run(s, move_rows, &task, train_row_blocks(rows));
}
