/* sparse_basis.c -- see sparse_basis.h. */
#include "train/linear/sparse_basis.h"
#include "train/linear/lapack.h"
#include "train/linear/unit_order.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 40,
    BLOCK = 4096,       /* rows multiplied at once */
    THRESHOLDS = 4,     /* one octave apart: the usual steps at 25 to 40 dB */
    LEAST_THRESHOLD = 8 /* in units of codes: 8-bit levels times sqrt(window values) */
};
/* Initial factor of the thresholds, and the fraction of the steps after which it is 1. */
static const double HIGHEST = 8, FALLING = 0.5;
/* Weight of the present basis, in windows per row. It keeps rows whose coefficients never reach a
 * threshold. */
static const double INERTIA = 1e-5;
/* Over-relaxation factor of a step, which halves the number of steps. It must be below 2 for
 * convergence. */
static const double BEYOND = 1.9;

int train_sparse_is_possible(uint32_t units, size_t windows) {
    return units >= 2 && units <= TRAIN_SPARSE_MOST_UNITS &&
           windows >= (size_t)TRAIN_SPARSE_ROWS_PER_UNIT * units;
}

/* --- rotation -------------------------------------------------------------------------- */

typedef struct work {
    codec_backend *be;
    uint32_t units;
    const float *codes; /* [n][units] in the initial basis */
    size_t n;
    float *rotation;     /* [units][units] Q: coefficients are Q y */
    float *kept;         /* [BLOCK][units] */
    float *moment;       /* [units][units] sum of kept y^T, each over T^2 */
    train_lapack lapack; /* for the orthogonal factor */
    taper_error *error;
} work;

/* Replaces c by the sum over thresholds of (c if |c| > T, else 0) * scale^2 / T^2. */
static void keep_large(float *c, size_t n, double scale) {
    float threshold[THRESHOLDS], weight[THRESHOLDS];
    for (int t = 0; t < THRESHOLDS; t++) {
        threshold[t] = (float)(LEAST_THRESHOLD * scale * exp2(t));
        weight[t] = (float)(1 / (LEAST_THRESHOLD * exp2(t)) / (LEAST_THRESHOLD * exp2(t)));
    }
    for (size_t i = 0; i < n; i++) {
        float sum = 0;
        for (int t = 0; t < THRESHOLDS; t++) sum += fabsf(c[i]) > threshold[t] ? weight[t] : 0;
        c[i] *= sum;
    }
}

static taper_status gather_moment(work *w, double scale) {
    const codec_backend_ops *ops = w->be->ops;
    size_t k = w->units;
    memset(w->moment, 0, k * k * sizeof *w->moment);
    for (size_t i = 0; i < w->n; i += BLOCK) {
        size_t rows = w->n - i < BLOCK ? w->n - i : BLOCK;
        const float *y = w->codes + i * k;
        TAPER_TRY(ops->gemm(w->be, 0, 1, rows, k, k, y, w->rotation, 0, w->kept));
        keep_large(w->kept, rows * k, scale);
        TAPER_TRY(ops->gemm(w->be, 1, 0, k, k, rows, w->kept, y, 1, w->moment));
    }
    return TAPER_OK;
}

/* rotation = the orthogonal factor of a + b rotation: U V^T of its singular value decomposition. */
static taper_status orthogonal_factor(work *w, const float *a, double b) {
    size_t square = (size_t)w->units * w->units;
    for (size_t i = 0; i < square; i++) w->lapack.matrix[i] = a[i] + b * w->rotation[i];
    /* LAPACK gets the transpose, M^T = U S V^T: the factor is V U^T, and V^T by rows is V */
    TAPER_TRY(train_lapack_svd(&w->lapack, w->error));
    float *u = w->moment, *v = w->kept; /* neither is needed any more; BLOCK >= units */
    for (size_t i = 0; i < square; i++) u[i] = (float)w->lapack.u[i], v[i] = (float)w->lapack.v[i];
    return w->be->ops->gemm(w->be, 0, 0, w->units, w->units, w->units, v, u, 0, w->rotation);
}

static taper_status turn_once(work *w, float *before, double scale) {
    size_t square = (size_t)w->units * w->units;
    memcpy(before, w->rotation, square * sizeof *before);
    TAPER_TRY(gather_moment(w, scale));
    TAPER_TRY(orthogonal_factor(w, w->moment, INERTIA * (double)w->n));
    for (size_t i = 0; i < square; i++) /* over-relaxation */
        w->moment[i] = (float)(BEYOND - 1) * (w->rotation[i] - before[i]);
    return orthogonal_factor(w, w->moment, 1);
}

static taper_status take_memory(work *w) {
    size_t k = w->units, square = k * k, block = BLOCK * k;
    w->rotation = calloc(square, sizeof *w->rotation);
    w->moment = malloc(square * sizeof *w->moment);
    w->kept = malloc(block * sizeof *w->kept);
    if (!w->rotation || !w->moment || !w->kept) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < k; i++) w->rotation[i * k + i] = 1;
    return train_lapack_open(&w->lapack, w->units, w->error);
}

static void free_memory(work *w) {
    free(w->rotation), free(w->moment), free(w->kept);
    train_lapack_close(&w->lapack);
}

/* --- applying the rotation ------------------------------------------------------------- */

/* codes = codes rotation^T, in place. */
static taper_status rotate_codes(work *w, float *codes) {
    size_t k = w->units;
    for (size_t i = 0; i < w->n; i += BLOCK) {
        size_t rows = w->n - i < BLOCK ? w->n - i : BLOCK;
        TAPER_TRY(
            w->be->ops->gemm(w->be, 0, 1, rows, k, k, codes + i * k, w->rotation, 0, w->kept));
        memcpy(codes + i * k, w->kept, rows * k * sizeof *codes);
    }
    return TAPER_OK;
}

/* Row u of net = sign * row order[u] of rotation * synthesis, with the sign that makes its
 * component of largest magnitude positive. */
static taper_status rotate_rows(const work *w, codec_network *net, const uint32_t *order) {
    size_t k = w->units, d = net->inputs;
    float *rotated = malloc(k * d * sizeof *rotated);
    if (!rotated) return TAPER_ERR_NOMEM;
    taper_status status =
        w->be->ops->gemm(w->be, 0, 0, k, d, k, w->rotation, net->synthesis, 0, rotated);
    for (size_t u = 0; u < k && status == TAPER_OK; u++) {
        const float *from = rotated + order[u] * d;
        float *to = net->synthesis + u * d, sign;
        size_t top = 0;
        for (size_t i = 1; i < d; i++)
            if (fabsf(from[i]) > fabsf(from[top])) top = i;
        sign = from[top] < 0 ? -1.0f : 1.0f;
        for (size_t i = 0; i < d; i++) to[i] = sign * from[i];
    }
    free(rotated);
    return status;
}

taper_status train_sparse_basis(codec_network *net, codec_backend *be, float *codes, size_t n,
                                train_sparse_progress_fn *progress, void *user,
                                taper_error *error) {
    work w = {.be = be, .units = net->units, .codes = codes, .n = n, .error = error};
    float *before = malloc((size_t)net->units * net->units * sizeof *before);
    uint32_t *order = malloc(net->units * sizeof *order);
    taper_status status = before && order ? take_memory(&w) : TAPER_ERR_NOMEM;
    for (int step = 0; step < STEPS && status == TAPER_OK; step++) {
        double arrived = fmin(step / (FALLING * STEPS), 1);
        status = turn_once(&w, before, pow(HIGHEST, 1 - arrived));
        if (progress) progress(user, (step + 1.0) / STEPS);
    }
    if (status == TAPER_OK) status = rotate_codes(&w, codes);
    if (status == TAPER_OK) status = train_unit_order(be, codes, n, net->units, order);
    if (status == TAPER_OK) status = rotate_rows(&w, net, order);
    free_memory(&w);
    free(before), free(order);
    return status;
}
