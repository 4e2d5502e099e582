/* neighbours_reference.h -- the objectives over neighbours (train/objectives/neighbours.h) in
 * double and as plainly as can be, for tests: n x n arrays, no tiles. tests/test_neighbours.c
 * checks its gradients against finite differences. */
#ifndef TESTS_NEIGHBOURS_REFERENCE_H
#define TESTS_NEIGHBOURS_REFERENCE_H
#include "train/objectives/neighbours.h"
#include "cmocka_all.h"
#include <math.h>
#include <stdlib.h>

typedef struct reference {
    train_neighbour_loss loss;
    int all_pairs, student;
    double alpha, hinge;
    size_t n, d;
    const uint32_t *label;
} reference;

/* Values of pairs and rows. */
typedef struct reference_pairs {
    double *square, *log_k, *q; /* [n][n] */
    double *p, *count;          /* [n] */
    double sum_p, pairs, rows;  /* over all rows */
} reference_pairs;

static inline double *reference_array(size_t n) {
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static inline int reference_meet(const reference *r, size_t i, size_t j) {
    return i != j && r->label[i] != TRAIN_UNLABELLED && r->label[j] != TRAIN_UNLABELLED;
}
static inline int reference_same(const reference *r, size_t i, size_t j) {
    return reference_meet(r, i, j) && r->label[i] == r->label[j];
}

/* log of the sum of k over the neighbours of row i, or over all pairs. */
static inline double reference_log_z(const reference *r, const double *log_k, size_t i) {
    const size_t first = r->all_pairs ? 0 : i, end = r->all_pairs ? r->n : i + 1;
    double most = -INFINITY, sum = 0.0;
    for (size_t a = first; a < end; a++)
        for (size_t b = 0; b < r->n; b++)
            if (reference_meet(r, a, b)) most = fmax(most, log_k[a * r->n + b]);
    for (size_t a = first; a < end; a++)
        for (size_t b = 0; b < r->n; b++)
            if (reference_meet(r, a, b)) sum += exp(log_k[a * r->n + b] - most);
    return most + log(sum);
}

static inline void reference_fill_pairs(const reference *r, const double *f, reference_pairs *t) {
    const size_t n = r->n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double square = 0.0;
            for (size_t k = 0; k < r->d; k++)
                square += (f[i * r->d + k] - f[j * r->d + k]) * (f[i * r->d + k] - f[j * r->d + k]);
            t->square[i * n + j] = square;
            t->log_k[i * n + j] =
                r->student ? -0.5 * (1.0 + r->alpha) * log1p(square / r->alpha) : -square;
        }
    for (size_t i = 0; i < n; i++) {
        const double log_z = i && r->all_pairs ? 0.0 : reference_log_z(r, t->log_k, i);
        const double shared = i && r->all_pairs ? t->p[n] : log_z; /* stored after the rows */
        t->p[n] = shared;
        t->p[i] = t->count[i] = 0.0;
        for (size_t j = 0; j < n; j++) {
            t->q[i * n + j] = reference_meet(r, i, j) ? exp(t->log_k[i * n + j] - shared) : 0.0;
            if (reference_same(r, i, j)) t->p[i] += t->q[i * n + j], t->count[i] += 1.0;
        }
        t->sum_p += t->p[i], t->pairs += t->count[i], t->rows += t->count[i] > 0.0;
    }
}

static inline reference_pairs reference_open(const reference *r, const double *f) {
    const size_t n = r->n;
    reference_pairs t = {reference_array(n * n),
                         reference_array(n * n),
                         reference_array(n * n),
                         reference_array(n),
                         reference_array(n),
                         0.0,
                         0.0,
                         0.0};
    reference_fill_pairs(r, f, &t);
    return t;
}
static inline void reference_close(reference_pairs *t) {
    free(t->square), free(t->log_k), free(t->q), free(t->p), free(t->count);
}

/* P_ij of MCML. */
static inline double reference_target(const reference *r, const reference_pairs *t, size_t i,
                                      size_t j) {
    if (!reference_same(r, i, j)) return 0.0;
    return 1.0 / (r->all_pairs ? t->pairs : t->count[i]);
}

/* The loss of row i. */
static inline double reference_row(const reference *r, const reference_pairs *t, size_t i) {
    const double whole = r->all_pairs && r->loss != TRAIN_LOG_NCA ? (double)r->n : 1.0;
    double loss = 0.0;
    if (r->loss == TRAIN_NCA) loss = -t->p[i];
    if (r->loss == TRAIN_LOG_NCA && t->count[i] > 0.0) loss = -log(t->p[i]);
    for (size_t j = 0; j < r->n; j++) {
        const double target = reference_target(r, t, i, j), square = t->square[i * r->n + j];
        if (r->loss == TRAIN_MCML && target > 0.0)
            loss += target * (log(target) - log(t->q[i * r->n + j]));
        if (r->hinge > 0.0 && reference_meet(r, i, j) && !reference_same(r, i, j))
            loss += r->hinge / whole * pow(fmax(0.0, 1.0 - square), 2.0);
    }
    return whole * loss;
}

/* The mean over rows. */
static inline double reference_loss(const reference *r, const double *f) {
    reference_pairs t = reference_open(r, f);
    double sum = 0.0;
    for (size_t i = 0; i < r->n; i++) sum += reference_row(r, &t, i);
    reference_close(&t);
    return sum / (double)r->n;
}

/* m_ij of the terms of one row: -d loss / d log k_ij, before the mean over rows. */
static inline double reference_m(const reference *r, const reference_pairs *t, size_t i, size_t j) {
    const double q = t->q[i * r->n + j], same = reference_same(r, i, j) ? 1.0 : 0.0;
    if (r->loss == TRAIN_NCA) return q * (same - (r->all_pairs ? t->sum_p : t->p[i]));
    if (r->loss == TRAIN_LOG_NCA) {
        const double terms = r->all_pairs ? t->rows : t->count[i] > 0.0 ? 1.0 : 0.0;
        return (same > 0.0 ? q / t->p[i] : 0.0) - terms * q;
    }
    const double has = r->all_pairs ? t->pairs : t->count[i];
    return has > 0.0 ? reference_target(r, t, i, j) - q : 0.0;
}

/* Gradients df[n][d] and *dalpha of the mean loss. */
static inline void reference_gradient(const reference *r, const double *f, double *df,
                                      double *dalpha) {
    const size_t n = r->n, d = r->d;
    const double over = r->all_pairs && r->loss != TRAIN_LOG_NCA ? 1.0 : (double)n, a = r->alpha;
    reference_pairs t = reference_open(r, f);
    *dalpha = 0.0;
    for (size_t i = 0; i < n * d; i++) df[i] = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            if (!reference_meet(r, i, j)) continue;
            const double square = t.square[i * n + j], x = 1.0 + square / a;
            const double h = r->student ? (1.0 + a) / (2.0 * a * x) : 1.0;
            const double m = reference_m(r, &t, i, j);
            double by_square = h * m / over;
            if (r->hinge > 0.0 && !reference_same(r, i, j))
                by_square -= 2.0 * r->hinge * fmax(0.0, 1.0 - square) / (double)n;
            for (size_t k = 0; k < d; k++) {
                const double e = 2.0 * by_square * (f[i * d + k] - f[j * d + k]);
                df[i * d + k] += e, df[j * d + k] -= e;
            }
            if (r->student)
                *dalpha -= m / over * (-0.5 * log(x) + (1.0 + a) * square / (2.0 * a * a * x));
        }
    reference_close(&t);
}

#endif
