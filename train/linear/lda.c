/* lda.c -- see lda.h. */
#include "train/linear/lda.h"
#include "train/linear/lapack.h"
#include <math.h>
#include <stdlib.h>

/* --- sums ------------------------------------------------------------------------------- */

taper_status train_scatter_alloc(train_scatter *scatter, train_device *device, uint32_t inputs,
                                 uint32_t classes) {
    *scatter = (train_scatter){.classes = classes};
    if (!classes) return TAPER_ERR_ARG;
    if (classes > SIZE_MAX / sizeof *scatter->sum / inputs) return TAPER_ERR_NOMEM;
    TAPER_TRY(train_covariance_alloc(&scatter->all, device, inputs));
    scatter->count = calloc(classes, sizeof *scatter->count);
    scatter->sum = calloc((size_t)classes * inputs, sizeof *scatter->sum);
    if (scatter->count && scatter->sum) return TAPER_OK;
    train_scatter_free(scatter);
    return TAPER_ERR_NOMEM;
}

void train_scatter_free(train_scatter *scatter) {
    train_covariance_free(&scatter->all);
    free(scatter->count), free(scatter->sum);
    *scatter = (train_scatter){0};
}

taper_status train_scatter_add(train_scatter *scatter, float *rows, const uint32_t *label,
                               size_t n) {
    const size_t inputs = scatter->all.inputs;
    TAPER_TRY(train_covariance_add(&scatter->all, rows, n)); /* subtracts its guess from rows */
    for (size_t r = 0; r < n; r++) {
        double *sum = scatter->sum + label[r] * inputs;
        for (size_t i = 0; i < inputs; i++) sum[i] += rows[r * inputs + i];
        scatter->count[label[r]]++;
    }
    return TAPER_OK;
}

taper_status train_scatter_sum(train_scatter *scatter, train_ranks *ranks, taper_error *error) {
    const size_t n = (size_t)scatter->classes * scatter->all.inputs;
    TAPER_TRY(train_covariance_sum(&scatter->all, ranks, error));
    TAPER_TRY(train_sum_integers(ranks, scatter->count, scatter->classes, error));
    return train_sum_doubles(ranks, scatter->sum, n, error);
}

/* --- solving ---------------------------------------------------------------------------- */

typedef struct lda {
    size_t n, units, classes; /* classes that have rows */
    size_t useful;
    double ridge;       /* r */
    double *total;      /* [n][n] T */
    double *within;     /* [n][n] W' */
    double *white;      /* [n][n] R */
    double *between;    /* [classes][n] (m_c - m) sqrt(n_c / n) */
    double *across;     /* [n][classes] R of these */
    double *direction;  /* [units][n] v */
    double *covariance; /* [units][n] W' v, of discriminants */
    double *half;       /* [n] scratch */
    train_lapack lapack;
} lda;

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
static void add(double *to, double factor, const double *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] += factor * from[i];
}
/* to = m v for a symmetric m[n][n]. */
static void multiply(const double *m, const double *v, size_t n, double *to) {
    for (size_t i = 0; i < n; i++) to[i] = dot(m + i * n, v, n);
}

static taper_status lda_alloc(lda *l, const train_scatter *s, size_t units, taper_error *error) {
    const size_t n = s->all.inputs;
    *l = (lda){.n = n, .units = units, .lapack.socket = -1};
    for (uint32_t c = 0; c < s->classes; c++) l->classes += s->count[c] > 0;
    l->total = malloc(n * n * sizeof(double));
    l->within = malloc(n * n * sizeof(double));
    l->white = malloc(n * n * sizeof(double));
    l->between = malloc((l->classes + 1) * n * sizeof(double));
    l->across = malloc((l->classes + 1) * n * sizeof(double));
    l->direction = calloc(units * n, sizeof(double));
    l->covariance = malloc(units * n * sizeof(double));
    l->half = malloc(n * sizeof(double));
    if (!l->total || !l->within || !l->white || !l->between || !l->across || !l->direction ||
        !l->covariance || !l->half)
        return formats_fail(error, TAPER_ERR_NOMEM,
                            "no memory for discriminants of %zu values; use fewer", n);
    return train_lapack_open(&l->lapack, (uint32_t)n, error);
}

static void lda_free(lda *l) {
    free(l->total), free(l->within), free(l->white), free(l->between), free(l->across);
    free(l->direction), free(l->covariance), free(l->half);
    train_lapack_close(&l->lapack);
}

/* T, W', and the factors of B. */
static taper_status measure(lda *l, train_scatter *s, double ridge, taper_error *error) {
    const size_t n = l->n;
    const double rows = (double)s->all.count;
    double *b = l->between, variance = 0;
    TAPER_TRY(train_covariance_take(&s->all, l->total));
    for (size_t i = 0; i < n; i++) variance += l->total[i * n + i];
    if (!(variance > 0))
        return formats_fail(error, TAPER_ERR_ARG, "all rows are the same; give images that differ");
    for (uint32_t c = 0; c < s->classes; c++) {
        const double of_class = (double)s->count[c];
        if (!s->count[c]) continue;
        for (size_t i = 0; i < n; i++)
            b[i] = sqrt(of_class / rows) * (s->sum[c * n + i] / of_class - s->all.sum[i] / rows);
        b += n;
    }
    for (size_t i = 0; i < n * n; i++) l->within[i] = l->total[i];
    for (size_t c = 0; c < l->classes; c++)
        for (size_t i = 0; i < n; i++)
            add(l->within + i * n, -l->between[c * n + i], l->between + c * n, n);
    l->ridge = ridge * variance / (double)n;
    for (size_t i = 0; i < n; i++) l->within[i * n + i] += l->ridge;
    return TAPER_OK;
}

/* R, and the factors of R B R^T. */
static taper_status whiten(lda *l, taper_error *error) {
    const size_t n = l->n;
    for (size_t i = 0; i < n * n; i++) l->lapack.matrix[i] = l->within[i];
    TAPER_TRY(train_lapack_eigenvectors(&l->lapack, (uint32_t)n, error));
    for (size_t i = 0; i < n; i++) {
        const double by =
            1.0 / sqrt(fmax(l->lapack.value[i], l->ridge)); /* rounding may go below */
        for (size_t j = 0; j < n; j++) l->white[i * n + j] = by * l->lapack.u[i * n + j];
        for (size_t c = 0; c < l->classes; c++)
            l->across[i * l->classes + c] = dot(l->white + i * n, l->between + c * n, n);
    }
    return TAPER_OK;
}

static taper_status find_discriminants(lda *l, taper_error *error) {
    const size_t n = l->n, classes = l->classes;
    size_t most = classes - 1 < l->units ? classes - 1 : l->units;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            l->lapack.matrix[i * n + j] =
                dot(l->across + i * classes, l->across + j * classes, classes);
    TAPER_TRY(train_lapack_eigenvectors(&l->lapack, (uint32_t)most, error));
    const double *value = l->lapack.value, *u = l->lapack.u;
    for (size_t a = 0; a < most; a++) {
        const size_t from = most - 1 - a; /* LAPACK's order is ascending */
        if (!(value[from] > 1e-9 * value[most - 1])) break;
        double *v = l->direction + l->useful * n;
        for (size_t i = 0; i < n; i++) add(v, u[from * n + i], l->white + i * n, n);
        multiply(l->within, v, n, l->covariance + l->useful++ * n);
    }
    return TAPER_OK;
}

/* Q = T - sum over discriminants a of g_a p_a^T + p_a g_a^T, with g_a = W' v_a and
 * p_a = T v_a - 1/2 sum over b of (v_b^T T v_a) g_b. */
static void leave_residual(lda *l) {
    const size_t n = l->n;
    double *q = l->lapack.matrix, *c = l->across; /* `across` is free by now */
    for (size_t i = 0; i < n * n; i++) q[i] = l->total[i];
    for (size_t a = 0; a < l->useful; a++) {
        const double *g = l->covariance + a * n;
        multiply(l->total, l->direction + a * n, n, l->half);
        for (size_t b = 0; b < l->useful; b++) c[b] = dot(l->direction + b * n, l->half, n);
        for (size_t b = 0; b < l->useful; b++) add(l->half, -0.5 * c[b], l->covariance + b * n, n);
        for (size_t i = 0; i < n; i++) {
            add(q + i * n, -g[i], l->half, n);
            add(q + i * n, -l->half[i], g, n);
        }
    }
}

/* Units beyond the discriminants: principal components of the residual. */
static taper_status fill_up(lda *l, taper_error *error) {
    const size_t n = l->n, more = l->units - l->useful;
    double factor = 1.0;
    if (!more) return TAPER_OK;
    leave_residual(l);
    TAPER_TRY(train_lapack_eigenvectors(&l->lapack, (uint32_t)more, error));
    for (size_t m = 0; m < more; m++) {
        const double *u = l->lapack.u + (more - 1 - m) * n;
        double *v = l->direction + (l->useful + m) * n;
        add(v, 1.0, u, n);
        for (size_t a = 0; a < l->useful; a++)
            add(v, -dot(l->covariance + a * n, u, n), l->direction + a * n, n);
        multiply(l->within, v, n, l->half);
        const double variance = dot(v, l->half, n);
        if (m == 0 && variance > 0) factor = 1.0 / sqrt(variance);
        for (size_t i = 0; i < n; i++) v[i] *= factor;
    }
    return TAPER_OK;
}

static void store(const lda *l, const train_covariance *all, codec_layer *layer) {
    for (size_t u = 0; u < l->units; u++) {
        const double *v = l->direction + u * l->n;
        double bias = 0;
        size_t top = 0;
        for (size_t i = 1; i < l->n; i++)
            if (fabs(v[i]) > fabs(v[top])) top = i;
        const double sign = v[top] < 0 ? -1.0 : 1.0;
        for (size_t i = 0; i < l->n; i++) {
            layer->weight[u * l->n + i] = (float)(sign * v[i]);
            bias -= sign * v[i] * (all->guess[i] + all->sum[i] / (double)all->count);
        }
        layer->bias[u] = (float)bias;
    }
}

taper_status train_lda_solve(train_scatter *scatter, double ridge, codec_layer *layer,
                             uint32_t *useful, taper_error *error) {
    lda l;
    taper_status status = lda_alloc(&l, scatter, layer->outputs, error);
    if (status == TAPER_OK && l.classes < 2)
        status = formats_fail(error, TAPER_ERR_ARG,
                              "discriminants tell classes apart, but all rows have one label; give "
                              "images of two labels at least");
    if (status == TAPER_OK) status = measure(&l, scatter, ridge, error);
    if (status == TAPER_OK) status = whiten(&l, error);
    if (status == TAPER_OK) status = find_discriminants(&l, error);
    if (status == TAPER_OK) status = fill_up(&l, error);
    if (status == TAPER_OK) {
        store(&l, &scatter->all, layer);
        *useful = (uint32_t)l.useful;
    }
    lda_free(&l);
    return status;
}
