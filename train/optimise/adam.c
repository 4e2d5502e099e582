/* adam.c -- the optimiser's state and its schedule; the arithmetic is a backend operation. See
 * adam.h. */
#include "train/optimise/adam.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

taper_status train_adam_create(train_adam *adam, size_t n) {
    *adam = (train_adam){0.9f, 0.99f, 1e-8f, 0, n, NULL, NULL};
    adam->m = calloc(n ? n : 1, sizeof *adam->m);
    adam->v = calloc(n ? n : 1, sizeof *adam->v);
    if (adam->m && adam->v) return TAPER_OK;
    train_adam_free(adam);
    return TAPER_ERR_NOMEM;
}

void train_adam_free(train_adam *adam) {
    free(adam->m);
    free(adam->v);
    memset(adam, 0, sizeof *adam);
}

taper_status train_adam_step_ranges(train_adam *adam, codec_backend *be, float rate, float max_norm,
                                    const train_range *range, size_t ranges, const float *gradient,
                                    float *parameter, double *norm) {
    double squares = 0.0, part;
    for (size_t i = 0; i < ranges; i++) {
        TAPER_TRY(be->ops->sum_squares(be, range[i].n, gradient + range[i].first, &part));
        squares += part;
    }
    double length = sqrt(squares);
    if (norm) *norm = length;
    if (!isfinite(length)) return TAPER_ERR_ARG;
    adam->step++;
    double correct1 = 1.0 - pow((double)adam->beta1, (double)adam->step);
    double correct2 = sqrt(1.0 - pow((double)adam->beta2, (double)adam->step));
    codec_adam_step step = {
        (float)(rate * correct2 / correct1), adam->beta1, adam->beta2,
        (float)(adam->epsilon * correct2),
        max_norm > 0.0f && length > (double)max_norm ? (float)((double)max_norm / length) : 1.0f};
    for (size_t i = 0; i < ranges; i++) {
        size_t at = range[i].first;
        TAPER_TRY(be->ops->adam(be, range[i].n, &step, gradient + at, parameter + at, adam->m + at,
                                adam->v + at));
    }
    return TAPER_OK;
}

taper_status train_adam_step(train_adam *adam, codec_backend *be, float rate, float max_norm,
                             const float *gradient, float *parameter, double *norm) {
    train_range all = {0, adam->n};
    return train_adam_step_ranges(adam, be, rate, max_norm, &all, 1, gradient, parameter, norm);
}

float train_cosine_rate(float peak, uint64_t t, uint64_t steps, uint64_t warmup) {
    double rise = warmup && t < warmup ? (double)(t + 1) / (double)(warmup + 1) : 1.0;
    double at = steps ? (double)t / (double)steps : 1.0;
    double fall = 0.5 * (1.0 + cos(3.14159265358979 * (at < 1.0 ? at : 1.0)));
    return (float)(peak * rise * (0.001 + 0.999 * fall));
}
