/* linear_rows.c -- see linear_rows.h. */
#include "codec/model/linear_rows.h"
#include "codec/entropy/weights_coder.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- writing --------------------------------------------------------------------------- */

void codec_linear_rows_steps(const taper_model *m, double mse, float *step) {
    uint32_t units = m->network.units, inputs = m->network.inputs;
    double allowed = sqrt(12.0 * mse / units);
    for (uint32_t u = 0; u < units; u++) {
        double scale = m->tables.step[u] * exp2(m->tables.log_scale[u] / 16.0);
        const float *row = m->network.synthesis + (size_t)u * inputs;
        double top = 1e-6; /* the largest weight */
        for (uint32_t i = 0; i < inputs; i++) top = fmax(top, fabs(row[i]));
        double s = allowed / fmax(scale, 1e-6);
        s = fmin(
            fmax(s, top / 32767),
            0.3 /
                sqrt(
                    inputs)); /* at most 16 bits; rows stay near orthonormal for pseudo_inverse.h */
        step[u] = (float)s;
    }
}

/* Rows of a set, for codec_weights_write. */
typedef struct new_rows {
    float *weight, *step;
} new_rows;

static void free_new(new_rows *r) { free(r->weight), free(r->step); }

static taper_status alloc_new(new_rows *r, uint32_t rows, uint32_t columns) {
    *r = (new_rows){malloc(rows * (size_t)columns * sizeof *r->weight + 1),
                    calloc(rows + 1, sizeof *r->step)};
    if (r->weight && r->step) return TAPER_OK;
    free_new(r);
    return TAPER_ERR_NOMEM;
}

/* The integer of a weight without its last bits: v rounded to a multiple of 2^bits, over that. */
static long without_bits(long v, uint32_t bits) {
    long half = bits ? 1L << (bits - 1) : 0, one = 1L << bits;
    return v + half >= 0 ? (v + half) / one : -((one - 1 - v - half) / one);
}

/* The rows of n units: of their integers the upper part, without `coarse` bits, or (rest) the lower
 * one. */
typedef struct part {
    const uint32_t *unit;  /* [n] */
    const uint8_t *coarse; /* [n] */
    uint32_t n;
    int rest;
} part;

/* Write them. The matrix gets all bits. step: [units] */
static taper_status write_rows(float *matrix, const taper_model *m, const float *step, part p,
                               formats_buffer *out) {
    const codec_network *net = &m->network;
    new_rows rows;
    TAPER_TRY(alloc_new(&rows, p.n, net->inputs));
    for (uint32_t i = 0; i < p.n; i++) {
        float *row = matrix + p.unit[i] * (size_t)net->inputs, fine = step[p.unit[i]];
        float *to = rows.weight + i * (size_t)net->inputs;
        rows.step[i] = p.rest ? fine : fine * (float)(1 << p.coarse[i]);
        for (uint32_t c = 0; c < net->inputs; c++) {
            long v = lrintf(fmaxf(fminf(row[c] / fine, CODEC_WEIGHT_MAX), -CODEC_WEIGHT_MAX)),
                 upper = without_bits(v, p.coarse[i]);
            row[c] = (float)v * fine;
            to[c] = (float)(p.rest ? v - upper * (1L << p.coarse[i]) : upper) * rows.step[i];
        }
    }
    taper_status status =
        codec_weights_write(rows.weight, p.n, net->inputs, m->window.width, rows.step, out);
    free_new(&rows);
    return status;
}

taper_status codec_linear_rows_write(taper_model *m, const float *step, const codec_unit_sets *sets,
                                     uint32_t s, formats_buffer *out) {
    codec_network *net = &m->network;
    if (codec_network_is_direct(net)) return TAPER_OK;
    uint8_t *coarse = calloc(net->units, 1);
    if (!coarse) return TAPER_ERR_NOMEM;
    for (uint32_t k = 0; k < sets->n; k++)
        memset(coarse + sets->first[k], sets->coarse[k], sets->first[k + 1] - sets->first[k]);
    const uint32_t at = sets->first[s], n = sets->first[s + 1] - at,
                   from = sets->first[codec_unit_sets_coarse_from(sets, s)];
    const part before = {sets->unit + from, coarse + from, at - from, 1},
               own = {sets->unit + at, coarse + at, n, 0};
    taper_status status = TAPER_OK;
    if (from < at) status = write_rows(net->synthesis, m, step, before, out);
    if (status == TAPER_OK) status = write_rows(net->synthesis, m, step, own, out);
    if (status == TAPER_OK && !m->tied) status = write_rows(net->analysis, m, step, own, out);
    free(coarse);
    return status;
}

/* --- reading --------------------------------------------------------------------------- */

/* Integers and steps of some rows. */
typedef struct some_rows {
    int32_t *q;
    float *step;
} some_rows;

static void free_rows(some_rows *r) { free(r->q), free(r->step); }

static taper_status read_some(some_rows *r, uint32_t n, const codec_network *net, uint32_t width,
                              formats_cursor *in, taper_error *error) {
    *r = (some_rows){malloc(n * (size_t)net->inputs * sizeof *r->q + 1),
                     malloc(n * sizeof *r->step + 1)};
    taper_status status =
        r->q && r->step
            ? codec_weights_read_integers(r->q, r->step, n, net->inputs, width, in, error)
            : formats_fail(error, TAPER_ERR_NOMEM, "no memory for the model's network");
    if (status != TAPER_OK) free_rows(r);
    return status;
}

/* Read the rows of n units. */
static taper_status read_rows(float *matrix, const codec_network *net, uint32_t width,
                              const uint32_t *unit, uint32_t n, formats_cursor *in,
                              taper_error *error) {
    some_rows r;
    TAPER_TRY(read_some(&r, n, net, width, in, error));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < net->inputs; c++)
            matrix[unit[i] * (size_t)net->inputs + c] =
                (float)r.q[i * (size_t)net->inputs + c] * r.step[i];
    free_rows(&r);
    return TAPER_OK;
}

/* Add the last bits to a row of G: *step, which is 2^bits of that of the row, times q. */
static int add_bits(float *row, const int32_t *q, float step, uint32_t bits, uint32_t n) {
    const float coarse = step * (float)(1 << bits);
    const int32_t half = 1 << (bits - 1);
    for (uint32_t c = 0; c < n; c++) {
        float upper = row[c] / coarse;
        if (!(fabsf(upper) <= CODEC_WEIGHT_MAX) || q[c] < -half || q[c] >= half) return 0;
        int32_t v = (int32_t)lrintf(upper);
        if ((float)v * coarse != row[c]) return 0;
        v = v * (1 << bits) + q[c];
        if (v < -CODEC_WEIGHT_MAX || v > CODEC_WEIGHT_MAX) return 0;
        row[c] = (float)v * step;
    }
    return 1;
}

/* Read the last bits of the rows of n units. coarse: [n] their number. */
static taper_status read_rest(taper_model *m, const uint32_t *unit, const uint8_t *coarse,
                              uint32_t n, formats_cursor *in, taper_error *error) {
    const codec_network *net = &m->network;
    const size_t inputs = net->inputs;
    some_rows r;
    int fits = 1;
    TAPER_TRY(read_some(&r, n, net, m->window.width, in, error));
    for (uint32_t i = 0; i < n && fits; i++)
        fits = add_bits(net->synthesis + unit[i] * inputs, r.q + i * inputs, r.step[i], coarse[i],
                        net->inputs);
    free_rows(&r);
    if (fits) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "model: the last bits of its rows do not fit their first ones");
}

taper_status codec_linear_rows_read(taper_model *m, const codec_unit_sets *sets, uint32_t s,
                                    formats_cursor *in, taper_error *error) {
    codec_network *net = &m->network;
    if (codec_network_is_direct(net)) return TAPER_OK;
    for (uint32_t k = codec_unit_sets_coarse_from(sets, s), end = s; k < end; k = end) {
        uint32_t from = sets->first[k], n = sets->first[s] - from;
        uint8_t *coarse = calloc(n, 1);
        if (!coarse) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the model's units");
        for (; k < s; k++)
            memset(coarse + sets->first[k] - from, sets->coarse[k],
                   sets->first[k + 1] - sets->first[k]);
        taper_status status = read_rest(m, sets->unit + from, coarse, n, in, error);
        free(coarse);
        TAPER_TRY(status);
    }
    const uint32_t *unit = sets->unit + sets->first[s];
    const uint32_t n = sets->first[s + 1] - sets->first[s];
    TAPER_TRY(read_rows(net->synthesis, net, m->window.width, unit, n, in, error));
    return m->tied ? TAPER_OK : read_rows(net->analysis, net, m->window.width, unit, n, in, error);
}
