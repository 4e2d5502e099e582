/* reconstruction.c -- see reconstruction.h. */
#include "train/objectives/reconstruction.h"
#include "train/objectives/shared_weights.h"

void train_reconstruction_lay_out(train_reconstruction *r, train_arena *arena,
                                  const codec_network *shape, size_t batch) {
    size_t d = shape->inputs, k = shape->units;
    r->quantised = train_arena_floats(arena, batch, k);
    r->quantiser_gradient = train_arena_floats(arena, batch, k);
    r->output = train_arena_floats(arena, batch, d);
    r->quantised_gradient = train_arena_floats(arena, batch, k);
    r->error = train_arena_take(arena, batch, 1, sizeof *r->error);
    r->weight = train_arena_take(arena, batch, 1, sizeof *r->weight);
    train_stack_lay_out(&r->act, arena, &shape->decoder, CODEC_RELU, batch);
}

static taper_status decode(const train_reconstruction *r, train_stream *s, size_t rows) {
    const codec_network *w = r->w;
    TAPER_TRY(s->ops->gemm(s, 0, 0, rows, w->inputs, w->units, r->quantised, w->synthesis, 0.0f,
                           r->output));
    return train_stack_forward(s, &w->decoder, rows, r->quantised, &r->act, r->output);
}

static taper_status weigh(train_reconstruction *r, train_stream *s, const train_examples *e,
                          double *row_loss) {
    if (!r->ranks)
        return s->ops->weigh_errors(s, e->rows, e->cut, e->scale, r->balance, r->error, r->weight,
                                    row_loss);
    return train_weigh_shared(s, r->ranks,
                              &(train_shared_rows){.rows = e->rows,
                                                   .cut = e->cut,
                                                   .error = r->error,
                                                   .weight = r->weight,
                                                   .loss = row_loss,
                                                   .scale = e->scale,
                                                   .balance = r->balance});
}

static taper_status loss(void *self, train_stream *s, const train_examples *e, double *row_loss,
                         double *figure) {
    train_reconstruction *r = self;
    const double exact = r->w->inputs * 0.25 / ((double)e->scale * e->scale);
    const train_cut_codes codes = {e->rows, e->units, e->code, e->cut, e->scale};
    if (!r->given)
        TAPER_TRY(
            s->ops->quantise(s, &codes, r->gradient_floor, r->quantised, r->quantiser_gradient));
    TAPER_TRY(decode(r, s, e->rows));
    TAPER_TRY(s->ops->errors(s, e->rows, r->w->inputs, e->target, r->output, r->error));
    TAPER_TRY(r->given ? s->ops->log_errors(s, e->rows, exact, r->error, r->weight, row_loss)
                       : weigh(r, s, e, row_loss));
    return s->ops->sum_doubles(s, e->rows, r->error, figure);
}

static taper_status gradient(void *self, train_stream *s, const train_examples *e,
                             float *code_gradient) {
    train_reconstruction *r = self;
    const codec_network *w = r->w;
    TAPER_TRY(s->ops->error_gradient(s, e->rows, w->inputs, r->weight, r->output));
    TAPER_TRY(s->ops->gemm(s, 1, 0, w->units, w->inputs, e->rows, r->quantised, r->output, 0.0f,
                           r->dw->synthesis));
    if (!r->given)
        TAPER_TRY(s->ops->gemm(s, 0, 1, e->rows, w->units, w->inputs, r->output, w->synthesis, 0.0f,
                               r->quantised_gradient));
    TAPER_TRY(train_stack_backward(s, &w->decoder, &r->dw->decoder, e->rows, r->quantised, &r->act,
                                   r->output, r->given ? NULL : r->quantised_gradient));
    if (r->given) return TAPER_OK;
    return s->ops->add_products(s, e->rows * e->units, r->quantised_gradient, r->quantiser_gradient,
                                code_gradient);
}

/* A decoder's arrays and parameters, which the network sets (reconstruction.h). */
const train_objective train_reconstruction_objective = {
    .name = "reconstruction", .loss = loss, .gradient = gradient};
