/* nested_network.c -- a nested-dropout autoencoder: making it; see nested_network.h. */
#include "train/nested/nested_network.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- layout ---------------------------------------------------------------------------- */

/* Point the layers' views into `at` (or just count): returns the numbers in the vector. */
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

/* --- making ---------------------------------------------------------------------------- */

static int shape_is_legal(const train_nested_shape *s) {
    if (!s->inputs || s->inputs > 65536 || !s->layers || s->layers > TRAIN_NESTED_MAX_LAYERS)
        return 0;
    for (uint32_t l = 0; l < s->layers; l++)
        if (!s->width[l] || s->width[l] > 65535) return 0;
    return s->centre >= 0.0f && s->centre <= 1.0f;
}

static void initialise(train_nested_network *net, uint64_t seed) {
    for (uint32_t l = 0; l < net->shape.layers; l++) {
        train_nested_layer *y = &net->layer[l];
        size_t weights = (size_t)y->inputs * y->outputs;
        double variance = (net->shape.layers == 1 ? 0.5 : 2.0) / y->inputs;
        train_philox_weights(y->w, weights, (float)sqrt(variance), seed, l);
        if (y->v != y->w) memcpy(y->v, y->w, weights * sizeof *y->v);
    }
    for (uint32_t k = 0; k < net->units; k++) net->spread[k] = 1.0f;
}

taper_status train_nested_create(train_nested_network *net, const train_nested_shape *shape,
                                 codec_backend *be, const float *mean, float scale, uint64_t seed) {
    *net = (train_nested_network){.shape = *shape, .be = be, .scale = scale};
    if (!shape_is_legal(shape) || !(scale > 0.0f) || !isfinite(scale)) return TAPER_ERR_ARG;
    net->units = shape->width[shape->layers - 1];
    net->n = view(shape, NULL, net->layer);
    net->act = train_nested_activations_create(shape);
    if (!net->act || !train_zeros(&net->mean, shape->inputs, 1) ||
        !train_zeros(&net->parameter, net->n, 1) || !train_zeros(&net->gradient, net->n, 1) ||
        !train_zeros(&net->spread, net->units, 1)) {
        train_nested_free(net);
        return TAPER_ERR_NOMEM;
    }
    view(shape, net->parameter, net->layer);
    view(shape, net->gradient, net->layer_gradient);
    memcpy(net->mean, mean, shape->inputs * sizeof *mean);
    initialise(net, seed);
    return TAPER_OK;
}

void train_nested_free(train_nested_network *net) {
    train_nested_activations_free(net->act);
    free(net->mean), free(net->parameter), free(net->gradient), free(net->spread);
    *net = (train_nested_network){0};
}

void train_nested_zero(train_nested_network *net) {
    memset(net->gradient, 0, net->n * sizeof *net->gradient);
}
