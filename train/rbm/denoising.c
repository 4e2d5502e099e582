/* denoising.c -- see denoising.h. */
#include "train/rbm/denoising.h"

/* to = v with elements set to 0: dropout, without its scaling. */
static taper_status corrupt(train_rbm_layer *l, const train_rbm_batch *b, const float *v,
                            float *to) {
    train_stream *s = l->stream;
    const size_t n = b->rows * l->visible;
    const float p = b->options->corruption, scale = train_dropout_scale(train_dropped(p));
    TAPER_TRY(train_copy(s, to, v, n * sizeof *v));
    TAPER_TRY(s->ops->dropout(s, &b->noise, 0, p, b->rows, l->visible, to));
    return train_dropped(p) ? s->ops->scale(s, n, 1.0f / scale, to, to) : TAPER_OK;
}

/* v becomes e, from the reconstruction r. */
static taper_status errors(train_rbm_layer *l, const train_rbm_batch *b, const float *r, float *v) {
    train_stream *s = l->stream;
    const codec_activation slope =
        b->options->squared_error ? train_mean_of(l->visible_states) : CODEC_LINEAR;
    TAPER_TRY(s->ops->axpy(s, b->rows * l->visible, -1.0f, r, v));
    TAPER_TRY(s->ops->scale(s, l->visible, b->momentum, l->visible_moves, l->visible_moves));
    return s->ops->bias_backward(s, b->rows, l->visible, slope, r, v, 1, l->visible_moves);
}

taper_status train_denoising_gradient(train_rbm_layer *l, const train_rbm_batch *b) {
    train_stream *s = l->stream;
    const size_t n = b->rows;
    float *e = l->below, *corrupted = e + n * l->visible, *y = l->above, *d = y + n * l->hidden;
    TAPER_TRY(corrupt(l, b, e, corrupted));
    TAPER_TRY(train_rbm_up(l, n, corrupted, y));
    TAPER_TRY(train_rbm_down(l, n, y, l->between));
    TAPER_TRY(train_rbm_add_error(l, n, l->between));
    TAPER_TRY(errors(l, b, l->between, e));
    TAPER_TRY(s->ops->gemm(s, 0, 1, n, l->hidden, l->visible, e, l->weight, 0.0f, d));
    TAPER_TRY(s->ops->scale(s, l->hidden, b->momentum, l->hidden_moves, l->hidden_moves));
    TAPER_TRY(s->ops->bias_backward(s, n, l->hidden, train_mean_of(l->hidden_states), y, d, 1,
                                    l->hidden_moves));
    return train_rbm_add_products(l, n, b->momentum);
}
