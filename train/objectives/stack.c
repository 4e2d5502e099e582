/* stack.c -- see stack.h. */
#include "train/objectives/stack.h"
#include "formats/bytes.h"
#include <math.h>

size_t train_stack_view(const codec_stack *shape, float *array, codec_stack *view) {
    size_t at = 0;
    *view = *shape;
    for (uint32_t i = 0; i < shape->depth; i++) {
        codec_layer *layer = &view->layer[i];
        layer->weight = array ? array + at : NULL;
        at += codec_layer_weights(layer);
        layer->bias = array ? array + at : NULL;
        at += codec_layer_rows(layer);
    }
    return at;
}

size_t train_stack_widest(const codec_stack *stack) {
    size_t widest = 0;
    for (uint32_t i = 0; i + 1 < stack->depth; i++)
        widest = formats_larger(widest, stack->layer[i].outputs);
    return widest;
}

void train_stack_lay_out(train_stack_activations *act, train_arena *arena, const codec_stack *stack,
                         codec_activation between, size_t batch) {
    act->between = between;
    for (uint32_t i = 0; i + 1 < stack->depth; i++)
        act->hidden[i] = train_arena_floats(arena, batch, stack->layer[i].outputs);
}

static taper_status drop(train_stream *s, const train_stack_activations *act, uint32_t layer,
                         size_t rows, size_t width, float *x) {
    if (!(act->dropout > 0.0f)) return TAPER_OK;
    return s->ops->dropout(s, &act->noise, layer, act->dropout, rows, width, x);
}

/* The backward pass of dropout; y becomes its value before dropout, or 0. */
static taper_status drop_backward(train_stream *s, const train_stack_activations *act,
                                  uint32_t layer, size_t rows, size_t width, float *dy) {
    /* kept values were divided by this, rounded as corruption.h says */
    const float undo = (float)((65536.0 - nearbyint(65536.0 * (double)act->dropout)) / 65536.0);
    if (!(act->dropout > 0.0f)) return TAPER_OK;
    TAPER_TRY(drop(s, act, layer, rows, width, dy));
    return s->ops->scale(s, rows * width, undo, act->hidden[layer], act->hidden[layer]);
}

taper_status train_stack_forward(train_stream *s, const codec_stack *w, size_t rows,
                                 const float *from, const train_stack_activations *act, float *to) {
    for (uint32_t i = 0; i < w->depth; i++) {
        const codec_layer *layer = &w->layer[i];
        int last = i + 1 == w->depth;
        float *y = last ? to : act->hidden[i];
        if (layer->map.width) {
            TAPER_TRY(train_convolve(s, layer, rows, from, act->between, &act->convolutions,
                                     act->convolutions.which[i], y));
            TAPER_TRY(drop(s, act, i, rows, layer->outputs, y));
            from = y;
            continue;
        }
        const train_affine affine = {.transpose_b = 1,
                                     .m = rows,
                                     .n = layer->outputs,
                                     .k = layer->inputs,
                                     .a = from,
                                     .b = layer->weight,
                                     .beta = last ? 1.0f : 0.0f,
                                     .bias = layer->bias,
                                     .activation = last ? CODEC_LINEAR : act->between,
                                     .c = y};
        TAPER_TRY(s->ops->affine(s, &affine));
        if (!last) TAPER_TRY(drop(s, act, i, rows, layer->outputs, y));
        from = y;
    }
    return TAPER_OK;
}

/* Of convolutional layer i; rows, input and gradients are left to the caller. */
static train_convolution_gradient convolution_of(const codec_stack *w,
                                                 const train_stack_activations *act, uint32_t i,
                                                 float *dweight) {
    return (train_convolution_gradient){
        .layer = &w->layer[i], .which = act->convolutions.which[i], .dweight = dweight};
}

taper_status train_stack_backward(train_stream *s, const codec_stack *w, const codec_stack *dw,
                                  size_t rows, const float *input,
                                  const train_stack_activations *act, float *dy, float *dx) {
    for (uint32_t i = w->depth; i-- > 0;) {
        const codec_layer *layer = &w->layer[i], *gradient = &dw->layer[i];
        const float *x = i ? act->hidden[i - 1] : input;
        int last = i + 1 == w->depth;
        if (!last) TAPER_TRY(drop_backward(s, act, i, rows, layer->outputs, dy));
        const uint32_t biases = codec_layer_rows(layer);
        TAPER_TRY(s->ops->bias_backward(s, rows * (layer->outputs / biases), biases,
                                        last ? CODEC_LINEAR : act->between,
                                        last ? NULL : act->hidden[i], dy, 0, gradient->bias));
        float *next = i ? act->back[i & 1] : dx;
        if (layer->map.width) {
            train_convolution_gradient g = convolution_of(w, act, i, gradient->weight);
            g.rows = rows, g.x = x, g.dy = dy, g.dx = next;
            TAPER_TRY(train_convolve_backward(s, &g, &act->convolutions));
            dy = next;
            continue;
        }
        if (x)
            TAPER_TRY(s->ops->gemm(s, 1, 0, layer->outputs, layer->inputs, rows, dy, x, 0.0f,
                                   gradient->weight));
        if (next)
            TAPER_TRY(s->ops->gemm(s, 0, 0, rows, layer->inputs, layer->outputs, dy, layer->weight,
                                   i ? 0.0f : 1.0f, next));
        dy = next;
    }
    return TAPER_OK;
}

taper_status train_stack_first_weights(train_stream *s, const codec_stack *w,
                                       const train_stack_activations *act, const float *dy,
                                       const train_stack_rows *part, float beta, float *dweight) {
    const codec_layer *layer = &w->layer[0];
    const float *of = (w->depth > 1 ? act->back[1] : dy) + part->first * layer->outputs;
    if (!layer->map.width)
        return s->ops->gemm(s, 1, 0, layer->outputs, layer->inputs, part->rows, of, part->input,
                            beta, dweight);
    train_convolution_gradient g = convolution_of(w, act, 0, dweight);
    g.which += part->first * layer->outputs;
    g.rows = part->rows, g.x = part->input, g.dy = of, g.beta = beta;
    return train_convolve_backward(s, &g, &act->convolutions);
}
