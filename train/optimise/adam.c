/* adam.c -- the coefficients and the schedule of Adam; a device has its arithmetic. See adam.h. */
#include "train/optimise/adam.h"
#include <math.h>

train_adam_step train_adam_numbers(float rate, uint64_t t) {
    const float beta1 = 0.9f, beta2 = 0.99f, epsilon = 1e-8f;
    double correct1 = 1.0 - pow((double)beta1, (double)t);
    double correct2 = sqrt(1.0 - pow((double)beta2, (double)t));
    return (train_adam_step){(float)(rate * correct2 / correct1), beta1, beta2,
                             (float)(epsilon * correct2)};
}

taper_status train_adam_take(train_stream *s, train_weights *w, const train_adam_ranges *of) {
    train_adam_step step = train_adam_numbers(of->rate, of->t);
    for (size_t i = 0; i < of->ranges; i++)
        TAPER_TRY(s->ops->sum_squares(s, of->range[i].n, w->gradient + of->range[i].first, i > 0,
                                      of->squares));
    TAPER_TRY(
        s->ops->judge(s, of->t, of->loss, of->most_loss, of->squares, of->max_norm, of->verdict));
    for (size_t i = 0; i < of->ranges; i++) {
        size_t at = of->range[i].first;
        TAPER_TRY(s->ops->adam(s, of->range[i].n, &step, of->verdict, w->gradient + at,
                               w->parameter + at, w->m + at, w->v + at));
    }
    return TAPER_OK;
}

float train_cosine_rate(float peak, uint64_t t, uint64_t steps, uint64_t warmup) {
    double rise = warmup && t < warmup ? (double)(t + 1) / (double)(warmup + 1) : 1.0;
    double at = steps ? (double)t / (double)steps : 1.0;
    double fall = 0.5 * (1.0 + cos(3.14159265358979 * (at < 1.0 ? at : 1.0)));
    return (float)(peak * rise * (0.001 + 0.999 * fall));
}
