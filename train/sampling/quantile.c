/* quantile.c -- see quantile.h. */
#include "train/sampling/quantile.h"
#include <math.h>

/* The value of rank `rank` by falling size, from 0. Three-way quickselect, which is fast with many
 * equal values. */
static float select_falling(float *v, size_t n, size_t rank) {
    size_t begin = 0, end = n;
    for (;;) {
        float a = v[begin], b = v[begin + (end - begin) / 2], c = v[end - 1];
        float pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        size_t above = begin, below = end; /* [begin, above) > pivot, [below, end) < pivot */
        for (size_t i = begin; i < below;) {
            float x = v[i];
            if (x > pivot)
                v[i++] = v[above], v[above++] = x;
            else if (x < pivot)
                v[i] = v[--below], v[below] = x;
            else
                i++;
        }
        if (rank < above)
            end = above;
        else if (rank >= below)
            begin = below;
        else
            return pivot;
    }
}

float train_exact_quantile(float *values, size_t n, double beta) {
    if (!n) return 0.0f;
    double wanted = beta * (double)n;
    float x = select_falling(values, n, train_quantile_rank(wanted, n)), higher = INFINITY,
          lower = -INFINITY;
    size_t above = 0, below = 0;
    for (size_t i = 0; i < n; i++) {
        float v = values[i];
        above += v > x;
        below += v < x;
        if (v > x && v < higher) higher = v;
        if (v < x && v > lower) lower = v;
    }
    return train_quantile_next_to(x, wanted, n, above, higher, below, lower);
}
