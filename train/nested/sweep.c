/* sweep.c -- see sweep.h. */
#include "train/nested/sweep.h"
#include <math.h>
#include <string.h>

int train_sweep_options_are_legal(const train_sweep_options *o) {
    return o->check > 0 && o->tolerance >= 0.0 && o->warmup >= 0.0 && o->fraction > 0.0 &&
           o->warmup + o->fraction <= 1.0 + 1e-9;
}

void train_sweep_begin(train_sweep *s, const train_sweep_options *options, uint64_t steps,
                       uint32_t units, size_t inputs, float *looked) {
    *s = (train_sweep){
        .options = *options, .steps = steps, .units = units, .inputs = inputs, .looked = looked};
    s->deadline = (options->warmup + options->fraction / units) * (double)steps;
}

/* |row - looked| < tolerance |row|: and look again. */
static int has_converged(train_sweep *s, const float *row) {
    double moved = 0.0, length = 0.0;
    for (size_t i = 0; i < s->inputs; i++) {
        double d = (double)row[i] - s->looked[i];
        moved += d * d;
        length += (double)row[i] * row[i];
    }
    int first = !s->started;
    memcpy(s->looked, row, s->inputs * sizeof *row);
    return !first && sqrt(moved) < s->options.tolerance * sqrt(length);
}

static void freeze(train_sweep *s, double from) {
    s->frozen++;
    s->deadline = from + s->options.fraction * (double)s->steps / s->units;
    s->started = 0;
}

uint32_t train_sweep_after_step(train_sweep *s, uint64_t step, const float *weights) {
    if (!s->options.on || (double)step < s->options.warmup * (double)s->steps) return s->frozen;
    while (s->frozen + 1 < s->units && (double)step >= s->deadline) freeze(s, s->deadline);
    if (s->frozen + 1 < s->units && (!s->started || step + 1 >= s->started + s->options.check)) {
        const float *row = weights + (size_t)s->frozen * s->inputs;
        if (has_converged(s, row))
            freeze(s, (double)step);
        else
            s->started = step + 1;
    }
    return s->frozen;
}
