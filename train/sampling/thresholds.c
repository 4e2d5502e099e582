/* thresholds.c -- see thresholds.h. */
#include "train/sampling/thresholds.h"
#include "codec/backend/simd.h"
#include "formats/bytes.h"
#include "train/sampling/quantile.h"
#include <stdlib.h>

enum { UNITS_AT_ONCE = 32 }; /* units to which the feedback of earlier units is added at once */

typedef struct task {
    const float *feedback;
    size_t units, rows;
    double beta;
    float centre;
    float *a;       /* [rows][units]; x for decided units */
    float *columns; /* [units][UNITS_AT_ONCE] of the feedback, transposed */
    float *values;  /* [rows] of a unit */
} task;

/* Subtracts from a of units first .. first + UNITS_AT_ONCE - 1 the feedback of units before
 * `first`. */
CODEC_CLONES static void take_decisions(const task *t, size_t first, size_t n) {
    for (size_t j = 0; j < first; j++)
        for (size_t l = 0; l < UNITS_AT_ONCE; l++)
            t->columns[j * UNITS_AT_ONCE + l] =
                l < n ? t->feedback[(first + l) * t->units + j] : 0.0f;
    for (size_t i = 0; i < t->rows; i++) {
        float sum[UNITS_AT_ONCE] = {0.0f}, *row = t->a + i * t->units;
        for (size_t j = 0; j < first; j++)
            for (size_t l = 0; l < UNITS_AT_ONCE; l++)
                sum[l] += t->columns[j * UNITS_AT_ONCE + l] * row[j];
        for (size_t l = 0; l < n; l++) row[first + l] -= sum[l];
    }
}

/* Computes unit k's bias; a becomes x, and the feedback to units before `end` is subtracted. */
static float decide(const task *t, size_t k, size_t end) {
    for (size_t i = 0; i < t->rows; i++) t->values[i] = t->a[i * t->units + k];
    float threshold = train_exact_quantile(t->values, t->rows, t->beta);
    for (size_t i = 0; i < t->rows; i++) {
        float *row = t->a + i * t->units;
        row[k] = (row[k] > threshold ? 1.0f : 0.0f) - t->centre;
        if (!t->feedback) continue;
        for (size_t l = k + 1; l < end; l++) row[l] -= t->feedback[l * t->units + k] * row[k];
    }
    return -threshold;
}

taper_status train_exact_thresholds(const float *feedback, size_t units, size_t rows, double beta,
                                    float centre, float *a, float *bias) {
    task t = {feedback, units, rows, beta, centre, a, NULL, NULL};
    t.columns = malloc(units * UNITS_AT_ONCE * sizeof *t.columns);
    t.values = malloc(formats_larger(rows, 1) * sizeof *t.values);
    taper_status status = t.columns && t.values ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t first = 0; first < units && status == TAPER_OK; first += UNITS_AT_ONCE) {
        size_t end = formats_smaller(units, first + UNITS_AT_ONCE);
        if (feedback) take_decisions(&t, first, end - first);
        for (size_t k = first; k < end; k++) bias[k] = decide(&t, k, end);
    }
    free(t.columns), free(t.values);
    return status;
}
