/* contrastive.c -- see contrastive.h. */
#include "train/rbm/contrastive.h"

/* The velocities of biases: multiplied by the momentum; then the sums over rows of p - q and v - r
 * are added. -q has already been added to the hidden ones. */
static taper_status move_biases(train_rbm_layer *l, size_t rows, float momentum) {
    train_stream *s = l->stream;
    const train_operations *ops = s->ops;
    float *data = l->below, *reconstruction = data + rows * l->visible, *moves = l->visible_moves;
    TAPER_TRY(ops->scale(s, l->hidden, momentum, l->hidden_moves, l->hidden_moves));
    TAPER_TRY(ops->bias_backward(s, 2 * rows, l->hidden, CODEC_LINEAR, NULL, l->above, 1,
                                 l->hidden_moves));
    TAPER_TRY(ops->scale(s, l->visible, -momentum, moves, moves));
    TAPER_TRY(
        ops->bias_backward(s, rows, l->visible, CODEC_LINEAR, NULL, reconstruction, 1, moves));
    TAPER_TRY(ops->scale(s, l->visible, -1.0f, moves, moves));
    return ops->bias_backward(s, rows, l->visible, CODEC_LINEAR, NULL, data, 1, moves);
}

taper_status train_contrastive_gradient(train_rbm_layer *l, const train_rbm_batch *b) {
    train_stream *s = l->stream;
    const size_t n = b->rows;
    float *v = l->below, *r = v + n * l->visible, *p = l->above, *q = p + n * l->hidden;
    TAPER_TRY(train_rbm_up(l, n, v, p));
    TAPER_TRY(s->ops->sample(s, &b->noise, l->hidden_states, n, l->hidden, p, l->between));
    TAPER_TRY(train_rbm_down(l, n, l->between, r));
    TAPER_TRY(train_rbm_add_error(l, n, r));
    TAPER_TRY(train_rbm_up(l, n, r, q));
    TAPER_TRY(s->ops->scale(s, n * l->hidden, -1.0f, q, q));
    TAPER_TRY(move_biases(l, n, b->momentum));
    return train_rbm_add_products(l, n, b->momentum);
}
