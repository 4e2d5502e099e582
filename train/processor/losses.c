/* losses.c -- errors of rows, their weights and their sums; see train/device/operations.h. */
#include "codec/backend/simd.h"
#include "train/device/elements.h"
#include "train/device/elements_losses.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <math.h>

typedef struct error_task {
    size_t rows, width;
    const float *target;
    const double *weight;
    float factor;
    float *y;
    double *square;
} error_task;

CODEC_CLONES static void error_rows(void *context, size_t block) {
    const error_task *t = context;
    const size_t d = t->width, end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        float *e = t->y + i * d;
        const float *c = t->target + i * d;
        float lane[16] = {0}, sum = 0.0f;
        size_t j = 0;
        for (; j + 16 <= d; j += 16)
            for (size_t l = 0; l < 16; l++) {
                e[j + l] -= c[j + l];
                lane[l] += e[j + l] * e[j + l];
            }
        for (; j < d; j++) e[j] -= c[j], sum += e[j] * e[j];
        for (size_t l = 0; l < 16; l++) sum += lane[l];
        t->square[i] = sum;
    }
}

taper_status train_plain_errors(train_stream *s, size_t rows, size_t width, const float *target,
                                float *y, double *square) {
    error_task task = {rows, width, target, NULL, 1.0f, y, square};
    return train_processor_run(s, error_rows, &task, train_row_blocks(rows));
}

typedef struct mean_error_task {
    const train_inputs *target;
    float factor;
    const float *y;
    float *e;
    double *mean;
} mean_error_task;

CODEC_CLONES static void mean_error_rows(void *context, size_t block) {
    const mean_error_task *t = context;
    const train_inputs *in = t->target;
    const size_t d = in->width, end = train_row_block_end(in->rows, block);
    const float factor = t->factor, inverse = in->inverse_scale, *mean = in->mean;
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const uint8_t *c = in->pixels + (in->order ? (size_t)in->order[i] : i) * d;
        const float *y = t->y + i * d;
        float *e = t->e + i * d;
        double lane[8] = {0}, sum = 0.0;
        size_t j = 0;
        for (; j + 8 <= d; j += 8)
            for (size_t l = 0; l < 8; l++) {
                const float error = y[j + l] - train_centred(c[j + l], mean[j + l], inverse);
                lane[l] += (double)error * error;
                e[j + l] = factor * error;
            }
        for (; j < d; j++) {
            const float error = y[j] - train_centred(c[j], mean[j], inverse);
            sum += (double)error * error;
            e[j] = factor * error;
        }
        for (size_t l = 0; l < 8; l++) sum += lane[l];
        t->mean[i] = sum / (double)d;
    }
}

taper_status train_plain_mean_errors(train_stream *s, const train_inputs *target, float factor,
                                     const float *y, float *e, double *mean) {
    mean_error_task task = {target, factor, y, e, mean};
    return train_processor_run(s, mean_error_rows, &task, train_row_blocks(target->rows));
}

static void pixel_entropy_rows(void *context, size_t block) {
    const mean_error_task *t = context;
    const train_inputs *in = t->target;
    const size_t d = in->width, end = train_row_block_end(in->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const uint8_t *c = in->pixels + (in->order ? (size_t)in->order[i] : i) * d;
        double sum = 0.0;
        for (size_t j = 0; j < d; j++) {
            const float x = train_centred(c[j], in->mean[j], in->inverse_scale);
            float s;
            sum += (double)train_pixel_cost(t->y[i * d + j], x, &s);
            t->e[i * d + j] = t->factor * (s - x);
        }
        t->mean[i] = sum;
    }
}

taper_status train_plain_pixel_entropy(train_stream *s, const train_inputs *target, float factor,
                                       const float *a, float *e, double *cost) {
    mean_error_task task = {target, factor, a, e, cost};
    return train_processor_run(s, pixel_entropy_rows, &task, train_row_blocks(target->rows));
}

CODEC_CLONES static void gradient_rows(void *context, size_t block) {
    const error_task *t = context;
    const size_t d = t->width, end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const float factor = train_error_factor(t->weight[i], t->rows);
        for (size_t j = 0; j < d; j++) t->y[i * d + j] *= factor;
    }
}

taper_status train_plain_error_gradient(train_stream *s, size_t rows, size_t width,
                                        const double *weight, float *e) {
    error_task task = {rows, width, NULL, weight, 1.0f, e, NULL};
    return train_processor_run(s, gradient_rows, &task, train_row_blocks(rows));
}

/* --- weights of rows ------------------------------------------------------------------- */

static train_error_bins mean_errors(size_t rows, const train_cut *cuts, const double *error) {
    train_error_bins b = {.low = INFINITY};
    double high = 0.0, count[TRAIN_ERROR_BINS] = {0};
    for (size_t i = 0; i < rows; i++) {
        b.low = fmin(b.low, (double)cuts[i].threshold);
        high = fmax(high, (double)cuts[i].threshold);
    }
    b.per_bin = train_bins_of_range(b.low, high);
    for (size_t i = 0; i < rows; i++) {
        int bin = train_error_bin(b.low, b.per_bin, (double)cuts[i].threshold);
        b.mean[bin] += error[i];
        count[bin] += 1.0;
    }
    for (int i = 0; i < TRAIN_ERROR_BINS; i++)
        if (count[i] > 0.0) b.mean[i] /= count[i];
    return b;
}

taper_status train_plain_weigh_errors(train_stream *s, size_t rows, const train_cut *cuts,
                                      float scale, float balance, const double *error,
                                      double *weight, double *loss) {
    TAPER_TRY(train_processor_begin(s));
    const train_error_bins bins = mean_errors(rows, cuts, error);
    for (size_t i = 0; i < rows; i++) {
        weight[i] = train_error_weight(&bins, cuts[i], scale, balance, error[i]);
        loss[i] += error[i] * weight[i];
    }
    train_processor_end(s);
    return TAPER_OK;
}

taper_status train_plain_log_errors(train_stream *s, size_t rows, double least, const double *error,
                                    double *weight, double *loss) {
    TAPER_TRY(train_processor_begin(s));
    for (size_t i = 0; i < rows; i++) train_log_error(error[i], least, &weight[i], &loss[i]);
    train_processor_end(s);
    return TAPER_OK;
}

/* --- sums ------------------------------------------------------------------------------ */

taper_status train_plain_add_doubles(train_stream *s, size_t n, double factor, const double *x,
                                     double *y) {
    TAPER_TRY(train_processor_begin(s));
    for (size_t i = 0; i < n; i++) y[i] += factor * x[i];
    train_processor_end(s);
    return TAPER_OK;
}

taper_status train_plain_sum_doubles(train_stream *s, size_t n, const double *x, double *sum) {
    TAPER_TRY(train_processor_begin(s));
    double total = 0.0;
    for (size_t i = 0; i < n; i++) total += x[i];
    *sum = total;
    train_processor_end(s);
    return TAPER_OK;
}

taper_status train_plain_error_losses(train_stream *s, size_t rows, const double *error,
                                      const double *moved, double weight, double scale, double of,
                                      double *losses) {
    TAPER_TRY(train_processor_begin(s));
    double sum = 0.0, move = 0.0;
    for (size_t i = 0; i < rows; i++) {
        sum += error[i];
        if (moved) move += moved[i];
    }
    train_add_error_losses(sum, move, weight, scale, of, losses);
    train_processor_end(s);
    return TAPER_OK;
}
