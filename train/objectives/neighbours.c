/* neighbours.c -- see neighbours.h. */
#include "train/objectives/neighbours.h"
#include <math.h>

typedef train_neighbour_objective objective;

double train_neighbour_alpha(const train_neighbour_objective *o, float number) {
    return o->alpha * exp((double)number);
}

/* --- memory ----------------------------------------------------------------------------- */

static size_t tile_of(const objective *o, size_t rows) {
    const size_t tile = o->tile_rows ? o->tile_rows : TRAIN_NEIGHBOUR_TILE;
    return tile < rows ? tile : rows;
}

static void lay_out(void *self, train_arena *arena, uint32_t units, size_t batch) {
    objective *o = self;
    o->zeros = train_arena_floats(arena, batch, 1);
    o->ones = train_arena_floats(arena, batch, 1);
    o->mean = train_arena_floats(arena, 1, units);
    o->centred = train_arena_floats(arena, batch, units);
    o->across = train_arena_floats(arena, units, batch);
    o->share = train_arena_floats(arena, TRAIN_SHARES, batch);
    o->by_number = o->learns_alpha ? train_arena_floats(arena, batch, 1) : NULL;
    o->pull = train_arena_floats(arena, tile_of(o, batch), batch);
    o->sums = train_arena_take(arena, batch, TRAIN_NEIGHBOUR_SUMS, sizeof *o->sums);
    o->own = train_arena_take(arena, batch, 1, sizeof *o->own);
}

static size_t numbers(void *self, uint32_t units) {
    const objective *o = self;
    (void)units;
    return o->learns_alpha ? 1 : 0;
}

static void place(void *self, const float *parameter, float *gradient) {
    objective *o = self;
    o->number = o->learns_alpha ? parameter : NULL;
    o->number_gradient = o->learns_alpha ? gradient : NULL;
}

/* --- loss and gradient ------------------------------------------------------------------ */

static train_neighbours neighbours_of(const objective *o, const train_examples *e) {
    return (train_neighbours){.rows = e->rows,
                              .units = e->units,
                              .code = o->centred,
                              .across = o->across,
                              .label = e->label,
                              .loss = o->loss,
                              .all_pairs = o->all_pairs,
                              .student = o->student,
                              .alpha = o->alpha,
                              .number = o->number,
                              .hinge = o->hinge,
                              .sums = o->sums,
                              .share = o->share,
                              .by_number = o->holds_alpha ? NULL : o->by_number};
}

/* Codes minus their mean, and their transpose. */
static taper_status centre(objective *o, train_stream *s, const train_examples *e) {
    const size_t n = e->rows, units = e->units;
    TAPER_TRY(s->ops->exponential(s, n, 1.0f, o->zeros, o->ones));
    TAPER_TRY(s->ops->gemm(s, 0, 0, 1, units, n, o->ones, e->code, 0.0f, o->mean));
    TAPER_TRY(s->ops->scale(s, units, -1.0f / (float)n, o->mean, o->mean));
    TAPER_TRY(train_copy(s, o->centred, e->code, n * units * sizeof *e->code));
    TAPER_TRY(s->ops->bias(s, n, units, o->mean, CODEC_LINEAR, o->centred));
    return s->ops->transpose(s, 1, n, units, o->centred, o->across);
}

static taper_status loss(void *self, train_stream *s, const train_examples *e, double *row_loss,
                         double *figure) {
    objective *o = self;
    const train_neighbours n = neighbours_of(o, e);
    TAPER_TRY(train_zero(s, o->own, e->rows * sizeof *o->own));
    if (e->label && e->rows) {
        TAPER_TRY(centre(o, s, e));
        TAPER_TRY(s->ops->neighbour_sums(s, &n));
        TAPER_TRY(s->ops->neighbour_losses(s, &n, o->own));
        TAPER_TRY(s->ops->add_doubles(s, e->rows, 1.0, o->own, row_loss));
    }
    return s->ops->sum_doubles(s, e->rows, o->own, figure);
}

/* For each tile: the pulls of its rows, and their product with the codes. */
static taper_status add_pulls(objective *o, train_stream *s, const train_neighbours *n,
                              float *code_gradient) {
    const size_t tile = tile_of(o, n->rows);
    for (size_t first = 0; first < n->rows; first += tile) {
        const size_t rows = n->rows - first < tile ? n->rows - first : tile;
        TAPER_TRY(s->ops->neighbour_pulls(s, n, first, rows, o->pull));
        TAPER_TRY(s->ops->gemm(s, 0, 0, rows, n->units, n->rows, o->pull, n->code, 1.0f,
                               code_gradient + first * n->units));
    }
    return TAPER_OK;
}

static taper_status gradient(void *self, train_stream *s, const train_examples *e,
                             float *code_gradient) {
    objective *o = self;
    const train_neighbours n = neighbours_of(o, e);
    if (e->label && e->rows) TAPER_TRY(add_pulls(o, s, &n, code_gradient));
    if (!o->number_gradient) return TAPER_OK;
    if (!e->label || !e->rows || o->holds_alpha)
        return train_zero(s, o->number_gradient, sizeof *o->number_gradient);
    return s->ops->bias_backward(s, e->rows, 1, CODEC_LINEAR, NULL, o->by_number, 0,
                                 o->number_gradient);
}

const train_objective train_neighbours_objective = {.name = "neighbours",
                                                    .lay_out = lay_out,
                                                    .numbers = numbers,
                                                    .place = place,
                                                    .loss = loss,
                                                    .gradient = gradient};
