/* decay.c -- weight decay of rows; see train/device/operations.h. */
#include "codec/backend/pool.h"
#include "train/device/elements_units.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include "train/sampling/numbers.h"
#include <math.h>
#include <stdlib.h>

typedef struct decay_task {
    train_penalty penalty;
    train_coefficient coefficient;
    double strength;
    size_t rows, width;
    const float *weight;
    float *gradient;
    double *lambda, *value; /* [rows] or NULL */
} decay_task;

/* The square of the norm of the penalty's gradient. */
static double gradient_square(train_penalty penalty, size_t n, const float *w) {
    if (penalty == TRAIN_PENALTY_L2) return train_dot(n, w, w);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += w[i] != 0.0f;
    return (double)count;
}

static double choose_coefficient(const decay_task *t, const float *w, const float *gradient) {
    if (t->coefficient == TRAIN_COEFFICIENT_FIXED) return t->strength;
    double own = train_dot(t->width, gradient, gradient),
           penalty = gradient_square(t->penalty, t->width, w);
    return train_decay_coefficient(t->coefficient, t->strength, own, penalty);
}

static double value_of(const decay_task *t, double lambda, const float *w) {
    if (t->penalty == TRAIN_PENALTY_L2) return 0.5 * lambda * train_dot(t->width, w, w);
    double sum = 0.0;
    for (size_t i = 0; i < t->width; i++) sum += fabs((double)w[i]);
    return lambda * sum;
}

static void decay_row(const decay_task *t, size_t row) {
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
    const decay_task *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) decay_row(t, i);
}

taper_status train_plain_decay(train_stream *s, train_penalty penalty,
                               train_coefficient coefficient, double strength, size_t rows,
                               size_t width, const float *weight, float *gradient, double *lambda,
                               double *value) {
    double *values = value ? malloc((rows ? rows : 1) * sizeof *values) : NULL;
    if (value && !values) return TAPER_ERR_NOMEM;
    taper_status status = train_processor_begin(s);
    if (status == TAPER_OK) {
        decay_task task = {penalty, coefficient, strength, rows,  width,
                           weight,  gradient,    lambda,   values};
        codec_pool_run(train_processor_pool(s), decay_rows, &task, train_row_blocks(rows));
        for (size_t i = 0; value && i < rows; i++) *value += values[i];
        train_processor_end(s);
    }
    free(values);
    return status;
}
