/* noise.c -- corrupted inputs, dropout, normal noise; see train/device/operations.h. */
#include "formats/bytes.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <string.h>

typedef struct noise_task {
    train_noise noise;
    uint32_t layer;
    double amount; /* probability or variance */
    size_t rows, width;
    const float *from;
    float *to;
    double *squares;
} noise_task;

/* The rows of a block: how many, and their noise. */
static size_t block_rows(const noise_task *t, size_t block, size_t *first, train_noise *noise) {
    *first = block * TRAIN_ROW_BLOCK;
    *noise = t->noise;
    noise->first_row += *first;
    return formats_smaller(t->rows - *first, TRAIN_ROW_BLOCK);
}

static void corrupt_rows(void *context, size_t block) {
    const noise_task *t = context;
    train_noise noise;
    size_t first, n = block_rows(t, block, &first, &noise), at = first * t->width;
    if (t->to != t->from) memcpy(t->to + at, t->from + at, n * t->width * sizeof *t->to);
    train_corrupt_rows(&noise, (float)t->amount, n, t->width, t->width, t->to + at);
}

taper_status train_plain_corrupt(train_stream *s, const train_noise *noise, float p, size_t rows,
                                 size_t width, const float *from, float *to) {
    noise_task task = {*noise, 0, (double)p, rows, width, from, to, NULL};
    return train_processor_run(s, corrupt_rows, &task, train_row_blocks(rows));
}

static void dropout_rows(void *context, size_t block) {
    const noise_task *t = context;
    train_noise noise;
    size_t first, n = block_rows(t, block, &first, &noise);
    train_dropout_rows(&noise, t->layer, (float)t->amount, n, t->width, t->width,
                       t->to + first * t->width);
}

taper_status train_plain_dropout(train_stream *s, const train_noise *noise, uint32_t layer, float p,
                                 size_t rows, size_t width, float *x) {
    noise_task task = {*noise, layer, (double)p, rows, width, NULL, x, NULL};
    return train_processor_run(s, dropout_rows, &task, train_row_blocks(rows));
}

static void perturb_rows(void *context, size_t block) {
    const noise_task *t = context;
    train_noise noise;
    size_t first, n = block_rows(t, block, &first, &noise), at = first * t->width;
    train_perturb_rows(&noise, t->amount, n, t->width, t->width, t->from + at, t->to + at,
                       t->squares + first);
}

taper_status train_plain_perturb(train_stream *s, const train_noise *noise, double variance,
                                 size_t rows, size_t width, const float *x, float *y,
                                 double *squares) {
    noise_task task = {*noise, 0, variance, rows, width, x, y, squares};
    return train_processor_run(s, perturb_rows, &task, train_row_blocks(rows));
}
