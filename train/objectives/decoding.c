/* decoding.c -- see decoding.h. `loss` also computes the gradient, while the logits are there. */
#include "train/objectives/decoding.h"

void train_decoding_lay_out(train_decoding *d, train_arena *arena, const codec_stack *shape,
                            codec_activation between, size_t batch) {
    d->logit = train_arena_floats(arena, batch, shape->layer[shape->depth - 1].outputs);
    d->cost = train_arena_take(arena, batch, 1, sizeof *d->cost);
    train_stack_lay_out(&d->act, arena, shape, between, batch);
}

static taper_status loss(void *self, train_stream *s, const train_examples *e, double *row_loss,
                         double *figure) {
    train_decoding *d = self;
    const size_t n = e->rows * d->rows->width;
    const float factor = (float)(d->part / (double)e->rows);
    TAPER_TRY(train_zero(s, d->logit, n * sizeof *d->logit));
    TAPER_TRY(train_stack_forward(s, d->w, e->rows, e->code, &d->act, d->logit));
    TAPER_TRY(s->ops->pixel_entropy(s, d->rows, factor, d->logit, d->logit, d->cost));
    TAPER_TRY(s->ops->add_doubles(s, e->rows, d->part, d->cost, row_loss));
    return s->ops->sum_doubles(s, e->rows, d->cost, figure);
}

static taper_status gradient(void *self, train_stream *s, const train_examples *e,
                             float *code_gradient) {
    train_decoding *d = self;
    return train_stack_backward(s, d->w, d->dw, e->rows, e->code, &d->act, d->logit, code_gradient);
}

/* A decoder's arrays and parameters, which the network sets. */
const train_objective train_decoding_objective = {
    .name = "decoding", .loss = loss, .gradient = gradient};
