/* teacher.c -- see teacher.h. */
#include "train/labelling/teacher.h"
#include "formats/bytes.h"
#include "train/objectives/stack.h"
#include <stdlib.h>
#include <string.h>

static const float pixel_scale = 255.0f;
/* The length of the random direction, for pixels of 0..1. With a much smaller one the divergence is
 * lost to rounding in float32. */
static const double probe = 1.0;

/* --- memory ----------------------------------------------------------------------------- */

static uint32_t hidden_layers(const train_teacher *t) { return t->view.depth - 1; }

static void lay_out_numbers(train_teacher *t, const codec_network *net) {
    train_weights *w = &t->weights;
    const size_t n = train_stack_view(&net->encoder, NULL, &t->view);
    train_weights_lay_out(w, &t->numbers, n, TRAIN_WEIGHTS_TRAIN);
    t->zero_mean = train_arena_floats(&t->numbers, 1, t->inputs);
    train_stack_view(&net->encoder, w->parameter, &t->view);
    train_stack_view(&net->encoder, w->gradient, &t->gradient);
}

static void lay_out_activations(train_teacher *t) {
    train_arena *arena = &t->activations;
    const size_t batch = t->batch, widest = train_stack_widest(&t->view);
    t->x = train_arena_floats(arena, batch, t->inputs);
    t->moved = train_arena_floats(arena, batch, t->inputs);
    t->by_input = train_arena_floats(arena, batch, t->inputs);
    for (uint32_t l = 0; l < hidden_layers(t); l++) {
        const size_t outputs = t->view.layer[l].outputs;
        t->unit[l] = train_arena_floats(arena, batch, outputs);
        t->y[l] = train_arena_floats(arena, batch, outputs);
        t->mean[l] = train_arena_floats(arena, 1, outputs);
        t->inverse[l] = train_arena_floats(arena, 1, outputs);
    }
    for (int i = 0; i < 2; i++) t->back[i] = train_arena_floats(arena, batch, widest);
    t->logit = train_arena_floats(arena, batch, t->classes);
    t->believed = train_arena_floats(arena, batch, t->classes);
    t->by_logit = train_arena_floats(arena, batch, t->classes);
    t->label = train_arena_take(arena, batch, 1, sizeof *t->label);
    t->unused = train_arena_floats(arena, 1, widest);
    t->row_loss = train_arena_take(arena, batch, 1, sizeof *t->row_loss);
    t->figure = train_arena_take(arena, 1, 1, sizeof *t->figure);
}

static taper_status take_memory(train_teacher *t, const codec_network *net, train_device *device) {
    TAPER_TRY(train_stream_open(&t->stream, device));
    lay_out_numbers(t, net);
    lay_out_activations(t);
    TAPER_TRY(train_arena_alloc(&t->numbers, device));
    TAPER_TRY(train_arena_alloc(&t->activations, device));
    lay_out_numbers(t, net);
    lay_out_activations(t);
    return train_weights_keep(&t->weights, device);
}

static taper_status upload_start(train_teacher *t, const codec_network *net) {
    codec_stack view;
    float *host = calloc(t->weights.n, sizeof *host);
    if (!host) return TAPER_ERR_NOMEM;
    train_stack_view(&net->encoder, host, &view);
    for (uint32_t l = 0; l < view.depth; l++) {
        const codec_layer *from = &net->encoder.layer[l], *to = &view.layer[l];
        const size_t n = (size_t)from->outputs * from->inputs;
        for (size_t i = 0; i < n; i++) to->weight[i] = from->weight[i] * (l ? 1.0f : pixel_scale);
        memcpy(to->bias, from->bias, from->outputs * sizeof *to->bias);
    }
    taper_status status =
        train_upload(&t->stream, t->weights.parameter, host, t->weights.n * sizeof *host);
    free(host);
    if (status != TAPER_OK) return status;
    return train_zero(&t->stream, t->zero_mean, t->inputs * sizeof *t->zero_mean);
}

taper_status train_teacher_create(train_teacher *t, const codec_network *net, train_device *device,
                                  size_t batch) {
    *t = (train_teacher){.inputs = net->inputs, .classes = net->units, .batch = batch};
    taper_status status = take_memory(t, net, device);
    if (status == TAPER_OK) status = upload_start(t, net);
    if (status != TAPER_OK) train_teacher_free(t);
    return status;
}

void train_teacher_free(train_teacher *t) {
    train_arena_free(&t->numbers);
    train_arena_free(&t->activations);
    train_stream_close(&t->stream);
    memset(t, 0, sizeof *t);
}

/* --- forward and backward --------------------------------------------------------------- */

taper_status train_teacher_load(train_teacher *t, const uint8_t *pixels, const uint32_t *order,
                                const uint32_t *label, const uint32_t *labels_order, size_t rows) {
    train_stream *s = &t->stream;
    t->rows = formats_smaller(rows, t->batch);
    if (label)
        TAPER_TRY(s->ops->gather_rows(s, t->rows, sizeof *label, label, labels_order, t->label));
    return s->ops->centre_rows(s, t->rows, t->inputs, pixels, order, t->zero_mean,
                               1.0f / pixel_scale, t->x);
}

static train_normalised normalised(const train_teacher *t, uint32_t l) {
    const codec_layer *w = &t->view.layer[l];
    return (train_normalised){.rows = t->rows,
                              .width = w->outputs,
                              .bias = w->bias,
                              .unit = t->unit[l],
                              .y = t->y[l],
                              .mean = t->mean[l],
                              .inverse = t->inverse[l]};
}

taper_status train_teacher_forward(train_teacher *t, const float *x) {
    train_stream *s = &t->stream;
    for (uint32_t l = 0; l < hidden_layers(t); l++) {
        const codec_layer *w = &t->view.layer[l];
        const train_normalised n = normalised(t, l);
        TAPER_TRY(
            s->ops->gemm(s, 0, 1, t->rows, w->outputs, w->inputs, x, w->weight, 0.0f, t->unit[l]));
        TAPER_TRY(s->ops->normalise(s, &n));
        x = t->y[l];
    }
    const codec_layer *last = &t->view.layer[hidden_layers(t)];
    TAPER_TRY(s->ops->gemm(s, 0, 1, t->rows, last->outputs, last->inputs, x, last->weight, 0.0f,
                           t->logit));
    return s->ops->bias(s, t->rows, last->outputs, last->bias, CODEC_LINEAR, t->logit);
}

/* Backward through a layer; dz is the gradient by its pre-activations. learns 1: adds the gradient
 * of its weights, and of its bias if it is the last layer. dx: the gradient by its input, or
 * NULL. */
static taper_status layer_back(train_teacher *t, uint32_t l, const float *x, const float *dz,
                               int learns, float *dx) {
    train_stream *s = &t->stream;
    const codec_layer *w = &t->view.layer[l], *dw = &t->gradient.layer[l];
    if (learns) {
        const train_weight_gradient g = {.rows = t->rows,
                                         .m = w->outputs,
                                         .n = w->inputs,
                                         .a = dz,
                                         .b = x,
                                         .c = dw->weight,
                                         .sums = l == hidden_layers(t) ? dw->bias : NULL};
        TAPER_TRY(s->ops->weight_gradient(s, &g));
    }
    if (!dx) return TAPER_OK;
    return s->ops->gemm(s, 0, 0, t->rows, w->inputs, w->outputs, dz, w->weight, 0.0f, dx);
}

/* From by_logit, after a forward pass of x. learns 0: only the gradient by x, into by_input. */
static taper_status backward(train_teacher *t, const float *x, int learns) {
    train_stream *s = &t->stream;
    const float *dz = t->by_logit;
    for (uint32_t l = hidden_layers(t); l > 0; l--) {
        float *dy = t->back[l % 2], *dbias = t->gradient.layer[l - 1].bias;
        const train_normalised n = normalised(t, l - 1);
        TAPER_TRY(layer_back(t, l, t->y[l - 1], dz, learns, dy));
        TAPER_TRY(s->ops->normalise_backward(s, &n, dy, learns ? dbias : t->unused));
        dz = dy;
    }
    return layer_back(t, 0, x, dz, learns, learns ? NULL : t->by_input);
}

/* --- losses ----------------------------------------------------------------------------- */

/* Adds the mean of row_loss to losses[0] and to losses[which]. */
static taper_status add_losses(train_teacher *t, double *losses, int which) {
    train_stream *s = &t->stream;
    const double mean = 1.0 / (double)t->rows;
    TAPER_TRY(s->ops->sum_doubles(s, t->rows, t->row_loss, t->figure));
    TAPER_TRY(s->ops->add_doubles(s, 1, mean, t->figure, losses));
    return s->ops->add_doubles(s, 1, mean, t->figure, losses + which);
}

static taper_status no_losses(train_teacher *t) {
    return train_zero(&t->stream, t->row_loss, t->rows * sizeof *t->row_loss);
}

taper_status train_teacher_learn_labelled(train_teacher *t, double *losses) {
    train_stream *s = &t->stream;
    TAPER_TRY(train_teacher_forward(t, t->x));
    TAPER_TRY(no_losses(t));
    TAPER_TRY(s->ops->cross_entropy(s, t->rows, t->classes, t->logit, t->label, t->row_loss,
                                    t->by_logit));
    TAPER_TRY(add_losses(t, losses, 1));
    return backward(t, t->x, 1);
}

/* The entropy of the loaded rows; keeps their logits in `believed`. */
static taper_status learn_entropy(train_teacher *t, double *losses) {
    train_stream *s = &t->stream;
    const size_t n = t->rows * t->classes;
    TAPER_TRY(train_teacher_forward(t, t->x));
    TAPER_TRY(train_copy(s, t->believed, t->logit, n * sizeof *t->logit));
    TAPER_TRY(no_losses(t));
    TAPER_TRY(s->ops->class_entropy(s, t->rows, t->classes, t->logit, t->row_loss, t->by_logit));
    TAPER_TRY(add_losses(t, losses, 2));
    return backward(t, t->x, 1);
}

/* The divergence of the moved rows' softmax from that of `believed`. */
static taper_status diverge(train_teacher *t) {
    train_stream *s = &t->stream;
    TAPER_TRY(train_teacher_forward(t, t->moved));
    TAPER_TRY(no_losses(t));
    return s->ops->class_divergence(s, t->rows, t->classes, t->believed, t->logit, t->row_loss,
                                    t->by_logit);
}

taper_status train_teacher_learn_unlabelled(train_teacher *t, uint64_t step, double *losses) {
    train_stream *s = &t->stream;
    const train_noise noise = {t->seed, step, 0, NULL};
    const size_t width = t->inputs;
    TAPER_TRY(learn_entropy(t, losses));
    TAPER_TRY(s->ops->perturb(s, &noise, probe * probe / width, t->rows, width, t->x, t->moved,
                              t->row_loss));
    TAPER_TRY(diverge(t));
    TAPER_TRY(backward(t, t->moved, 0));
    TAPER_TRY(s->ops->step_rows(s, t->rows, width, t->reach, t->x, t->by_input, t->moved));
    TAPER_TRY(diverge(t));
    TAPER_TRY(add_losses(t, losses, 3));
    return backward(t, t->moved, 1);
}
