/* quantiles.c -- tracks quantiles of units from batch to batch (stochastic approximation,
 * Robbins & Monro 1951); see operations.h. */
#include "codec/backend/pool.h"
#include "formats/bytes.h"
#include "train/device/elements_units.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include "train/sampling/quantile.h"
#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 64 }; /* units at a time: four cache lines of a row */

/* Units that have seen no batch are not changed. */
static void follow_units(void *context, size_t block) {
    const train_quantiles *t = context;
    size_t first = block * COLUMNS, n = formats_smaller(COLUMNS, t->units - first);
    float threshold[COLUMNS];
    uint32_t above[COLUMNS] = {0};
    double distance[COLUMNS] = {0};
    for (size_t k = 0; k < n; k++) threshold[k] = -t->bias[first + k];
    for (size_t r = 0; r < t->rows; r++) {
        const float *a = t->a + r * t->stride + first;
        for (size_t k = 0; k < n; k++) {
            above[k] += a[k] > threshold[k];
            distance[k] += fabsf(a[k] - threshold[k]);
        }
    }
    for (size_t k = 0; k < n; k++) {
        double mean = distance[k] / (double)t->rows, fraction = (double)above[k] / (double)t->rows;
        train_follow_quantile(t->beta, mean, fraction, &t->bias[first + k], &t->spread[first + k]);
    }
}

/* The first threshold of a unit is the exact quantile of its first batch. */
static void start_unit(const train_quantiles *t, size_t unit, float *column) {
    for (size_t r = 0; r < t->rows; r++) column[r] = t->a[r * t->stride + unit];
    float threshold = train_exact_quantile(column, t->rows, t->beta);
    double sum = 0.0;
    for (size_t r = 0; r < t->rows; r++) sum += fabs((double)column[r] - threshold);
    if (!isfinite(sum)) return; /* some value was not finite */
    t->bias[unit] = -threshold;
    t->spread[unit] = (float)(sum / (double)t->rows);
}

static taper_status start_units(const train_quantiles *t) {
    float *column = NULL;
    for (size_t k = 0; k < t->units; k++) {
        if (t->spread[k] >= 0.0f) continue;
        if (!column && !(column = malloc(t->rows * sizeof *column))) return TAPER_ERR_NOMEM;
        start_unit(t, k, column);
    }
    free(column);
    return TAPER_OK;
}

taper_status train_plain_follow_quantiles(train_stream *s, const train_quantiles *q,
                                          const train_verdict *verdict) {
    if (!q->rows) return TAPER_OK;
    TAPER_TRY(train_processor_begin(s));
    train_quantiles task = *q;
    taper_status status = TAPER_OK;
    if (!verdict || !verdict->diverged) {
        /* before start_unit, so that a unit's first batch counts once */
        codec_pool_run(train_processor_pool(s), follow_units, &task,
                       (q->units + COLUMNS - 1) / COLUMNS);
        status = start_units(&task);
    }
    train_processor_end(s);
    return status;
}
