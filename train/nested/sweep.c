/* sweep.c -- see sweep.h. */
#include "train/nested/sweep.h"
#include <math.h>

int train_sweep_options_are_legal(const train_sweep_options *o) {
    return o->check > 0 && o->tolerance >= -1.0 && o->tolerance <= 1.0 && o->warmup >= 0.0 &&
           o->fraction > 0.0 && o->warmup + o->fraction <= 1.0 + 1e-9;
}

/* The time limit of the first unfrozen unit: an equal share of the remaining steps. */
static void set_deadline(train_sweep *s, double from) {
    const double end = (s->options.warmup + s->options.fraction) * (double)s->steps;
    s->state.deadline = from + (end - from) / (double)(s->units - s->state.frozen);
}

void train_sweep_begin(train_sweep *s, const train_sweep_options *options, uint64_t steps,
                       uint32_t units, size_t inputs, train_stream *stream, float *looked,
                       double *products) {
    *s = (train_sweep){.options = *options,
                       .steps = steps,
                       .units = units,
                       .inputs = inputs,
                       .stream = stream,
                       .looked = looked,
                       .products = products};
    set_deadline(s, options->warmup * (double)steps);
}

/* Whether the cosine between two moves is below `tolerance`. A row without moves has converged too,
 * unless tolerance excludes convergence. product: xy, xx, yy of the moves. */
static int is_converged(const double product[3], double tolerance) {
    const double lengths = sqrt(product[1] * product[2]);
    return lengths > 0.0 ? product[0] < tolerance * lengths : tolerance > -1.0;
}

/* Compares the row's move since the last check with its move before that. */
static taper_status has_converged(train_sweep *s, const float *row, int *converged) {
    const train_operations *ops = s->stream->ops;
    const size_t n = s->inputs;
    float *before = s->looked + n, *now = before + n;
    double product[3];
    *converged = 0;
    if (s->state.started) {
        TAPER_TRY(ops->combine(s->stream, n, 1.0, row, -1.0, s->looked, now));
        TAPER_TRY(ops->dot(s->stream, n, before, now, s->products));
        TAPER_TRY(ops->dot(s->stream, n, before, before, s->products + 1));
        TAPER_TRY(ops->dot(s->stream, n, now, now, s->products + 2));
        TAPER_TRY(train_download(s->stream, product, s->products, sizeof product));
        *converged =
            (s->state.moves || !(product[2] > 0.0)) && is_converged(product, s->options.tolerance);
        TAPER_TRY(train_copy(s->stream, before, now, n * sizeof *now));
        s->state.moves++;
    }
    return train_copy(s->stream, s->looked, row, n * sizeof *row);
}

static void freeze(train_sweep *s, double from) {
    s->state.frozen++;
    s->state.started = s->state.moves = 0;
    set_deadline(s, from);
}

taper_status train_sweep_after_step(train_sweep *s, uint64_t step, const float *weights) {
    train_sweep_state *now = &s->state;
    int converged;
    if (!s->options.on || (double)step < s->options.warmup * (double)s->steps) return TAPER_OK;
    while (now->frozen + 1 < s->units && (double)step >= now->deadline) freeze(s, now->deadline);
    if (now->frozen + 1 >= s->units || (now->started && step + 1 < now->started + s->options.check))
        return TAPER_OK;
    TAPER_TRY(has_converged(s, weights + (size_t)now->frozen * s->inputs, &converged));
    if (converged)
        freeze(s, (double)step);
    else
        now->started = step + 1;
    return TAPER_OK;
}
