/* label_spreading.c -- see label_spreading.h. Classes are processed one by one, so memory is a few
 * numbers per image for any number of classes. */
#include "train/labelling/label_spreading.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 200 };
static const double alpha = 0.99, tolerance = 1e-4;

/* Vectors of one class's system, [n] each. */
typedef struct system {
    const train_neighbour_graph *graph;
    double *f, *residual, *direction, *product;
    double *memory;
} system_of_class;

/* to = (1 - alpha S) x. */
static void multiply(const train_neighbour_graph *g, const double *x, double *to) {
    for (size_t i = 0; i < g->n; i++) {
        double sum = 0.0;
        for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
            sum += (double)g->weight[e] * x[g->to[e]];
        to[i] = x[i] - alpha * sum;
    }
}

static double dot(size_t n, const double *a, const double *b) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* f of one class, without the common factor 1 - alpha. */
static void solve(system_of_class *s, const uint32_t *label, uint32_t class) {
    const size_t n = s->graph->n;
    for (size_t i = 0; i < n; i++) {
        s->f[i] = 0.0;
        s->residual[i] = s->direction[i] = label[i] == class;
    }
    double squares = dot(n, s->residual, s->residual);
    const double enough = squares * tolerance * tolerance;
    for (int step = 0; step < MOST_STEPS && squares > enough; step++) {
        multiply(s->graph, s->direction, s->product);
        const double length = squares / dot(n, s->direction, s->product), before = squares;
        for (size_t i = 0; i < n; i++) {
            s->f[i] += length * s->direction[i];
            s->residual[i] -= length * s->product[i];
        }
        squares = dot(n, s->residual, s->residual);
        for (size_t i = 0; i < n; i++)
            s->direction[i] = s->residual[i] + squares / before * s->direction[i];
    }
}

taper_status train_spread_labels(const train_neighbour_graph *g, const uint32_t *label,
                                 uint32_t classes, uint32_t *guess, float *sure) {
    const size_t n = g->n;
    double *memory = calloc(n, 6 * sizeof *memory), *most = memory, *all = memory + n;
    if (!memory) return TAPER_ERR_NOMEM;
    system_of_class s = {.graph = g,
                         .f = memory + 2 * n,
                         .residual = memory + 3 * n,
                         .direction = memory + 4 * n,
                         .product = memory + 5 * n};
    for (size_t i = 0; i < n; i++) guess[i] = UINT32_MAX;
    for (uint32_t c = 0; c < classes; c++) {
        solve(&s, label, c);
        for (size_t i = 0; i < n; i++) {
            if (s.f[i] > 0.0) all[i] += s.f[i];
            if (s.f[i] > most[i]) most[i] = s.f[i], guess[i] = c;
        }
    }
    for (size_t i = 0; i < n; i++) {
        sure[i] = all[i] > 0.0 ? (float)(most[i] / all[i]) : 0.0f;
        if (label[i] < classes) guess[i] = label[i], sure[i] = 1.0f;
    }
    free(memory);
    return TAPER_OK;
}
