/* rungs.c -- see rungs.h. */
#include "bench/paper/rungs.h"
#include <math.h>
#include <stdlib.h>

/* cost[r][b]: the least expected error of bandwidths below b when b is a rung and r rungs are
 * shorter; from[r][b]: the rung before it, 0 for nothing. tail[b]: mass of bandwidths b and more.
 */
typedef struct placing {
    const double *error;
    double *tail, *cost;
    uint32_t *from;
    uint32_t units, stride;
} placing;

static void place(placing *p, uint32_t rungs) {
    for (uint32_t b = 1; b <= p->units; b++)
        p->cost[b] = (p->tail[1] - p->tail[b]) * p->error[0], p->from[b] = 0;
    for (uint32_t r = 1; r < rungs; r++)
        for (uint32_t b = 1; b <= p->units; b++) {
            double *best = &p->cost[r * p->stride + b];
            *best = INFINITY;
            for (uint32_t a = r; a < b; a++) {
                double cost =
                    p->cost[(r - 1) * p->stride + a] + (p->tail[a] - p->tail[b]) * p->error[a];
                if (cost < *best) *best = cost, p->from[r * p->stride + b] = a;
            }
        }
}

/* The last rung serves all from it on. */
static double choose(const placing *p, uint32_t rungs, uint32_t *rung, uint32_t *used) {
    double least = INFINITY;
    uint32_t row = 0, at = 0;
    for (uint32_t r = 0; r < rungs; r++)
        for (uint32_t b = 1; b <= p->units; b++) {
            double cost = p->cost[r * p->stride + b] + p->tail[b] * p->error[b];
            if (cost < least) least = cost, row = r, at = b;
        }
    *used = row + 1;
    for (uint32_t r = row + 1; r-- > 0;) {
        rung[r] = at;
        at = p->from[r * p->stride + at];
    }
    return least;
}

double paper_place_rungs(const double *mass, const double *error, uint32_t units, uint32_t rungs,
                         uint32_t *rung, uint32_t *used) {
    size_t cells = (size_t)rungs * (units + 1);
    placing p = {.error = error, .units = units, .stride = units + 1};
    p.tail = calloc(units + 2, sizeof *p.tail);
    p.cost = calloc(cells, sizeof *p.cost);
    p.from = calloc(cells, sizeof *p.from);
    double least = -1.0;
    if (p.tail && p.cost && p.from) {
        for (uint32_t b = units; b; b--) p.tail[b] = p.tail[b + 1] + mass[b - 1];
        place(&p, rungs);
        least = choose(&p, rungs, rung, used);
    }
    free(p.tail), free(p.cost), free(p.from);
    return least;
}

void paper_interpolate_errors(const uint32_t *length, const double *at, uint32_t n, double *error) {
    for (uint32_t i = 1; i < n; i++) {
        double low = log1p(length[i - 1]), high = log1p(length[i]);
        for (uint32_t b = length[i - 1]; b <= length[i]; b++)
            error[b] = at[i - 1] + (log1p(b) - low) / (high - low) * (at[i] - at[i - 1]);
    }
}
