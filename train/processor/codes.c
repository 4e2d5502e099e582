/* codes.c -- codes at a cut: quantisation and rate; see train/device/operations.h. */
#include "codec/backend/simd.h"
#include "train/device/elements_codes.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <math.h>
#include <string.h>

/* --- the quantiser --------------------------------------------------------------------- */

static train_cut cut_of(const train_cut_codes *c, size_t row) {
    return (train_cut){c->cuts[row].threshold / c->scale, c->cuts[row].kept};
}

typedef struct quantise_task {
    train_cut_codes codes;
    float gradient_floor;
    float *x_q, *gradient;
} quantise_task;

static void quantise_row(uint32_t units, train_cut cut, float gradient_floor, const float *x,
                         float *x_q, float *gradient) {
    const float step = cut.threshold, inverse = 1.0f / step;
    for (uint32_t u = 0; u < cut.kept; u++)
        x_q[u] = train_quantised(x[u], step, inverse, gradient_floor, &gradient[u]);
    memset(x_q + cut.kept, 0, (units - cut.kept) * sizeof *x_q);
    memset(gradient + cut.kept, 0, (units - cut.kept) * sizeof *gradient);
}

static void quantise_rows(void *context, size_t block) {
    const quantise_task *t = context;
    const train_cut_codes *c = &t->codes;
    const size_t end = train_row_block_end(c->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        size_t at = i * c->units;
        quantise_row(c->units, cut_of(c, i), t->gradient_floor, c->x + at, t->x_q + at,
                     t->gradient + at);
    }
}

taper_status train_plain_quantise(train_stream *s, const train_cut_codes *codes,
                                  float gradient_floor, float *x_q, float *gradient) {
    quantise_task task = {*codes, gradient_floor, x_q, gradient};
    return train_processor_run(s, quantise_rows, &task, train_row_blocks(codes->rows));
}

/* --- rate ------------------------------------------------------------------------------ */

/* Units whose masses are multiplied before one logarithm is taken. */
enum { CHUNK = 8 };

/* n <= CHUNK units; n is a compile-time constant except for the last units of a row. */
CODEC_INLINE double rate_chunk(uint32_t n, float threshold, const float *x,
                               const float *inverse_scale, float *dlog_scale) {
    float mass[CHUNK], more[CHUNK];
    for (uint32_t i = 0; i < n; i++)
        more[i] = train_rate_element(x[i], 1.0f / threshold, threshold * inverse_scale[i],
                                     dlog_scale + i, &mass[i]);
    double product = 1.0, sum = 0.0;
    for (uint32_t i = 0; i < n; i++) product *= mass[i], sum += more[i];
    return sum - log2(product);
}

static float rate_row(uint32_t units, train_cut cut, const float *x, const float *inverse_scale,
                      float *dlog_scale) {
    double bits = 0.0;
    uint32_t u = 0;
    for (; u + CHUNK <= cut.kept; u += CHUNK)
        bits += rate_chunk(CHUNK, cut.threshold, x + u, inverse_scale + u, dlog_scale + u);
    if (u < cut.kept)
        bits += rate_chunk(cut.kept - u, cut.threshold, x + u, inverse_scale + u, dlog_scale + u);
    memset(dlog_scale + cut.kept, 0, (units - cut.kept) * sizeof *dlog_scale);
    return (float)bits;
}

CODEC_CLONES static void add_gradient_row(train_cut cut, float weight, const float *x,
                                          const float *inverse_scale, float *dx) {
    const float inverse_threshold = 1.0f / cut.threshold;
    for (uint32_t u = 0; u < cut.kept; u++)
        dx[u] +=
            weight * train_rate_slope(x[u], inverse_threshold, cut.threshold * inverse_scale[u]);
}

typedef struct rate_task {
    train_cut_codes codes;
    const float *inverse_scale;
    float weight;
    double *bits;
    float *to; /* d log b, or d x */
} rate_task;

static void rate_rows(void *context, size_t block) {
    const rate_task *t = context;
    const train_cut_codes *c = &t->codes;
    const size_t end = train_row_block_end(c->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        float *to = t->to + i * c->units;
        t->bits[i] = rate_row(c->units, cut_of(c, i), c->x + i * c->units, t->inverse_scale, to);
        for (uint32_t u = 0; u < c->units; u++) to[u] *= t->weight;
    }
}

taper_status train_plain_rate(train_stream *s, const train_cut_codes *codes,
                              const float *inverse_scale, float weight, double *bits,
                              float *dlog_scale) {
    rate_task task = {*codes, inverse_scale, weight, bits, dlog_scale};
    return train_processor_run(s, rate_rows, &task, train_row_blocks(codes->rows));
}

static void rate_gradient_rows(void *context, size_t block) {
    const rate_task *t = context;
    const train_cut_codes *c = &t->codes;
    const size_t end = train_row_block_end(c->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++)
        add_gradient_row(cut_of(c, i), t->weight, c->x + i * c->units, t->inverse_scale,
                         t->to + i * c->units);
}

taper_status train_plain_rate_gradient(train_stream *s, const train_cut_codes *codes,
                                       const float *inverse_scale, float weight, float *dx) {
    rate_task task = {*codes, inverse_scale, weight, NULL, dx};
    return train_processor_run(s, rate_gradient_rows, &task, train_row_blocks(codes->rows));
}
