/* noise.c -- corrupted inputs, dropout, normal noise, stochastic units; see
 * train/device/operations.h. */
#include "formats/bytes.h"
#include "codec/backend/simd.h"
#include "train/device/elements.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"

typedef struct noise_task {
    train_noise noise;
    uint32_t layer;
    double amount; /* probability or variance */
    size_t rows, width;
    const float *from;
    float *to;
    double *squares;
} noise_task;

/* Returns the number of rows of a block; *noise is theirs. */
static size_t block_rows(const noise_task *t, size_t block, size_t *first, train_noise *noise) {
    *first = block * TRAIN_ROW_BLOCK;
    *noise = t->noise;
    noise->first_row += *first;
    return formats_smaller(t->rows - *first, TRAIN_ROW_BLOCK);
}

CODEC_CLONES static void corrupt_rows(void *context, size_t block) {
    const train_corruption *c = context;
    const train_inputs *in = &c->inputs;
    const size_t first = block * TRAIN_ROW_BLOCK, end = train_row_block_end(in->rows, block),
                 d = in->width;
    const float inverse = in->inverse_scale;
    train_noise noise = c->noise;
    noise.first_row += first;
    for (size_t i = first; i < end; i++) {
        const uint8_t *y = in->pixels + (in->order ? (size_t)in->order[i] : i) * d;
        float *corrupted = c->corrupted + i * d;
        for (size_t j = 0; j < d; j++) corrupted[j] = train_centred(y[j], in->mean[j], inverse);
    }
    train_corrupt_rows(&noise, c->p, end - first, d, d, c->corrupted + first * d);
}

taper_status train_plain_corrupt(train_stream *s, const train_corruption *c) {
    train_corruption task = *c;
    return train_processor_run(s, corrupt_rows, &task, train_row_blocks(c->inputs.rows));
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

typedef struct sample_task {
    train_noise noise;
    train_states states;
    size_t rows, width;
    const float *mean;
    float *to;
} sample_task;

static void sample_rows(void *context, size_t block) {
    const sample_task *t = context;
    const size_t first = block * TRAIN_ROW_BLOCK, end = train_row_block_end(t->rows, block);
    train_noise noise = t->noise;
    noise.first_row += first;
    train_sample_rows(&noise, t->states, end - first, t->width, t->width,
                      t->mean + first * t->width, t->to + first * t->width);
}

taper_status train_plain_sample(train_stream *s, const train_noise *noise, train_states states,
                                size_t rows, size_t width, const float *mean, float *to) {
    sample_task task = {*noise, states, rows, width, mean, to};
    return train_processor_run(s, sample_rows, &task, train_row_blocks(rows));
}
