/* rate.c -- see rate.h. */
#include "train/objectives/rate.h"
#include <math.h>

static const float scale_speed = 10.0f, least_scale = 1e-3f;

void train_rate_lay_out(train_rate *r, train_arena *arena, uint32_t units, size_t batch) {
    r->inverse_scale = train_arena_floats(arena, 1, units);
    r->scale_gradient = train_arena_floats(arena, batch, units);
    r->bits = train_arena_take(arena, batch, 1, sizeof *r->bits);
}

float train_rate_log_scale(float b) {
    return logf(b > least_scale ? b : least_scale) / scale_speed;
}

static taper_status loss(void *self, train_stream *s, const train_examples *e, double *row_loss,
                         double *figure) {
    train_rate *r = self;
    const float weight = r->lambda / (float)e->rows;
    const train_cut_codes codes = {e->rows, e->units, e->code, e->cut, e->scale};
    TAPER_TRY(s->ops->exponential(s, e->units, -scale_speed, r->log_scale, r->inverse_scale));
    TAPER_TRY(s->ops->rate(s, &codes, r->inverse_scale, weight * scale_speed, r->bits,
                           r->scale_gradient));
    TAPER_TRY(s->ops->add_doubles(s, e->rows, (double)r->lambda, r->bits, row_loss));
    return s->ops->sum_doubles(s, e->rows, r->bits, figure);
}

static taper_status gradient(void *self, train_stream *s, const train_examples *e,
                             float *code_gradient) {
    train_rate *r = self;
    const float weight = r->lambda / (float)e->rows;
    const train_cut_codes codes = {e->rows, e->units, e->code, e->cut, e->scale};
    TAPER_TRY(s->ops->rate_gradient(s, &codes, r->inverse_scale, weight, code_gradient));
    return s->ops->bias_backward(s, e->rows, e->units, CODEC_LINEAR, NULL, r->scale_gradient, 0,
                                 r->log_scale_gradient);
}

const train_objective train_rate_objective = {.name = "rate", .loss = loss, .gradient = gradient};
