/* allocation.c -- see allocation.h. */
#include "codec/groups/allocation.h"
#include "codec/bitplane/quantiser.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void codec_reference_depths(const codec_code_tables *t, uint64_t bytes_per_mpixel, uint8_t *depth) {
    uint32_t l = 0;
    while (l + 1 < t->n_layers && t->layer[l].bytes_per_mpixel < bytes_per_mpixel) l++;
    memset(depth, 0, t->units);
    for (uint32_t i = 0; i < t->layer[l].pass; i++)
        depth[t->pass[i].unit] += t->pass[i].fraction + 1u == t->fractions;
}

/* Squared error of x at a depth, in squared quantiser steps. Steps are proportional to a unit's
 * effect on pixels, so errors of different units can be added. */
static double error_at(const codec_code_tables *t, uint32_t u, uint32_t depth, float x) {
    const uint8_t *recon = t->recon[codec_ratio_bin(codec_log_ratio(t, u, depth))];
    double threshold = exp2(t->planes[u] - (double)depth), size = fabs((double)x / t->step[u]);
    double q = depth ? floor(size / threshold) : 0,
           at = q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS;
    double known = q > 0 ? (q + recon[(int)at - 1] / 256.0) * threshold : 0;
    return (size - known) * (size - known);
}

/* Quantise n windows and return the sum of their squared errors. */
static double take_codes(const codec_code_tables *t, const uint8_t *depth, const float *x,
                         uint32_t n, double sum, int16_t *code) {
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t u = 0; u < t->units; u++, x++) {
            sum += error_at(t, u, depth[u], *x);
            *code++ = codec_quantise_wide(t, u, *x);
        }
    return sum;
}

static void lay_out(const taper_model *m, uint64_t windows, float **pixels, float **x,
                    formats_layout *at) {
    *pixels = formats_lay(at, windows * m->network.inputs, sizeof **pixels);
    *x = formats_lay(at, CODEC_ROWS_AT_ONCE * (uint64_t)m->tables.units, sizeof **x);
}

uint64_t codec_log_distortion_bytes(const taper_model *m, uint64_t windows) {
    formats_layout at = {0};
    float *pixels, *x;
    lay_out(m, windows, &pixels, &x, &at);
    return at.used + codec_network_scratch_bytes(&m->network);
}

taper_status codec_log_distortion(const taper_model *m, const codec_network *network,
                                  const codec_backend *be, const taper_image *image,
                                  const uint8_t *depth, double *log_distortion, int16_t *code) {
    codec_backend backend = *be; /* a copy: other threads use it */
    codec_grid grid = codec_windows_grid(m->window, image->width, image->height);
    size_t n = (size_t)grid.columns * grid.rows, inputs = codec_window_values(m->window);
    formats_layout at_block = {0};
    formats_block block;
    float *pixels, *x;
    lay_out(m, n, &pixels, &x, &at_block);
    TAPER_TRY(formats_block_take_unset(&block, &at_block, NULL));
    lay_out(m, n, &pixels, &x, &at_block);
    taper_status status = TAPER_OK;
    codec_windows_read(m->window, image, pixels);
    double sum = 1e-9;
    for (size_t at = 0; at < n && status == TAPER_OK; at += CODEC_ROWS_AT_ONCE) {
        uint32_t rows = n - at < CODEC_ROWS_AT_ONCE ? (uint32_t)(n - at) : CODEC_ROWS_AT_ONCE;
        status = codec_network_encode(network, &backend, pixels + at * inputs, rows, x);
        if (status == TAPER_OK)
            sum = take_codes(&m->tables, depth, x, rows, sum, code + at * m->tables.units);
    }
    *log_distortion = log2(sum / (double)n);
    formats_block_free(&block);
    return status;
}

uint32_t codec_rate_class_of(taper_allocation allocation, double log_distortion, double mean) {
    enum { MIDDLE = CODEC_RATE_CLASSES / 2, SLOPES_PER_OCTAVE = 8 };
    double power = allocation == TAPER_ALLOCATION_MEAN ? 1.5 : -1;
    double later = power * (log_distortion - mean) * SLOPES_PER_OCTAVE / CODEC_RATE_CLASS_STEP;
    return MIDDLE + (uint32_t)(int)lrint(fmin(fmax(later, -MIDDLE), MIDDLE));
}

uint32_t codec_early_passes(const codec_code_tables *t) {
    enum { BYTES_PER_MPIXEL = 4000 };
    uint32_t l = 0;
    while (l + 1 < t->n_layers && t->layer[l].bytes_per_mpixel < BYTES_PER_MPIXEL) l++;
    return t->layer[l].pass;
}

uint32_t codec_early_class_of(double log_distortion, double mean) {
    enum { MIDDLE = CODEC_RATE_CLASSES / 2, MOST = CODEC_EARLY_CLASSES / 2 };
    const double slopes = 0.75 * 8 * (log_distortion - mean),
                 later = slopes / CODEC_RATE_CLASS_STEP;
    return MIDDLE + (uint32_t)(int)lrint(fmin(fmax(later, -MOST), MOST));
}

/* first: [units] index of a unit's first slope. */
static int rd_slope_of(const codec_code_tables *t, const uint32_t *first, codec_pass pass) {
    return t->rd_slope[first[pass.unit] + pass.depth * t->fractions + pass.fraction];
}

taper_status codec_rate_class_layers(const codec_code_tables *t, uint32_t rate_class,
                                     const uint32_t *middle, uint32_t n, uint32_t *end) {
    uint32_t *first = malloc((t->units + (size_t)1) * sizeof *first), at = 0, pass = 0;
    if (!first) return TAPER_ERR_NOMEM;
    for (uint32_t u = 0; u < t->units; at += t->planes[u++] * t->fractions) first[u] = at;
    int ahead = ((int)(CODEC_RATE_CLASSES / 2) - (int)rate_class) * CODEC_RATE_CLASS_STEP;
    for (uint32_t l = 0; l < n; l++) {
        int least = rd_slope_of(t, first, t->pass[middle[l] - 1]) - ahead;
        while (pass < t->n_passes && rd_slope_of(t, first, t->pass[pass]) >= least) pass++;
        end[l] = !ahead ? middle[l] : middle[l] == t->n_passes ? t->n_passes : pass;
    }
    free(first);
    return TAPER_OK;
}
