/* nested_network.c -- creating a nested-dropout autoencoder; see nested_network.h. */
#include "train/nested/nested_network.h"
#include "formats/bytes.h"
#include "train/device/operations.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>

/* --- layout ---------------------------------------------------------------------------- */

/* Points the layers' views into `at` (NULL: only counts). Returns the size of the vector. */
static size_t view(const train_nested_shape *shape, float *at, train_nested_layer *layer) {
    size_t n = 0;
    for (uint32_t l = 0; l < shape->layers; l++) {
        train_nested_layer *y = &layer[l];
        y->inputs = l ? shape->width[l - 1] : shape->inputs;
        y->outputs = shape->width[l];
        size_t weights = (size_t)y->inputs * y->outputs;
        y->w = at ? at + n : NULL, n += weights;
        y->b = at ? at + n : NULL, n += y->outputs;
        y->v = y->w;
        if (!shape->tied) y->v = at ? at + n : NULL, n += weights;
        y->c = at ? at + n : NULL, n += y->inputs;
    }
    return n;
}

/* --- creating -------------------------------------------------------------------------- */

static int shape_is_legal(const train_nested_shape *s) {
    if (!s->inputs || s->inputs > 65536 || !s->layers || s->layers > TRAIN_NESTED_MAX_LAYERS)
        return 0;
    for (uint32_t l = 0; l < s->layers; l++)
        if (!s->width[l] || s->width[l] > 65535) return 0;
    if (s->alone > (s->feedback ? s->width[s->layers - 1] : 0)) return 0;
    return s->centre >= 0.0f && s->centre <= 1.0f && (s->binary || !s->feedback);
}

static void lay_out(train_nested_network *net, size_t n) {
    net->mean = train_arena_floats(&net->arena, net->shape.inputs, 1);
    net->spread = train_arena_floats(&net->arena, net->units, 1);
    net->feedback = net->mixing = NULL;
    if (net->shape.feedback)
        net->feedback = train_arena_floats(&net->arena, net->units, net->units);
    if (train_nested_can_mix(&net->shape))
        net->mixing = train_arena_floats(&net->arena, net->units, net->units);
    net->losses = train_arena_take(&net->arena, 4, 1, sizeof *net->losses);
    net->squares = train_arena_take(&net->arena, TRAIN_NESTED_LENGTHS, 1, sizeof *net->squares);
    train_weights_lay_out(&net->weights, &net->arena, n, TRAIN_WEIGHTS_GRADIENT);
}

/* The host holds the weights of one layer at a time. */
static taper_status draw_weights(train_nested_network *net, uint32_t l, uint64_t seed) {
    const train_nested_layer *y = &net->layer[l];
    size_t n = (size_t)y->inputs * y->outputs;
    double variance = (net->shape.layers == 1 ? 0.5 : 2.0) / y->inputs;
    float *weights = malloc(n * sizeof *weights);
    if (!weights) return TAPER_ERR_NOMEM;
    train_philox_weights(weights, n, (float)sqrt(variance), seed, l);
    taper_status status = train_upload(&net->stream, y->w, weights, n * sizeof *weights);
    if (status == TAPER_OK && y->v != y->w)
        status = train_upload(&net->stream, y->v, weights, n * sizeof *weights);
    free(weights);
    return status;
}

static taper_status initialise(train_nested_network *net, const float *mean, uint64_t seed) {
    for (uint32_t l = 0; l < net->shape.layers; l++) TAPER_TRY(draw_weights(net, l, seed));
    float *none = malloc(net->units * sizeof *none);
    if (!none) return TAPER_ERR_NOMEM;
    for (uint32_t k = 0; k < net->units; k++) none[k] = -1.0f;
    taper_status status = train_upload(&net->stream, net->spread, none, net->units * sizeof *none);
    free(none);
    if (status != TAPER_OK) return status;
    return train_upload(&net->stream, net->mean, mean, net->shape.inputs * sizeof *mean);
}

static taper_status take_memory(train_nested_network *net, train_device *device) {
    size_t n = view(&net->shape, NULL, net->layer);
    lay_out(net, n);
    TAPER_TRY(train_arena_alloc(&net->arena, device));
    lay_out(net, n);
    view(&net->shape, net->weights.parameter, net->layer);
    view(&net->shape, net->weights.gradient, net->layer_gradient);
    TAPER_TRY(train_weights_keep(&net->weights, device));
    return train_nested_activations_alloc(&net->act, &net->shape, device, TRAIN_LEAST_ROWS);
}

taper_status train_nested_create(train_nested_network *net, const train_nested_shape *shape,
                                 train_device *device, const float *mean, float scale,
                                 uint64_t seed) {
    *net = (train_nested_network){.shape = *shape, .scale = scale};
    if (!shape_is_legal(shape) || !(scale > 0.0f) || !isfinite(scale)) return TAPER_ERR_ARG;
    net->units = shape->width[shape->layers - 1];
    taper_status status = train_stream_open(&net->stream, device);
    if (status == TAPER_OK) status = take_memory(net, device);
    if (status == TAPER_OK) status = initialise(net, mean, seed);
    if (status != TAPER_OK) train_nested_free(net);
    return status;
}

void train_nested_free(train_nested_network *net) {
    train_stream_close(&net->stream);
    train_nested_activations_free(&net->act);
    train_arena_free(&net->arena);
    *net = (train_nested_network){0};
}

taper_status train_nested_zero(train_nested_network *net) {
    return train_zero(&net->stream, net->weights.gradient,
                      net->weights.n * sizeof *net->weights.gradient);
}

taper_status train_nested_feed_back(train_nested_network *net) {
    enum { ROWS = TRAIN_NESTED_FEEDBACK_ROWS };
    const train_nested_layer *last = &net->layer[net->shape.layers - 1];
    train_stream *s = &net->stream;
    const size_t units = net->units, d = last->inputs;
    if (!net->feedback) return TAPER_OK;
    for (size_t k = 0; k < units; k += ROWS) {
        size_t n = formats_smaller(ROWS, units - k);
        TAPER_TRY(
            s->ops->gemm(s, 0, 1, n, k + n, d, last->w + k * d, last->v, 0.0f, net->act.products));
        TAPER_TRY(s->ops->set_lower(s, k, n, k + n, net->act.products, net->feedback, units));
    }
    return train_zero(s, net->feedback, net->shape.alone * units * sizeof *net->feedback);
}
