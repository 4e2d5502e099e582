/* fit_causal.c -- see fit_causal.h. */
#include "train/calibrate/fit_causal.h"
#include "codec/bitplane/chunk_coder.h"
#include "train/calibrate/cholesky.h"
#include <math.h>
#include <string.h>

enum { AROUND = CODEC_AROUND };

/* Fraction of the diagonal of a unit's normal equations that is added to it, so that weights of
 * correlated windows stay small. */
static const double ridge = 0.003;

/* The normal equations of one unit: a regression on the surrounding windows. */
static void add_unit(const codec_group *g, const train_codes *codes, uint32_t units, uint32_t u,
                     double scale, double a[AROUND * AROUND], double b[AROUND]) {
    for (uint32_t p = 0; p < g->n; p++) {
        if (!g->sides[p]) continue;
        uint32_t around[AROUND];
        codec_causal_around(g, p, around);
        double x[AROUND], y = codes->code[(size_t)p * units + u] * scale;
        for (int i = 0; i < AROUND; i++) x[i] = codes->code[(size_t)around[i] * units + u] * scale;
        for (int r = 0; r < AROUND; r++) {
            b[r] += x[r] * y;
            for (int c = 0; c < AROUND; c++) a[r * AROUND + c] += x[r] * x[c];
        }
    }
}

static void fit_unit(codec_code_tables *t, const codec_group *g, const train_codes *codes,
                     uint32_t u) {
    double a[AROUND * AROUND] = {0}, b[AROUND] = {0}, scale = exp2(-t->log_scale[u] / 16.0);
    add_unit(g, codes, t->units, u, scale / t->step[u], a, b);
    for (int r = 0; r < AROUND; r++) a[r * AROUND + r] += ridge * a[r * AROUND + r] + 1;
    if (train_solve_positive(a, b, AROUND)) return;
    for (int r = 0; r < AROUND; r++)
        t->causal_weight[u][r] = (int16_t)lrint(fmin(fmax(b[r] * 4096, -32767), 32767));
}

taper_status train_fit_causal(codec_code_tables *t, const train_codes *codes, taper_error *error) {
    codec_group group;
    memset(t->causal_weight, 0, sizeof t->causal_weight);
    memset(t->causal_logit, 0, sizeof t->causal_logit);
    TAPER_TRY(codec_group_alloc(&group, t, codes->grid, codes->n_images, error));
    t->causal = group.sides != NULL;
    for (uint32_t u = 0; t->causal && u < t->units && u < CODEC_CAUSAL_UNITS; u++)
        fit_unit(t, &group, codes, u);
    codec_group_free(&group);
    return TAPER_OK;
}

void train_causal_cells(const uint8_t *context, const uint8_t *bit, uint32_t n,
                        double logit[CODEC_CAUSAL_CONTEXTS]) {
    static const double trust = 4; /* weight of the mean, in observations */
    double ones[CODEC_CAUSAL_CONTEXTS] = {0}, all[CODEC_CAUSAL_CONTEXTS] = {0}, sum = 0, total = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (context[i] >= CODEC_CAUSAL_CONTEXTS) continue;
        ones[context[i]] += bit[i], all[context[i]]++;
        sum += bit[i], total++;
    }
    double mean = (sum + 0.5) / (total + 1);
    for (int c = 0; c < CODEC_CAUSAL_CONTEXTS; c++) {
        double p = (ones[c] + trust * mean) / (all[c] + trust);
        logit[c] = log(p / (1 - p));
    }
}
