/* nested_forward.c -- the forward pass; see nested_forward.h. */
#include "train/nested/nested_forward.h"

taper_status train_nested_load(train_nested_rows *rows, size_t n, int twice) {
    train_nested_network *net = rows->net;
    train_stream *s = &net->stream;
    train_nested_activations *act = &net->act;
    const train_nested_step *step = rows->step;
    const train_inputs *in = &act->rows;
    act->n = n;
    act->encoded = twice ? 2 * n : n;
    act->rows = (train_inputs){n,           net->shape.inputs, rows->pixels,
                               rows->order, net->mean,         1.0f / net->scale};
    if (!step || !(step->corruption > 0.0f))
        return s->ops->centre_rows(s, n, in->width, in->pixels, in->order, in->mean,
                                   in->inverse_scale, act->input);
    const train_corruption corruption = {
        .inputs = *in,
        .noise = {step->seed, step->step, rows->first_row, step->position},
        .p = step->corruption,
        .corrupted = act->input};
    return s->ops->corrupt(s, &corruption);
}

train_units train_nested_units(const train_nested_network *net, size_t n, uint32_t units,
                               const uint32_t *kept, int straight_through) {
    return (train_units){.rows = n,
                         .units = units,
                         .kept = kept,
                         .binary = net->shape.binary,
                         .activation = net->shape.code,
                         .centre = net->shape.centre,
                         .bias = net->layer[net->shape.layers - 1].b,
                         .spread = straight_through ? net->spread : NULL};
}

taper_status train_nested_drop(const train_nested_rows *rows, int side, uint32_t l, size_t n,
                               float *values) {
    train_nested_network *net = rows->net;
    const train_nested_step *step = rows->step;
    const size_t width = net->shape.width[l];
    if (!step || !(step->dropout > 0.0f)) return TAPER_OK;
    const train_noise noise = {step->seed, step->step, rows->first_row, step->position};
    const uint32_t layer = l + (uint32_t)side * TRAIN_NESTED_MAX_LAYERS;
    for (size_t copy = 0; copy < n; copy += net->act.n)
        TAPER_TRY(net->stream.ops->dropout(&net->stream, &noise, layer, step->dropout, net->act.n,
                                           width, values + copy * width));
    return TAPER_OK;
}

taper_status train_nested_encode_block(train_nested_rows *rows, const float *input, size_t n,
                                       uint32_t active) {
    train_nested_network *net = rows->net;
    train_stream *s = &net->stream;
    const float *from = input;
    for (uint32_t l = 0; l < net->shape.layers; l++) {
        const train_nested_layer *y = &net->layer[l];
        int last = l + 1 == net->shape.layers;
        float *to = last ? net->act.pre : net->act.hidden[l];
        uint32_t outputs = last ? active : y->outputs;
        /* a binary unit has no bias here, because it is compared with its threshold, -b */
        const float *bias = last && net->shape.binary ? NULL : y->b;
        const train_affine layer = {.transpose_b = 1,
                                    .m = n,
                                    .n = outputs,
                                    .k = y->inputs,
                                    .a = from,
                                    .b = y->w,
                                    .bias = bias,
                                    .activation = last ? CODEC_LINEAR : net->shape.hidden,
                                    .c = to};
        if (bias)
            TAPER_TRY(s->ops->affine(s, &layer));
        else
            TAPER_TRY(s->ops->gemm(s, 0, 1, n, outputs, y->inputs, from, y->w, 0.0f, to));
        if (!last) TAPER_TRY(train_nested_drop(rows, 0, l, n, to));
        from = to;
    }
    net->act.active = active;
    return TAPER_OK;
}

taper_status train_nested_decide(train_nested_rows *rows, int straight_through, size_t n,
                                 uint32_t active, const uint32_t *kept, float *x) {
    train_nested_network *net = rows->net;
    train_stream *s = &net->stream;
    const train_units units = train_nested_units(net, n, active, kept, straight_through);
    if (!net->feedback) return s->ops->unit_values(s, &units, net->act.pre, x);
    return s->ops->decide(s, &units, net->feedback, net->units, net->act.pre, x);
}

taper_status train_nested_decode_block(train_nested_rows *rows, const float *code, size_t n,
                                       uint32_t active, float *g_0) {
    train_nested_network *net = rows->net;
    train_stream *s = &net->stream;
    const float *from = code;
    if (net->mixed) {
        TAPER_TRY(s->ops->mix(s, n, active, net->mixing, net->units, code, net->act.mixed));
        from = net->act.mixed;
    }
    for (uint32_t l = net->shape.layers; l-- > 0;) {
        const train_nested_layer *y = &net->layer[l];
        uint32_t k = l + 1 == net->shape.layers ? active : y->outputs;
        float *to = l ? net->act.back_hidden[l] : g_0;
        const train_affine layer = {.m = n,
                                    .n = y->inputs,
                                    .k = k,
                                    .a = from,
                                    .b = y->v,
                                    .bias = y->c,
                                    .activation = l ? net->shape.hidden : CODEC_LINEAR,
                                    .c = to};
        if (k) {
            TAPER_TRY(s->ops->affine(s, &layer));
        } else {
            TAPER_TRY(train_zero(s, to, n * y->inputs * sizeof *to));
            TAPER_TRY(s->ops->bias(s, n, y->inputs, y->c, layer.activation, to));
        }
        if (l) TAPER_TRY(train_nested_drop(rows, 1, l - 1, n, to));
        from = to;
    }
    return TAPER_OK;
}

taper_status train_nested_error_block(train_nested_rows *rows, float factor, const float *g_0,
                                      float *errors) {
    train_nested_network *net = rows->net;
    return net->stream.ops->mean_errors(&net->stream, &net->act.rows, factor, g_0, errors,
                                        net->act.row_error);
}
