/* sweep.c -- see sweep.h. */
#include "train/nested/sweep.h"
#include <math.h>

int train_sweep_options_are_legal(const train_sweep_options *o) {
    return o->check > 0 && o->tolerance >= 0.0 && o->warmup >= 0.0 && o->fraction > 0.0 &&
           o->warmup + o->fraction <= 1.0 + 1e-9;
}

void train_sweep_begin(train_sweep *s, const train_sweep_options *options, uint64_t steps,
                       uint32_t units, size_t inputs, train_stream *stream, float *looked,
                       double *squares) {
    *s = (train_sweep){.options = *options,
                       .steps = steps,
                       .units = units,
                       .inputs = inputs,
                       .stream = stream,
                       .looked = looked,
                       .squares = squares};
    s->state.deadline = (options->warmup + options->fraction / units) * (double)steps;
}

/* |row - looked| < tolerance |row|: and look again. */
static taper_status has_converged(train_sweep *s, const float *row, int *converged) {
    double square[2];
    TAPER_TRY(s->stream->ops->distance(s->stream, s->inputs, row, s->looked, s->squares));
    TAPER_TRY(train_download(s->stream, square, s->squares, sizeof square));
    *converged = s->state.started && sqrt(square[0]) < s->options.tolerance * sqrt(square[1]);
    return train_copy(s->stream, s->looked, row, s->inputs * sizeof *row);
}

static void freeze(train_sweep *s, double from) {
    s->state.frozen++;
    s->state.deadline = from + s->options.fraction * (double)s->steps / s->units;
    s->state.started = 0;
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
