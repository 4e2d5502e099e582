/* lap_design.c -- see lap_design.h. */
#include "train/linear/lap_design.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846, low_scale = 1.3;

/* Element (k, x) of the orthonormal cosine transforms of n points. */
static double cosine2(uint32_t k, uint32_t x, uint32_t n) {
    return sqrt((k ? 2.0 : 1.0) / n) * cos(pi * (x + 0.5) * k / n);
}

static double cosine4(uint32_t k, uint32_t x, uint32_t n) {
    return sqrt(2.0 / n) * cos(pi * (x + 0.5) * (k + 0.5) / n);
}

void train_lap_design(codec_lap *lap, uint32_t reach) {
    *lap = (codec_lap){.reach = reach};
    for (uint32_t r = 0; r < reach; r++)
        for (uint32_t c = 0; c < reach; c++) {
            double sum = 0; /* of V^-1 = C4^T diag(1 / s, 1, .., 1) C2 */
            for (uint32_t k = 0; k < reach; k++)
                sum += cosine4(k, r, reach) * (k ? 1 : 1 / low_scale) * cosine2(k, c, reach);
            uint32_t row = reach - 1 - r, column = reach - 1 - c; /* from the edge */
            lap->stored[row * reach + column] = (int16_t)lrint(sum * CODEC_LAP_ONE);
        }
    codec_lap_prepare(lap);
}

taper_status train_lap_gains(const taper_model *m, double *gain) {
    enum { SIDE = 3, MIDDLE = 4 }; /* nine windows; the unit's is in the middle */
    size_t values = m->network.inputs, n = SIDE * SIDE * values;
    float *windows = malloc(n * sizeof *windows);
    if (!windows) return TAPER_ERR_NOMEM;
    for (uint32_t u = 0; u < m->network.units; u++) {
        memset(windows, 0, n * sizeof *windows);
        memcpy(windows + MIDDLE * values, m->network.synthesis + u * values,
               values * sizeof *windows);
        codec_lap_unfilter(m->window, (codec_grid){SIDE, SIDE}, windows);
        gain[u] = 0;
        for (size_t i = 0; i < n; i++) gain[u] += (double)windows[i] * (double)windows[i];
    }
    free(windows);
    return TAPER_OK;
}
