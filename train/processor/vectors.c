/* vectors.c -- long vectors of numbers, weight decay by rows, and the optimiser; see
 * train/device/operations.h. */
#include "codec/backend/pool.h"
#include "codec/backend/simd.h"
#include "formats/bytes.h"
#include "train/device/elements.h"
#include "train/device/elements_units.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include "train/sampling/numbers.h"
#include <math.h>
#include <stdlib.h>

enum { VECTOR_BLOCK = 1 << 15, LANES = 8 };

static size_t vector_blocks(size_t n) { return n / VECTOR_BLOCK + (n % VECTOR_BLOCK != 0); }

/* --- element by element ---------------------------------------------------------------- */

typedef struct vector_task {
    size_t n;
    float factor;
    const float *a, *b;
    float *y;
} vector_task;

static void scale_block(void *context, size_t block) {
    const vector_task *t = context;
    size_t i = block * VECTOR_BLOCK, end = formats_smaller(t->n, i + VECTOR_BLOCK);
    for (; i < end; i++) t->y[i] = t->factor * t->a[i];
}

taper_status train_plain_scale(train_stream *s, size_t n, float factor, const float *x, float *y) {
    vector_task task = {n, factor, x, NULL, y};
    return train_processor_run(s, scale_block, &task, vector_blocks(n));
}

static void exponential_block(void *context, size_t block) {
    const vector_task *t = context;
    size_t i = block * VECTOR_BLOCK, end = formats_smaller(t->n, i + VECTOR_BLOCK);
    for (; i < end; i++) t->y[i] = train_exp(t->factor * t->a[i]);
}

taper_status train_plain_exponential(train_stream *s, size_t n, float factor, const float *x,
                                     float *y) {
    vector_task task = {n, factor, x, NULL, y};
    return train_processor_run(s, exponential_block, &task, vector_blocks(n));
}

CODEC_CLONES static void products_block(void *context, size_t block) {
    const vector_task *t = context;
    size_t i = block * VECTOR_BLOCK, end = formats_smaller(t->n, i + VECTOR_BLOCK);
    const float *restrict a = t->a, *restrict b = t->b;
    float *restrict y = t->y;
    for (; i < end; i++) y[i] += a[i] * b[i];
}

taper_status train_plain_add_products(train_stream *s, size_t n, const float *a, const float *b,
                                      float *y) {
    vector_task task = {n, 0.0f, a, b, y};
    return train_processor_run(s, products_block, &task, vector_blocks(n));
}

static void axpy_block(void *context, size_t block) {
    const vector_task *t = context;
    size_t i = block * VECTOR_BLOCK, end = formats_smaller(t->n, i + VECTOR_BLOCK);
    for (; i < end; i++) t->y[i] += t->factor * t->a[i];
}

taper_status train_plain_axpy(train_stream *s, size_t n, float factor, const float *x, float *y) {
    vector_task task = {n, factor, x, NULL, y};
    return train_processor_run(s, axpy_block, &task, vector_blocks(n));
}

static void interpolate_block(void *context, size_t block) {
    const vector_task *t = context;
    size_t i = block * VECTOR_BLOCK, end = formats_smaller(t->n, i + VECTOR_BLOCK);
    for (; i < end; i++) t->y[i] = t->a[i] + t->factor * (t->b[i] - t->a[i]);
}

taper_status train_plain_interpolate(train_stream *s, size_t n, float part, const float *a,
                                     const float *b, float *to) {
    vector_task task = {n, part, a, b, to};
    return train_processor_run(s, interpolate_block, &task, vector_blocks(n));
}

typedef struct standardise_task {
    size_t n;
    float centre, scale, most;
    const float *x;
    float *y;
} standardise_task;

static void standardise_block(void *context, size_t block) {
    const standardise_task *t = context;
    const float most = t->most;
    size_t i = block * VECTOR_BLOCK, end = formats_smaller(t->n, i + VECTOR_BLOCK);
    for (; i < end; i++) {
        float y = (t->x[i] - t->centre) / t->scale;
        t->y[i] = y > most ? most : y < -most ? -most : y;
    }
}

taper_status train_plain_standardise(train_stream *s, size_t n, float centre, float scale,
                                     float most, const float *x, float *y) {
    standardise_task task = {n, centre, scale, most, x, y};
    return train_processor_run(s, standardise_block, &task, vector_blocks(n));
}

typedef struct transpose_task {
    size_t rows, columns;
    const float *from;
    float *to;
} transpose_task;

static void transpose_block(void *context, size_t block) {
    const transpose_task *t = context;
    const float *from = t->from + block * t->rows * t->columns;
    float *to = t->to + block * t->rows * t->columns;
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < t->columns; c++) to[c * t->rows + r] = from[r * t->columns + c];
}

taper_status train_plain_transpose(train_stream *s, size_t n, size_t rows, size_t columns,
                                   const float *from, float *to) {
    transpose_task task = {rows, columns, from, to};
    return train_processor_run(s, transpose_block, &task, n);
}

/* --- in double ------------------------------------------------------------------------- */

typedef struct combine_task {
    size_t n;
    double alpha, beta;
    const float *x, *y;
    float *to;
} combine_task;

static void combine_block(void *context, size_t block) {
    const combine_task *t = context;
    size_t i = block * VECTOR_BLOCK, end = formats_smaller(t->n, i + VECTOR_BLOCK);
    for (; i < end; i++) t->to[i] = (float)(t->alpha * t->x[i] + t->beta * t->y[i]);
}

taper_status train_plain_combine(train_stream *s, size_t n, double alpha, const float *x,
                                 double beta, const float *y, float *to) {
    combine_task task = {n, alpha, beta, x, y, to};
    return train_processor_run(s, combine_block, &task, vector_blocks(n));
}

static void difference_block(void *context, size_t block) {
    const combine_task *t = context;
    size_t i = block * VECTOR_BLOCK, end = formats_smaller(t->n, i + VECTOR_BLOCK);
    for (; i < end; i++) t->to[i] = (float)((double)t->to[i] + t->x[i] - t->y[i]);
}

taper_status train_plain_add_difference(train_stream *s, size_t n, const float *a, const float *b,
                                        float *y) {
    combine_task task = {n, 0.0, 0.0, a, b, y};
    return train_processor_run(s, difference_block, &task, vector_blocks(n));
}

taper_status train_plain_dot(train_stream *s, size_t n, const float *a, const float *b,
                             double *sum) {
    TAPER_TRY(train_processor_begin(s));
    *sum = train_dot(n, a, b);
    train_processor_end(s);
    return TAPER_OK;
}

taper_status train_plain_distance(train_stream *s, size_t n, const float *a, const float *b,
                                  double *squares) {
    TAPER_TRY(train_processor_begin(s));
    double apart = 0.0, length = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)a[i] - b[i];
        apart += d * d;
        length += (double)a[i] * a[i];
    }
    squares[0] = apart, squares[1] = length;
    train_processor_end(s);
    return TAPER_OK;
}

/* --- norms ----------------------------------------------------------------------------- */

typedef struct squares_task {
    size_t n;
    const float *x;
    double *partial; /* one per block */
} squares_task;

CODEC_CLONES static void squares_block(void *context, size_t block) {
    const squares_task *t = context;
    size_t first = block * VECTOR_BLOCK, end = formats_smaller(t->n, first + VECTOR_BLOCK),
           i = first;
    double lane[LANES] = {0}, sum = 0.0;
    for (; i + LANES <= end; i += LANES)
        for (size_t j = 0; j < LANES; j++) lane[j] += (double)t->x[i + j] * t->x[i + j];
    for (; i < end; i++) sum += (double)t->x[i] * t->x[i];
    for (size_t j = 0; j < LANES; j++) sum += lane[j];
    t->partial[block] = sum;
}

taper_status train_plain_sum_squares(train_stream *s, size_t n, const float *x, int add_to,
                                     double *sum) {
    size_t blocks = vector_blocks(n);
    double *partial = malloc((blocks ? blocks : 1) * sizeof *partial), total = 0.0;
    taper_status status = partial ? train_processor_begin(s) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) {
        squares_task task = {n, x, partial};
        codec_pool_run(train_processor_pool(s), squares_block, &task, blocks);
        for (size_t i = 0; i < blocks; i++) total += partial[i];
        *sum = (add_to ? *sum : 0.0) + total;
        train_processor_end(s);
    }
    free(partial);
    return status;
}

/* --- weight decay of rows ------------------------------------------------------------- */

/* The square of the norm of the penalty's gradient. */
static double gradient_square(train_penalty penalty, size_t n, const float *w) {
    if (penalty == TRAIN_PENALTY_L2) return train_dot(n, w, w);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += w[i] != 0.0f;
    return (double)count;
}

static double choose_coefficient(const train_decay *t, const float *w, const float *gradient) {
    if (t->coefficient == TRAIN_COEFFICIENT_FIXED) return t->strength;
    double own = train_dot(t->width, gradient, gradient),
           penalty = gradient_square(t->penalty, t->width, w);
    return train_decay_coefficient(t->coefficient, t->strength, own, penalty);
}

static double value_of(const train_decay *t, double lambda, const float *w) {
    if (t->penalty == TRAIN_PENALTY_L2) return 0.5 * lambda * train_dot(t->width, w, w);
    double sum = 0.0;
    for (size_t i = 0; i < t->width; i++) sum += fabs((double)w[i]);
    return lambda * sum;
}

/* t->value: [rows] values of the rows, or NULL. */
static void decay_row(const train_decay *t, size_t row) {
    const float *w = t->weight + row * t->width;
    float *g = t->gradient + row * t->width;
    const int given = t->coefficient == TRAIN_COEFFICIENT_GIVEN;
    double l = given ? t->lambda[row] : choose_coefficient(t, w, g);
    if (t->lambda) t->lambda[row] = l;
    if (t->value) t->value[row] = l > 0.0 ? value_of(t, l, w) : 0.0;
    if (given && !(l > 0.0)) return;
    if (t->penalty == TRAIN_PENALTY_L1)
        for (size_t i = 0; i < t->width; i++) g[i] = train_decayed_l1(l, w[i], g[i]);
    if (t->penalty == TRAIN_PENALTY_L2)
        for (size_t i = 0; i < t->width; i++) g[i] = train_decayed_l2(l, w[i], g[i]);
}

static void decay_rows(void *context, size_t block) {
    const train_decay *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) decay_row(t, i);
}

taper_status train_plain_decay(train_stream *s, const train_decay *d) {
    train_decay task = *d;
    task.value = d->value ? malloc((d->rows ? d->rows : 1) * sizeof *task.value) : NULL;
    if (d->value && !task.value) return TAPER_ERR_NOMEM;
    taper_status status = train_processor_begin(s);
    if (status == TAPER_OK) {
        codec_pool_run(train_processor_pool(s), decay_rows, &task, train_row_blocks(d->rows));
        for (size_t i = 0; d->value && i < d->rows; i++) *d->value += task.value[i];
        train_processor_end(s);
    }
    free(task.value);
    return status;
}

/* --- the optimiser --------------------------------------------------------------------- */

taper_status train_plain_judge(train_stream *s, uint64_t step, const double *loss, double most_loss,
                               const double *squares, float max_norm, train_verdict *verdict) {
    TAPER_TRY(train_processor_begin(s));
    train_judge(step, *loss, most_loss, *squares, max_norm, verdict);
    train_processor_end(s);
    return TAPER_OK;
}

typedef struct adam_task {
    size_t n;
    train_adam_step step;
    const train_verdict *verdict;
    const float *g;
    float *w, *m, *v;
} adam_task;

CODEC_CLONES static void adam_some(size_t n, const train_adam_step *step, float scale,
                                   const float *restrict g, float *restrict w, float *restrict m,
                                   float *restrict v) {
    const train_adam_step s = *step;
    for (size_t i = 0; i < n; i++) train_adam_element(&s, scale * g[i], &w[i], &m[i], &v[i]);
}

static void adam_block(void *context, size_t block) {
    const adam_task *t = context;
    size_t at = block * VECTOR_BLOCK, n = formats_smaller(t->n - at, VECTOR_BLOCK);
    if (t->verdict->diverged) return;
    adam_some(n, &t->step, t->verdict->scale, t->g + at, t->w + at, t->m + at, t->v + at);
}

taper_status train_plain_adam(train_stream *s, size_t n, const train_adam_step *step,
                              const train_verdict *verdict, const float *g, float *w, float *m,
                              float *v) {
    adam_task task = {n, *step, verdict, g, w, m, v};
    return train_processor_run(s, adam_block, &task, vector_blocks(n));
}
