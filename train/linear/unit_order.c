/* unit_order.c -- see unit_order.h. */
#include "train/linear/unit_order.h"
#include "codec/bitplane/chunk_coder.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 32,       /* these are not moved */
    REACH = 96,       /* distance of two exchanged units, at most */
    SWEEPS = 6,       /* over all places; the first one has most of the effect */
    MOST_ROWS = 16384 /* of codes, for the correlation */
};
static const float THRESHOLD = 8; /* magnitudes far below it count as small */

/* --- by variance ----------------------------------------------------------------------- */

typedef struct ranked {
    double variance;
    uint32_t unit;
} ranked;

static int by_variance(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->variance != y->variance) return x->variance < y->variance ? 1 : -1;
    return x->unit < y->unit ? -1 : 1;
}

static taper_status order_by_variance(const float *codes, size_t n, uint32_t units,
                                      uint32_t *order) {
    ranked *list = calloc(units, sizeof *list);
    if (!list) return TAPER_ERR_NOMEM;
    for (uint32_t u = 0; u < units; u++) list[u].unit = u;
    for (size_t i = 0; i < n; i++)
        for (uint32_t u = 0; u < units; u++)
            list[u].variance += (double)codes[i * units + u] * (double)codes[i * units + u];
    qsort(list, units, sizeof *list, by_variance);
    for (uint32_t u = 0; u < units; u++) order[u] = list[u].unit;
    free(list);
    return TAPER_OK;
}

/* --- correlation ----------------------------------------------------------------------- */

/* Replaces codes, in the given order, by log(1 + |c| / THRESHOLD), scaled for each unit to mean 0
 * and norm 1 (or 0). */
static void standardise(float *codes, size_t n, uint32_t units, const uint32_t *order, float *row,
                        double *mean, double *norm) {
    memset(mean, 0, units * sizeof *mean);
    memset(norm, 0, units * sizeof *norm);
    for (size_t i = 0; i < n; i++) {
        float *c = codes + i * units;
        memcpy(row, c, units * sizeof *row);
        for (uint32_t u = 0; u < units; u++) {
            c[u] = log2f(1 + fabsf(row[order[u]]) / THRESHOLD);
            mean[u] += c[u] / (double)n;
        }
    }
    for (size_t i = 0; i < n * units; i++) {
        uint32_t u = (uint32_t)(i % units);
        codes[i] -= (float)mean[u];
        norm[u] += (double)codes[i] * (double)codes[i];
    }
    for (size_t i = 0; i < n * units; i++) {
        double square = norm[i % units];
        codes[i] = square > 0 ? (float)(codes[i] / sqrt(square)) : 0;
    }
}

static taper_status correlate(codec_backend *be, float *codes, size_t n, uint32_t units,
                              const uint32_t *order, float *correlation) {
    float *row = malloc(units * sizeof *row);
    double *sums = malloc(2 * (size_t)units * sizeof *sums);
    taper_status status = row && sums ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) {
        standardise(codes, n, units, order, row, sums, sums + units);
        status = be->ops->gemm(be, 1, 0, units, units, n, codes, codes, 0, correlation);
    }
    free(row), free(sums);
    return status;
}

/* --- by correlation -------------------------------------------------------------------- */

/* kin[place][i]: the weighted correlation of the unit at place i with those around `place`. */
typedef struct placement {
    uint32_t units;
    float *correlation, *kin; /* [units][units] by place */
    uint32_t *order;
} placement;

static float weight_of(uint32_t a, uint32_t b) {
    uint32_t away = a > b ? a - b : b - a;
    return away >= 1 && away <= CODEC_NEAR ? codec_near_weight[away - 1] : 0;
}

/* kin[place] += sign * weight * correlation[row] for the places around `at`. */
static void add_to_surroundings(const placement *k, uint32_t at, uint32_t row, float sign) {
    uint32_t from = at > CODEC_NEAR ? at - CODEC_NEAR : 0, to = at + CODEC_NEAR + 1;
    for (uint32_t place = from; place < to && place < k->units; place++) {
        float weight = sign * weight_of(place, at);
        for (uint32_t i = 0; i < k->units && weight != 0; i++)
            k->kin[(size_t)place * k->units + i] +=
                weight * k->correlation[(size_t)row * k->units + i];
    }
}

/* The change of the sum if the units at two places are exchanged. */
static float gain(const placement *k, uint32_t a, uint32_t b) {
    size_t n = k->units;
    float mutual =
        k->correlation[a * n + a] + k->correlation[b * n + b] - 2 * k->correlation[a * n + b];
    return k->kin[a * n + b] + k->kin[b * n + a] - k->kin[a * n + a] - k->kin[b * n + b] -
           weight_of(a, b) * mutual;
}

static void swap_floats(float *a, float *b, size_t n, size_t step) {
    for (size_t i = 0; i < n * step; i += step) {
        float kept = a[i];
        a[i] = b[i], b[i] = kept;
    }
}

static void exchange(placement *k, uint32_t a, uint32_t b) {
    size_t n = k->units;
    uint32_t kept = k->order[a];
    k->order[a] = k->order[b], k->order[b] = kept;
    add_to_surroundings(k, a, a, -1), add_to_surroundings(k, b, b, -1);
    swap_floats(k->correlation + a * n, k->correlation + b * n, n, 1);
    add_to_surroundings(k, a, a, 1), add_to_surroundings(k, b, b, 1);
    swap_floats(k->correlation + a, k->correlation + b, n, n);
    swap_floats(k->kin + a, k->kin + b, n, n);
}

/* Makes the best exchange of each place from `first` on. Returns the number of exchanges. */
static uint32_t sweep(placement *k, uint32_t first) {
    const float LEAST = 1e-4f;
    uint32_t exchanges = 0;
    for (uint32_t a = first; a < k->units; a++) {
        uint32_t from = a > first + REACH ? a - REACH : first, best = a;
        float most = LEAST;
        for (uint32_t b = from; b < k->units && b <= a + REACH; b++) {
            float g = b == a ? 0 : gain(k, a, b);
            if (g > most) most = g, best = b;
        }
        if (best == a) continue;
        exchange(k, a, best);
        exchanges++;
    }
    return exchanges;
}

taper_status train_order_by_correlation(float *correlation, uint32_t units, uint32_t first,
                                        uint32_t *order) {
    placement k = {units, correlation, calloc((size_t)units * units, sizeof *k.kin), order};
    if (!k.kin) return TAPER_ERR_NOMEM;
    for (uint32_t place = 0; place < units; place++) add_to_surroundings(&k, place, place, 1);
    for (int i = 0; i < SWEEPS && sweep(&k, first); i++)
        ;
    free(k.kin);
    return TAPER_OK;
}

taper_status train_unit_order(codec_backend *be, float *codes, size_t n, uint32_t units,
                              uint32_t *order) {
    size_t rows = n < MOST_ROWS ? n : MOST_ROWS;
    TAPER_TRY(order_by_variance(codes, n, units, order));
    for (size_t i = 0; i < rows; i++) /* evenly spaced; i * n / rows >= i */
        memmove(codes + i * units, codes + i * n / rows * units, units * sizeof *codes);
    float *correlation = malloc((size_t)units * units * sizeof *correlation);
    taper_status status = correlation ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = correlate(be, codes, rows, units, order, correlation);
    if (status == TAPER_OK) status = train_order_by_correlation(correlation, units, FIRST, order);
    free(correlation);
    return status;
}
