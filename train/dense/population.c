/* population.c -- see population.h. */
#include "train/dense/population.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bits per window at threshold T, as in population.h. */
static double bits_at_threshold(const train_start *start, uint32_t units, double threshold) {
    double theta = threshold * threshold / 6.0, bits = 0.0;
    for (uint32_t u = 0; u < units; u++)
        if (start->variance[u] > theta) bits += 0.5 * log2(start->variance[u] / theta);
    return bits;
}

/* The threshold at which the rate is `bits`, not below `finest`: bisection on its logarithm. */
static float threshold_at_bits(const train_start *start, uint32_t units, double bits,
                               double finest) {
    double largest = 1.0, low = finest, high;
    for (uint32_t u = 0; u < units; u++) largest = fmax(largest, start->variance[u]);
    high = fmax(sqrt(6.0 * largest), finest);
    for (int i = 0; i < 50; i++) {
        double middle = sqrt(low * high);
        if (bits_at_threshold(start, units, middle) > bits)
            low = middle;
        else
            high = middle;
    }
    return (float)high;
}

taper_status train_population_make(train_population *p, const char *spec, const train_start *start,
                                   uint32_t units, float finest, taper_error *error) {
    *p = (train_population){0};
    int own = !strncmp(spec, "file:", 5) || !strncmp(spec, "ladder:", 7);
    double bytes = ceil(bits_at_threshold(start, units, (double)finest) / 8.0);
    uint32_t most = bytes < 1.0 ? 1 : bytes > 1e6 ? 1000000 : (uint32_t)bytes;
    TAPER_TRY(train_truncation_make(&p->bytes, spec, own ? 0 : most, error));
    p->threshold_at = malloc(p->bytes.units * sizeof *p->threshold_at);
    if (!p->threshold_at) {
        train_population_free(p);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the truncation's lengths");
    }
    for (uint32_t b = 1; b <= p->bytes.units; b++)
        p->threshold_at[b - 1] = threshold_at_bits(start, units, 8.0 * b, (double)finest);
    return TAPER_OK;
}

void train_population_free(train_population *p) {
    train_truncation_free(&p->bytes);
    free(p->threshold_at);
    *p = (train_population){0};
}
