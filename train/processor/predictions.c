/* predictions.c -- losses of predictions: bits, errors of codes, errors of pixels; see
 * operations.h. */
#include "codec/backend/pool.h"
#include "train/device/elements_predictions.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <string.h>

enum { KINDS = TRAIN_BIT_KINDS };

static size_t end_of(size_t rows, size_t first, size_t block_rows) {
    return rows - first < block_rows ? rows : first + block_rows;
}

/* --- bits ------------------------------------------------------------------------------ */

static void price_bits(void *context, size_t block) {
    const train_bits *t = context;
    const size_t passes = t->passes, first = block * TRAIN_SUM_ROWS,
                 end = end_of(t->rows, first, TRAIN_SUM_ROWS) * passes;
    float *columns = t->column_sums + block * KINDS * passes;
    double sum[2] = {0, 0};
    memset(columns, 0, KINDS * passes * sizeof *columns);
    for (size_t i = first * passes, pass = 0; i < end;
         i++, pass = pass + 1 < passes ? pass + 1 : 0) {
        float *logit = t->logit + i * KINDS, gradient[KINDS];
        train_price_bit(&t->bit[i], logit, t->bias + pass, t->stride, gradient, sum);
        for (size_t k = 0; k < KINDS; k++)
            columns[k * passes + pass] += logit[k] = gradient[k] * t->weight;
    }
    memcpy(t->sums + 2 * block, sum, sizeof sum);
}

taper_status train_plain_bits(train_stream *s, const train_bits *bits) {
    train_bits t = *bits;
    const size_t blocks = train_sum_blocks(t.rows);
    TAPER_TRY(train_processor_begin(s));
    codec_pool_run(train_processor_pool(s), price_bits, &t, blocks);
    for (size_t b = 0; b < blocks; b++) {
        for (size_t i = 0; i < 2; i++) t.losses[i] += t.sums[2 * b + i] * (double)t.weight;
        for (size_t k = 0; k < KINDS; k++)
            for (size_t i = 0; i < t.passes; i++)
                t.dbias[k * t.stride + i] += t.column_sums[(b * KINDS + k) * t.passes + i];
    }
    train_processor_end(s);
    return TAPER_OK;
}

/* --- errors of codes ------------------------------------------------------------------- */

static void price_codes(void *context, size_t block) {
    const train_head *t = context;
    const size_t first = block * TRAIN_SUM_ROWS, end = end_of(t->rows, first, TRAIN_SUM_ROWS);
    double sum = 0;
    for (size_t p = first; p < end; p++)
        for (size_t u = 0; u < t->units; u++) {
            size_t at = p * t->units + u;
            sum += train_price_code(t->missing[at], t->uncertainty[2 * u + t->more[at]],
                                    t->worth[u], t->weight, &t->z[at]);
        }
    t->sums[block] = sum;
}

taper_status train_plain_head(train_stream *s, const train_head *head) {
    train_head t = *head;
    const size_t blocks = train_sum_blocks(t.rows);
    TAPER_TRY(train_processor_begin(s));
    codec_pool_run(train_processor_pool(s), price_codes, &t, blocks);
    for (size_t b = 0; b < blocks; b++) *t.loss += t.weight * t.sums[b];
    train_processor_end(s);
    return TAPER_OK;
}

/* --- errors of pixels ------------------------------------------------------------------ */

static void price_pixels(void *context, size_t block) {
    const train_restored *t = context;
    const size_t first = block * TRAIN_RESTORED_ROWS,
                 end = end_of(t->rows, first, TRAIN_RESTORED_ROWS) * t->width;
    const float gain = *t->gain, levels = t->levels, scale = (float)t->weight;
    double sum[3] = {0};
    for (size_t i = first * t->width; i < end; i++)
        t->dz[i] =
            train_price_pixel(t->decoded[i], t->target[i], t->z[i], levels, gain, scale, sum);
    memcpy(t->sums + 3 * block, sum, sizeof sum);
}

taper_status train_plain_restored(train_stream *s, const train_restored *restored) {
    train_restored t = *restored;
    const size_t blocks = (t.rows + TRAIN_RESTORED_ROWS - 1) / TRAIN_RESTORED_ROWS;
    double dgain = 0;
    TAPER_TRY(train_processor_begin(s));
    codec_pool_run(train_processor_pool(s), price_pixels, &t, blocks);
    t.errors[0] = t.errors[1] = 0;
    for (size_t b = 0; b < blocks; b++) {
        t.errors[0] += t.sums[3 * b], t.errors[1] += t.sums[3 * b + 1];
        dgain += t.sums[3 * b + 2];
    }
    *t.dgain = (float)(dgain * t.weight);
    train_processor_end(s);
    return TAPER_OK;
}

taper_status train_plain_add_ratio(train_stream *s, double factor, const double *a, const double *b,
                                   double least, double *sum) {
    TAPER_TRY(train_processor_begin(s));
    *sum += factor * (*a / (*b + least));
    train_processor_end(s);
    return TAPER_OK;
}
