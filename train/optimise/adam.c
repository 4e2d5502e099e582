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

taper_status train_adam_take(train_stream *s, train_weights *w, const train_range *range,
                             size_t ranges, float rate, uint64_t t, float max_norm,
                             const double *loss, double most_loss, double *squares,
                             train_verdict *verdict) {
    train_adam_step step = train_adam_numbers(rate, t);
    for (size_t i = 0; i < ranges; i++)
        TAPER_TRY(s->ops->sum_squares(s, range[i].n, w->gradient + range[i].first, i > 0, squares));
    TAPER_TRY(s->ops->judge(s, t, loss, most_loss, squares, max_norm, verdict));
    for (size_t i = 0; i < ranges; i++) {
        size_t at = range[i].first;
        TAPER_TRY(s->ops->adam(s, range[i].n, &step, verdict, w->gradient + at, w->parameter + at,
                               w->m + at, w->v + at));
    }
    return TAPER_OK;
}

float train_cosine_rate(float peak, uint64_t t, uint64_t steps, uint64_t warmup) {
    double rise = warmup && t < warmup ? (double)(t + 1) / (double)(warmup + 1) : 1.0;
    double at = steps ? (double)t / (double)steps : 1.0;
    double fall = 0.5 * (1.0 + cos(3.14159265358979 * (at < 1.0 ? at : 1.0)));
    return (float)(peak * rise * (0.001 + 0.999 * fall));
}
