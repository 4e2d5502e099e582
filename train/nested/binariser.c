/* binariser.c -- quantiles, followed and exact; see binariser.h. */
#include "train/nested/binariser.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A unit's mean distance from its threshold forgets a batch to 1/e within ten. */
static const double spread_rate = 0.1;

enum { COLUMNS = 64 }; /* units at a time: four cache lines of a row */

taper_status train_binariser_create(train_binariser *b, uint32_t units, double beta, double speed) {
    *b = (train_binariser){.units = units, .beta = beta, .speed = speed};
    if (!units || !(beta > 0.0 && beta < 1.0) || !(speed > 0.0) || !isfinite(speed))
        return memset(b, 0, sizeof *b), TAPER_ERR_ARG;
    b->state = calloc(units, 2 * sizeof *b->state);
    if (!b->state) return memset(b, 0, sizeof *b), TAPER_ERR_NOMEM;
    b->threshold = b->state;
    b->spread = b->state + units;
    for (uint32_t k = 0; k < units; k++) b->spread[k] = -1.0f;
    return TAPER_OK;
}

void train_binariser_free(train_binariser *b) {
    free(b->state);
    memset(b, 0, sizeof *b);
}

/* --- exact ---------------------------------------------------------------------------- */

/* The value that `rank` others come before, by falling size. Quickselect with three parts, so that
 * many equal values cost nothing. */
static float select_falling(float *v, size_t n, size_t rank) {
    size_t begin = 0, end = n;
    for (;;) {
        float a = v[begin], b = v[begin + (end - begin) / 2], c = v[end - 1];
        float pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        size_t above = begin, below = end; /* [begin, above) > pivot, [below, end) < pivot */
        for (size_t i = begin; i < below;) {
            float x = v[i];
            if (x > pivot)
                v[i++] = v[above], v[above++] = x;
            else if (x < pivot)
                v[i] = v[--below], v[below] = x;
            else
                i++;
        }
        if (rank < above)
            end = above;
        else if (rank >= below)
            begin = below;
        else
            return pivot;
    }
}

/* A threshold in [low, high), halfway where there is something between them. */
static float between(float low, float high) {
    float t = (float)(low + 0.5 * ((double)high - low));
    return t >= low && t < high ? t : low;
}

float train_exact_quantile(float *values, size_t n, double beta) {
    if (!n) return 0.0f;
    double wanted = beta * (double)n;
    size_t rank = wanted > 0.0 ? (size_t)fmin(wanted, (double)(n - 1)) : 0;
    float x = select_falling(values, n, rank), higher = INFINITY, lower = -INFINITY;
    size_t above = 0, below = 0;
    for (size_t i = 0; i < n; i++) {
        float v = values[i];
        above += v > x;
        below += v < x;
        if (v > x && v < higher) higher = v;
        if (v < x && v > lower) lower = v;
    }
    /* as a threshold, x leaves `above` values above; anything just below x all but `below` */
    if (wanted - (double)above <= (double)(n - below) - wanted)
        return above ? between(x, higher) : x;
    return below ? between(lower, x) : nextafterf(x, -INFINITY);
}

/* --- from batch to batch -------------------------------------------------------------- */

typedef struct batch {
    const float *a;
    size_t rows, stride;
} batch;

/* A unit's first threshold is the exact quantile of the first batch it is in. */
static void start_unit(train_binariser *b, const batch *x, uint32_t unit, float *column) {
    for (size_t r = 0; r < x->rows; r++) column[r] = x->a[r * x->stride + unit];
    float threshold = train_exact_quantile(column, x->rows, b->beta);
    double sum = 0.0;
    for (size_t r = 0; r < x->rows; r++) sum += fabs((double)column[r] - threshold);
    if (!isfinite(sum)) return; /* some value was not */
    b->threshold[unit] = threshold;
    b->spread[unit] = (float)(sum / (double)x->rows);
}

/* Units first .. first + n - 1, n <= COLUMNS; those that have seen no batch are left alone. */
static void follow_units(train_binariser *b, const batch *x, uint32_t first, size_t n) {
    float threshold[COLUMNS];
    uint32_t above[COLUMNS] = {0};
    double distance[COLUMNS] = {0};
    memcpy(threshold, b->threshold + first, n * sizeof *threshold);
    for (size_t r = 0; r < x->rows; r++) {
        const float *a = x->a + r * x->stride + first;
        for (size_t k = 0; k < n; k++) {
            above[k] += a[k] > threshold[k];
            distance[k] += fabsf(a[k] - threshold[k]);
        }
    }
    for (size_t k = 0; k < n; k++) {
        uint32_t unit = first + (uint32_t)k;
        double mean = distance[k] / (double)x->rows, spread = b->spread[unit];
        if (!(spread >= 0.0) || !isfinite(mean)) continue;
        spread += spread_rate * (mean - spread);
        double fraction = (double)above[k] / (double)x->rows;
        b->threshold[unit] = (float)(threshold[k] + b->speed * spread * (fraction - b->beta));
        b->spread[unit] = (float)spread;
    }
}

static taper_status start_units(train_binariser *b, const batch *x, uint32_t first,
                                uint32_t count) {
    float *column = NULL;
    for (uint32_t k = first; k < first + count; k++) {
        if (b->spread[k] >= 0.0f) continue;
        if (!column && x->rows <= SIZE_MAX / sizeof *column)
            column = malloc(x->rows * sizeof *column);
        if (!column) return TAPER_ERR_NOMEM;
        start_unit(b, x, k, column);
    }
    free(column);
    return TAPER_OK;
}

taper_status train_binariser_update(train_binariser *b, const float *a, size_t rows, size_t stride,
                                    uint32_t first, uint32_t count) {
    if (first > b->units || count > b->units - first || stride < first + count)
        return TAPER_ERR_ARG;
    if (!rows) return TAPER_OK;
    const batch x = {a, rows, stride};
    uint32_t end = first + count;
    /* a unit's first batch teaches it once, not twice: those started below are not followed too */
    for (uint32_t k = first; k < end; k += COLUMNS)
        follow_units(b, &x, k, end - k < COLUMNS ? end - k : COLUMNS);
    return start_units(b, &x, first, count);
}
