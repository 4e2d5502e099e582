/* prefixes.c -- see prefixes.h. All prefixes use the same memory one after the other, so `loss`
 * also computes their gradients. */
#include "train/objectives/prefixes.h"

static void lay_out(void *self, train_arena *arena, uint32_t units, size_t batch) {
    train_prefixes *p = self;
    train_neighbours_objective.lay_out(&p->of, arena, units, batch);
    p->code = train_arena_floats(arena, batch, units);
    p->gradient = train_arena_floats(arena, batch, units);
    p->part = train_arena_floats(arena, batch, units);
    p->sum = train_arena_floats(arena, batch, units);
    p->own = train_arena_take(arena, batch, 1, sizeof *p->own);
    p->figure = train_arena_take(arena, 1, 1, sizeof *p->figure);
}

/* sum's first b columns += gradient / lengths. */
static taper_status add_gradient(train_prefixes *p, train_stream *s, const train_examples *e,
                                 uint32_t b) {
    const size_t n = e->rows;
    TAPER_TRY(s->ops->copy_columns(s, n, b, p->sum, e->units, p->part, b));
    TAPER_TRY(s->ops->axpy(s, n * b, 1.0f / (float)p->list.lengths, p->gradient, p->part));
    return s->ops->copy_columns(s, n, b, p->part, b, p->sum, e->units);
}

static taper_status add_prefix(train_prefixes *p, train_stream *s, const train_examples *e,
                               uint32_t b, double *row_loss, double *figure) {
    const train_objective *o = &train_neighbours_objective;
    train_examples prefix = *e;
    prefix.units = b, prefix.code = p->code;
    p->of.alpha = b > 2 ? b - 1 : 1;
    TAPER_TRY(s->ops->copy_columns(s, e->rows, b, e->code, e->units, p->code, b));
    TAPER_TRY(train_zero(s, p->own, e->rows * sizeof *p->own));
    TAPER_TRY(o->loss(&p->of, s, &prefix, p->own, p->figure));
    TAPER_TRY(s->ops->add_doubles(s, e->rows, 1.0 / p->list.lengths, p->own, row_loss));
    TAPER_TRY(s->ops->add_doubles(s, 1, 1.0 / p->list.lengths, p->figure, figure));
    TAPER_TRY(train_zero(s, p->gradient, e->rows * b * sizeof *p->gradient));
    TAPER_TRY(o->gradient(&p->of, s, &prefix, p->gradient));
    return add_gradient(p, s, e, b);
}

static taper_status loss(void *self, train_stream *s, const train_examples *e, double *row_loss,
                         double *figure) {
    train_prefixes *p = self;
    TAPER_TRY(train_zero(s, figure, sizeof *figure));
    TAPER_TRY(train_zero(s, p->sum, e->rows * e->units * sizeof *p->sum));
    for (uint32_t i = 0; i < p->list.lengths; i++)
        TAPER_TRY(add_prefix(p, s, e, p->list.length[i], row_loss, figure));
    return TAPER_OK;
}

static taper_status gradient(void *self, train_stream *s, const train_examples *e,
                             float *code_gradient) {
    train_prefixes *p = self;
    return s->ops->axpy(s, e->rows * e->units, 1.0f, p->sum, code_gradient);
}

static size_t numbers(void *self, uint32_t units) {
    (void)self, (void)units;
    return 0;
}

static void place(void *self, const float *parameter, float *of_gradient) {
    train_prefixes *p = self;
    train_neighbours_objective.place(&p->of, parameter, of_gradient);
}

const train_objective train_prefixes_objective = {.name = "prefixes",
                                                  .lay_out = lay_out,
                                                  .numbers = numbers,
                                                  .place = place,
                                                  .loss = loss,
                                                  .gradient = gradient};

train_prefix_list train_prefix_halves(uint32_t units) {
    enum { LEAST = 8 };
    train_prefix_list p = {.lengths = 1};
    for (uint32_t n = units; n / 2 >= LEAST; n /= 2) p.lengths++;
    for (uint32_t i = p.lengths, n = units; i-- > 0; n /= 2) p.length[i] = n;
    return p;
}
