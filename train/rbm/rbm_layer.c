/* rbm_layer.c -- see rbm_layer.h. */
#include "train/rbm/rbm_layer.h"
#include "formats/bytes.h"
#include "train/optimise/rank_sums.h"

static size_t weights_of(const train_rbm_layer *l) { return (size_t)l->hidden * l->visible; }
static size_t numbers_of(const train_rbm_layer *l) {
    return weights_of(l) + l->hidden + l->visible;
}

static void lay_out(train_arena *arena, train_rbm_layer *l) {
    const size_t widest = l->visible > l->hidden ? l->visible : l->hidden;
    l->weight = train_arena_floats(arena, 1, numbers_of(l));
    l->velocity = train_arena_floats(arena, 1, numbers_of(l));
    l->below = train_arena_floats(arena, 2 * l->batch, l->visible);
    l->above = train_arena_floats(arena, 2 * l->batch, l->hidden);
    l->between = train_arena_floats(arena, l->batch, widest);
    l->squares = train_arena_take(arena, 2, 1, sizeof *l->squares);
    l->error = train_arena_take(arena, 1, 1, sizeof *l->error);
    if (!arena->memory) return;
    l->hidden_bias = l->weight + weights_of(l), l->visible_bias = l->hidden_bias + l->hidden;
    l->hidden_moves = l->velocity + weights_of(l), l->visible_moves = l->hidden_moves + l->hidden;
}

taper_status train_rbm_layer_open(train_rbm_layer *l, train_stream *stream, const train_rbm *from,
                                  size_t batch) {
    *l = (train_rbm_layer){.stream = stream,
                           .visible = from->visible,
                           .hidden = from->hidden,
                           .visible_states = from->visible_states,
                           .hidden_states = from->hidden_states,
                           .batch = batch};
    lay_out(&l->arena, l);
    TAPER_TRY(train_arena_alloc(&l->arena, stream->device));
    lay_out(&l->arena, l);
    TAPER_TRY(train_keep(stream->device, TRAIN_WEIGHTS, l->weight, weights_of(l)));
    return train_upload(stream, l->weight, from->weight, numbers_of(l) * sizeof *l->weight);
}

void train_rbm_layer_close(train_rbm_layer *l) {
    train_arena_free(&l->arena);
    *l = (train_rbm_layer){0};
}

/* The first rank adds to the present velocities, the others to 0; so the sum counts them once. */
static taper_status add_gradient(train_rbm_layer *l, const train_rbm_batch *b,
                                 train_rbm_gradient_fn *gradient, taper_error *error) {
    train_stream *s = l->stream;
    const size_t n = numbers_of(l);
    if (!train_is_first(b->ranks)) TAPER_TRY(train_zero(s, l->velocity, n * sizeof *l->velocity));
    TAPER_TRY(b->rows ? gradient(l, b)
                      : s->ops->scale(s, n, b->momentum, l->velocity, l->velocity));
    return train_sum_floats_there(s, b->ranks, l->velocity, n, error);
}

taper_status train_rbm_layer_learn(train_rbm_layer *l, const train_rbm_batch *b,
                                   train_rbm_gradient_fn *gradient, taper_error *error) {
    train_stream *s = l->stream;
    const float rows = (float)l->batch;
    TAPER_TRY(add_gradient(l, b, gradient, error));
    TAPER_TRY(s->ops->axpy(s, weights_of(l), -rows * b->options->decay, l->weight, l->velocity));
    return s->ops->axpy(s, numbers_of(l), b->rate / rows, l->velocity, l->weight);
}

taper_status train_rbm_layer_errors(train_rbm_layer *l, double *sum) {
    TAPER_TRY(train_download(l->stream, sum, l->error, sizeof *sum));
    return train_zero(l->stream, l->error, sizeof *l->error);
}

taper_status train_rbm_layer_fetch(train_rbm_layer *l, train_rbm *to) {
    return train_download(l->stream, to->weight, l->weight, numbers_of(l) * sizeof *l->weight);
}

/* --- for training methods ------------------------------------------------------------------ */

taper_status train_rbm_up(const train_rbm_layer *l, size_t rows, const float *v, float *to) {
    const train_affine up = {.transpose_b = 1,
                             .m = rows,
                             .n = l->hidden,
                             .k = l->visible,
                             .a = v,
                             .b = l->weight,
                             .bias = l->hidden_bias,
                             .activation = train_mean_of(l->hidden_states),
                             .c = to};
    return l->stream->ops->affine(l->stream, &up);
}

taper_status train_rbm_down(const train_rbm_layer *l, size_t rows, const float *h, float *to) {
    const train_affine down = {.m = rows,
                               .n = l->visible,
                               .k = l->hidden,
                               .a = h,
                               .b = l->weight,
                               .bias = l->visible_bias,
                               .activation = train_mean_of(l->visible_states),
                               .c = to};
    return l->stream->ops->affine(l->stream, &down);
}

taper_status train_rbm_add_error(train_rbm_layer *l, size_t rows, const float *reconstruction) {
    train_stream *s = l->stream;
    TAPER_TRY(s->ops->distance(s, rows * l->visible, l->below, reconstruction, l->squares));
    return s->ops->add_doubles(s, 1, 1.0, l->squares, l->error);
}

taper_status train_rbm_add_products(train_rbm_layer *l, size_t rows, float momentum) {
    train_stream *s = l->stream;
    return s->ops->gemm(s, 1, 0, l->hidden, l->visible, 2 * rows, l->above, l->below, momentum,
                        l->velocity);
}
