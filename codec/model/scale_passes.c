/* scale_passes.c -- how many passes show at a small size; see model.h.
 *
 * What is unknown of unit u after some passes is an error at a scale, in levels squared of a small
 * pixel, in the mean over photographs:
 *     e(u) D(T),    D(T) = s^2 T^2 / (T^2 + 12 s^2),
 * where e(u) is the energy of the unit's row in the small basis for each small pixel, s the usual
 * size of the unit, and T its threshold: D is s^2 where nothing is known, and T^2 / 12, that of an
 * even distribution, where much is. Of a plane of which some fractions are known, D is between
 * those of both planes. The first pass is looked for after which the sum over all units is below a
 * limit. The arithmetic is sums, products and quotients of doubles in one order. */
#include "codec/entropy/fixed_log.h"
#include "codec/model/model.h"
#include <stdlib.h>

/* Levels squared of a small pixel: 44 dB. The PSNR of complete photographs is then some 42 dB at
 * every scale, of grainy ones 40.5. */
static const double most_error = 2.5;

typedef struct unit {
    double energy;  /* e(u) step^2 */
    double size;    /* (s / step)^2 */
    double error;   /* of what is not known, in levels squared */
    uint32_t slope; /* the first of its slopes in the tables */
} unit;

/* The energy of row k, for each small pixel, of a coefficient of 1. */
static double energy_of(const codec_small_basis *b, uint32_t k) {
    const int16_t *weight = b->rows.weight + codec_sparse_at(b->rows.lanes, k, 0);
    const uint32_t pixels = b->window.width * b->window.height * b->window.channels;
    int exponent = 2 * (b->rows.bits[b->unit[k]] - CODEC_SYNTHESIS_SUM_BITS);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->rows.inputs; i++) {
        const int64_t w = weight[2 * (size_t)i];
        sum += (uint64_t)(w * w);
    }
    double energy = (double)sum / pixels;
    for (; exponent < 0; exponent++) energy /= 2;
    for (; exponent > 0; exponent--) energy *= 2;
    return energy;
}

/* (s / step)^2 */
static double size_of(int32_t log_scale) {
    const double s = (double)codec_scale_exp2((uint64_t)1 << 16, log_scale) / (1 << 16);
    return s * s;
}

/* D(T) / step^2 with so many unknown planes. */
static double error_of(const unit *u, uint32_t planes) {
    const double t = (double)((uint64_t)1 << 2 * planes);
    return u->size * t / (t + 12 * u->size);
}

/* The error before this pass of the unit, with the earlier ones. */
static double error_before(const codec_code_tables *t, const unit *u, codec_pass p) {
    uint32_t known = p.fraction; /* fractions of the plane */
    const uint8_t *slope = t->rd_slope + u->slope + (size_t)p.depth * t->fractions;
    while (known && slope[known - 1] == slope[p.fraction]) known--; /* they are one pass */
    const uint32_t planes = (uint32_t)t->planes[p.unit] - p.depth;
    const double before = error_of(u, planes), after = error_of(u, planes - 1);
    return u->energy * (before + (after - before) * known / t->fractions);
}

static void fill(const taper_model *m, const codec_small_basis *b, unit *units) {
    const codec_code_tables *t = &m->tables;
    for (uint32_t u = 0, slope = 0; u < t->units; slope += t->planes[u++] * t->fractions) {
        units[u].slope = slope;
        units[u].size = size_of(t->log_scale[u]);
    }
    for (uint32_t k = 0; k < b->rows.units; k++) {
        unit *u = &units[b->unit[k]];
        const double step = t->step[b->unit[k]];
        u->energy = energy_of(b, k) * step * step;
        u->error = u->energy * error_of(u, 0);
    }
}

taper_status codec_model_scale_passes(const taper_model *m, const codec_small_basis *b,
                                      uint32_t *passes) {
    const codec_code_tables *t = &m->tables;
    unit *units = calloc(t->units, sizeof *units);
    *passes = 1;
    if (!units) return TAPER_ERR_NOMEM;
    fill(m, b, units);
    double error = 0;
    uint32_t p = t->n_passes;
    for (uint32_t u = 0; u < t->units; u++) error += units[u].error;
    const double rest = error; /* is left when all passes are known */
    while (p > 1) {
        const codec_pass *last = &t->pass[p - 1];
        unit *u = &units[last->unit];
        const double before = error_before(t, u, *last);
        error += before - u->error;
        u->error = before;
        if (error - rest > most_error) break;
        p--;
    }
    free(units);
    *passes = p;
    return TAPER_OK;
}
