/* fit_contexts.c -- see fit_contexts.h. */
#include "train/calibrate/fit_contexts.h"
#include "codec/bitplane/chunk_coder.h"
#include "train/calibrate/cholesky.h"
#include "train/calibrate/fit_causal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- signed prediction ----------------------------------------------------------------- */

enum { SIDES = 4, REGRESSORS = SIDES * CODEC_SIGNED_INPUTS };

/* Added to the diagonal of the normal equations for each window, for values with mean square 1, so
 * that weights of correlated neighbours stay small. */
static const double ridge = 0.01;

static float scaled(const train_codes *codes, const codec_code_tables *t, size_t window,
                    uint32_t u) {
    double scale = t->step[u] * exp2(t->log_scale[u] / 16.0);
    return (float)(codes->code[window * t->units + u] / scale);
}

/* The first units of the four neighbours, zero if there is none. */
static void neighbours_of(const train_codes *codes, const codec_code_tables *t, codec_grid grid,
                          size_t first, uint32_t at, uint32_t inputs, double *x) {
    uint32_t column = at % grid.columns, row = at / grid.columns;
    int exists[SIDES] = {column > 0, column + 1 < grid.columns, row > 0, row + 1 < grid.rows};
    int64_t away[SIDES] = {-1, 1, -(int64_t)grid.columns, grid.columns};
    for (int s = 0; s < SIDES; s++)
        for (uint32_t k = 0; k < inputs; k++)
            x[s * CODEC_SIGNED_INPUTS + k] =
                exists[s] ? scaled(codes, t, (size_t)((int64_t)(first + at) + away[s]), k) : 0;
}

taper_status train_fit_signed(codec_code_tables *t, const train_codes *codes) {
    enum { MAX_ROWS = 60000 };
    uint32_t inputs = t->units < CODEC_SIGNED_INPUTS ? t->units : CODEC_SIGNED_INPUTS;
    uint32_t outputs = t->units < CODEC_SIGNED_UNITS ? t->units : CODEC_SIGNED_UNITS;
    static const size_t square = REGRESSORS * REGRESSORS;
    double *a = calloc(2 * square, sizeof *a),
           *b = calloc(CODEC_SIGNED_UNITS * REGRESSORS, sizeof *b);
    if (!a || !b) return free(a), free(b), TAPER_ERR_NOMEM;
    size_t first = 0, stride = codes->n / MAX_ROWS + 1, count = 0;
    for (size_t i = 0; i < codes->n_images;
         first += (size_t)codes->grid[i].columns * codes->grid[i].rows, i++) {
        uint32_t windows = codes->grid[i].columns * codes->grid[i].rows;
        for (uint32_t at = 0; windows > 1 && at < windows; at++) {
            if ((first + at) % stride) continue;
            double x[REGRESSORS] = {0};
            neighbours_of(codes, t, codes->grid[i], first, at, inputs, x);
            for (uint32_t r = 0; r < REGRESSORS; r++)
                for (uint32_t c = 0; c < REGRESSORS; c++) a[r * REGRESSORS + c] += x[r] * x[c];
            for (uint32_t u = 0; u < outputs; u++)
                for (uint32_t r = 0; r < REGRESSORS; r++)
                    b[u * REGRESSORS + r] += x[r] * scaled(codes, t, first + at, u);
            count++;
        }
    }
    memset(t->signed_weight, 0, sizeof t->signed_weight);
    for (uint32_t u = 0; u < outputs && count; u++) {
        memcpy(a + square, a, square * sizeof *a);
        for (uint32_t r = 0; r < REGRESSORS; r++)
            a[square + r * REGRESSORS + r] += ridge * (double)count + 1;
        if (train_solve_positive(a + square, b + u * REGRESSORS, REGRESSORS)) continue;
        for (uint32_t r = 0; r < REGRESSORS; r++)
            t->signed_weight[u][r / CODEC_SIGNED_INPUTS][r % CODEC_SIGNED_INPUTS] =
                (int8_t)lrint(fmin(fmax(b[u * REGRESSORS + r] * 64, -127), 127));
    }
    free(a), free(b);
    return TAPER_OK;
}

/* --- a uniform sample of each class ---------------------------------------------------- */

enum { SAMPLES = 24000, NO_CONTEXT = 255 };

typedef struct class_sample {
    int16_t feature[SAMPLES][CODEC_FEATURES];
    int32_t extra[SAMPLES]; /* of the conditional model */
    uint8_t bit[SAMPLES];
    uint8_t causal[SAMPLES]; /* context within the pass, or NO_CONTEXT */
    uint32_t kept;
    uint64_t seen;
} class_sample;

/* A hash of its argument (the finaliser of SplitMix64, Steele et al. 2014). */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* Reservoir sampling (algorithm R): the place of the next item, or SAMPLES to discard it. */
static uint32_t place_for(class_sample *s, uint32_t class) {
    uint64_t index = s->seen++;
    if (s->kept < SAMPLES) return s->kept++;
    uint64_t at =
        (mix(index + ((uint64_t) class << 48)) >> 32) * (index + 1) >> 32; /* index < 2^32 */
    return at < SAMPLES ? (uint32_t)at : SAMPLES;
}

static void keep(class_sample *samples, const codec_context_model *m, const codec_group *g,
                 uint32_t u, uint32_t p, codec_kind kind, int bit) {
    uint32_t class = codec_class(kind, u), at = place_for(&samples[class], class);
    if (at == SAMPLES) return;
    int32_t f[CODEC_FEATURES];
    codec_contexts_features(m, g, p, kind, f);
    for (int i = 0; i < CODEC_FEATURES; i++) samples[class].feature[at][i] = (int16_t)f[i];
    int causal = m->causal.on && g->sides[p];
    samples[class].causal[at] =
        causal ? (uint8_t)codec_causal_context(&m->causal, g, p, kind) : (uint8_t)NO_CONTEXT;
    samples[class].extra[at] = codec_contexts_extra(m, g, p, kind) -
                               (causal ? codec_causal_logit(&m->causal, g, p, kind) : 0);
    samples[class].bit[at] = (uint8_t)bit;
}

/* Collects samples from one pass over the true codes. */
static void walk_pass(codec_chunk_coder *coder, const int16_t *q, class_sample *samples) {
    codec_group *g = &coder->group;
    codec_context_model *m = &coder->contexts;
    codec_pass pass = g->tables->pass[g->pass];
    uint32_t u = pass.unit;
    int shift = g->tables->planes[u] - pass.depth - 1;
    int16_t *level = g->level + (size_t)u * g->stride;
    const int16_t *code = q + (size_t)u * g->stride;
    uint8_t *plane_known = g->plane_known + (size_t)u * g->stride;
    codec_contexts_predict(m, g);
    for (uint32_t p = 0; p < g->n; p++) {
        if (codec_contexts_at(m, g, p) == CODEC_SKIP) continue;
        int32_t magnitude = abs(code[p]) >> shift;
        keep(samples, m, g, u, p, codec_kind_of_level(level[p]), magnitude & 1);
        if (magnitude == 1 && codec_sign_is_predicted(m, g, u))
            keep(samples, m, g, u, p, CODEC_SIGN, code[p] > 0);
        level[p] = (int16_t)(code[p] < 0 ? -magnitude : magnitude);
        plane_known[p] = 1;
        codec_contexts_update(m, g, p, level[p]);
    }
    codec_group_finish_pass(g);
}

/* --- logistic regression --------------------------------------------------------------- */

/* The inputs, the logit of the context within the pass, and 1. */
enum { CAUSAL_TERM = CODEC_FEATURES, TERMS = CODEC_FEATURES + 2, ROUNDS = 12 };
static const double feature_unit = 1.0 / 64; /* scale of features in the regression */

static void terms_of(const class_sample *s, uint32_t i, const double *cell, double x[TERMS]) {
    for (int k = 0; k < CODEC_FEATURES; k++) x[k] = s->feature[i][k] * feature_unit;
    x[CAUSAL_TERM] = s->causal[i] == NO_CONTEXT ? 0 : cell[s->causal[i]];
    x[TERMS - 1] = 1;
}

/* One Newton step (iteratively reweighted least squares) with a ridge. Returns 0 if it fails. */
static int newton_step(const class_sample *s, const double *cell, double *theta) {
    double h[TERMS * TERMS] = {0}, g[TERMS] = {0};
    for (uint32_t i = 0; i < s->kept; i++) {
        double x[TERMS], z = s->extra[i] / 4096.0;
        terms_of(s, i, cell, x);
        for (int k = 0; k < TERMS; k++) z += theta[k] * x[k];
        double p = 1 / (1 + exp(-fmin(fmax(z, -14), 14))), w = p * (1 - p);
        for (int r = 0; r < TERMS; r++) {
            g[r] += x[r] * (s->bit[i] - p);
            for (int c = 0; c <= r; c++) h[r * TERMS + c] += w * x[r] * x[c];
        }
    }
    for (int r = 0; r < TERMS; r++) {
        for (int c = 0; c < r; c++) h[c * TERMS + r] = h[r * TERMS + c];
        h[r * TERMS + r] += 1;
        g[r] -= theta[r];
    }
    if (train_solve_positive(h, g, TERMS)) return 0;
    for (int r = 0; r < TERMS; r++) theta[r] += fmin(fmax(g[r], -2), 2);
    return 1;
}

/* The logits of contexts within the pass; NULL for a class without them. */
static int8_t *causal_logits(codec_code_tables *t, uint32_t class) {
    uint32_t kind = class / CODEC_BANDS, band = class % CODEC_BANDS;
    return t->causal && band < CODEC_CAUSAL_BANDS
               ? t->causal_logit[kind * CODEC_CAUSAL_BANDS + band]
               : NULL;
}

/* Fits the weights of a class, and the corrections of its bins to the residual. */
static void fit_class(codec_code_tables *t, uint32_t class, const class_sample *s) {
    double theta[TERMS] = {0}, cell[CODEC_CAUSAL_CONTEXTS];
    int8_t *causal = causal_logits(t, class);
    train_causal_cells(s->causal, s->bit, s->kept, cell);
    for (int round = 0; round < ROUNDS && s->kept; round++)
        if (!newton_step(s, cell, theta)) break;
    for (int c = 0; causal && c < CODEC_CAUSAL_CONTEXTS; c++)
        causal[c] = (int8_t)lrint(fmin(fmax(theta[CAUSAL_TERM] * cell[c] * 16, -127), 127));
    for (int i = 0; i < CODEC_FEATURES; i++)
        t->weight[class][i] =
            (int16_t)lrint(fmin(fmax(theta[i] * feature_unit * 4096, -32767), 32767));
    t->bias[class] = (int16_t)lrint(fmin(fmax(theta[TERMS - 1] * 64, -8000), 8000));
    double ones[CODEC_BINS] = {0}, n[CODEC_BINS] = {0};
    for (uint32_t i = 0; i < s->kept; i++) {
        int32_t f[CODEC_FEATURES];
        for (int k = 0; k < CODEC_FEATURES; k++) f[k] = s->feature[i][k];
        int32_t extra = causal && s->causal[i] != NO_CONTEXT ? causal[s->causal[i]] * 256 : 0;
        uint32_t bin = codec_contexts_bin(t, class, f, s->extra[i] + extra);
        n[bin]++, ones[bin] += s->bit[i];
    }
    for (int b = 0; b < CODEC_BINS; b++) {
        double own = (b - CODEC_BINS / 2) / 4.0, p = 1 / (1 + exp(-own)), trust = 30;
        double mean = (ones[b] + trust * p) / (n[b] + trust);
        double correction = (log(mean / (1 - mean)) - own) * 32;
        t->prior[class][b] = (int8_t)lrint(fmin(fmax(correction, -127), 127));
    }
}

taper_status train_fit_contexts(codec_code_tables *t, const train_codes *codes, const int16_t *q,
                                taper_error *error) {
    class_sample *samples = calloc(CODEC_CLASSES, sizeof *samples);
    if (!samples) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to learn contexts");
    codec_chunk_coder coder;
    taper_status status = codec_chunk_coder_alloc(&coder, t, codes->grid, codes->n_images, error);
    while (status == TAPER_OK && coder.group.pass < t->n_passes) walk_pass(&coder, q, samples);
    if (status == TAPER_OK) {
        codec_chunk_coder_free(&coder);
        for (uint32_t c = 0; c < CODEC_CLASSES; c++) fit_class(t, c, &samples[c]);
    }
    free(samples);
    return status;
}
