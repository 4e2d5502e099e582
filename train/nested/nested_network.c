/* nested_network.c -- a nested-dropout autoencoder: memory and the way forward; see
 * nested_network.h. Rows go through in blocks, which bounds the activations. */
#include "codec/backend/pool.h"
#include "train/nested/nested_parts.h"
#include "train/sampling/corruption.h"
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

static int take(float **p, size_t n) { return (*p = calloc(n ? n : 1, sizeof **p)) != NULL; }

static int take_activations(train_nested_network *net) {
    enum { BLOCK = TRAIN_NESTED_BLOCK };
    train_nested_activations *act = net->act;
    const train_nested_shape *s = &net->shape;
    size_t widest = s->inputs;
    int ok = take(&act->centred, BLOCK * (size_t)s->inputs) &&
             take(&act->input, 2 * BLOCK * (size_t)s->inputs) &&
             take(&act->back_hidden[0], BLOCK * (size_t)s->inputs);
    for (uint32_t l = 0; l < s->layers; l++) {
        size_t width = s->width[l];
        widest = widest > width ? widest : width;
        if (l + 1 == s->layers) break;
        ok = ok && take(&act->hidden[l], 2 * BLOCK * width) &&
             take(&act->back_hidden[l + 1], BLOCK * width);
    }
    size_t units = net->units;
    ok = ok && take(&act->pre, 2 * BLOCK * units) && take(&act->code, BLOCK * units) &&
         take(&act->packed, 2 * BLOCK * units + widest) &&
         take(&act->wide[0], 2 * BLOCK * widest) && take(&act->wide[1], 2 * BLOCK * widest);
    act->row_error = calloc(BLOCK, sizeof *act->row_error);
    act->row_noise = calloc(BLOCK, sizeof *act->row_noise);
    return ok && act->row_error && act->row_noise;
}

static void free_activations(train_nested_activations *act) {
    if (!act) return;
    for (int l = 0; l < TRAIN_NESTED_MAX_LAYERS; l++) {
        free(act->hidden[l]), free(act->back_hidden[l]);
    }
    free(act->centred), free(act->input), free(act->pre), free(act->code), free(act->packed);
    free(act->wide[0]), free(act->wide[1]), free(act->row_error), free(act->row_noise);
    free(act);
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
    net->act = calloc(1, sizeof *net->act);
    if (!net->act || !take(&net->mean, shape->inputs) || !take(&net->parameter, net->n) ||
        !take(&net->gradient, net->n) || !take(&net->spread, net->units) ||
        !take_activations(net)) {
        train_nested_free(net);
        return TAPER_ERR_NOMEM;
    }
    view(shape, net->parameter, net->layer);
    view(shape, net->gradient, net->slope);
    memcpy(net->mean, mean, shape->inputs * sizeof *mean);
    initialise(net, seed);
    return TAPER_OK;
}

void train_nested_free(train_nested_network *net) {
    free_activations(net->act);
    free(net->mean), free(net->parameter), free(net->gradient), free(net->spread);
    *net = (train_nested_network){0};
}

void train_nested_zero(train_nested_network *net) {
    memset(net->gradient, 0, net->n * sizeof *net->gradient);
}

/* --- loading rows ---------------------------------------------------------------------- */

static void load_rows(void *context, size_t block) {
    const train_nested_rows *t = context;
    train_nested_activations *act = t->net->act;
    const size_t d = t->net->shape.inputs,
                 end = train_nested_smaller(act->n, (block + 1) * TRAIN_NESTED_ROWS);
    const float inverse = 1.0f / t->net->scale, *mean = t->net->mean;
    for (size_t i = block * TRAIN_NESTED_ROWS; i < end; i++) {
        const uint8_t *y = t->data->pixels + (t->order ? t->order[i] : i) * d;
        float *c = act->centred + i * d;
        for (size_t j = 0; j < d; j++) c[j] = ((float)y[j] - mean[j]) * inverse;
    }
}

void train_nested_load(train_nested_rows *rows, size_t n, int twice) {
    train_nested_activations *act = rows->net->act;
    act->n = n;
    act->encoded = twice ? 2 * n : n;
    codec_pool_run(rows->net->be->pool, load_rows, rows, train_nested_row_blocks(n));
}

/* --- forward --------------------------------------------------------------------------- */

typedef struct drop_task {
    const train_nested_rows *rows;
    size_t n, width;
    uint32_t layer;
    float *values;
} drop_task;

static void drop_rows(void *context, size_t block) {
    const drop_task *t = context;
    const train_nested_step *s = t->rows->step;
    size_t first = block * TRAIN_NESTED_ROWS,
           n = train_nested_smaller(t->n - first, TRAIN_NESTED_ROWS);
    train_noise noise = {s->seed, s->step, t->rows->first_row + first};
    train_dropout_rows(&noise, t->layer, s->dropout, n, t->width, t->width,
                       t->values + first * t->width);
}

void train_nested_drop(const train_nested_rows *rows, int side, uint32_t l, size_t n,
                       float *values) {
    const train_nested_network *net = rows->net;
    if (!rows->step || !(rows->step->dropout > 0.0f)) return;
    for (size_t copy = 0; copy < n; copy += net->act->n) {
        drop_task task = {rows, net->act->n, net->shape.width[l],
                          l + (uint32_t)side * TRAIN_NESTED_MAX_LAYERS,
                          values + copy * net->shape.width[l]};
        codec_pool_run(net->be->pool, drop_rows, &task, train_nested_row_blocks(net->act->n));
    }
}

taper_status train_nested_encode_block(train_nested_rows *rows, const float *input, size_t n,
                                       uint32_t active) {
    train_nested_network *net = rows->net;
    train_nested_activations *act = net->act;
    const codec_backend_ops *ops = net->be->ops;
    const float *from = input;
    for (uint32_t l = 0; l < net->shape.layers; l++) {
        const train_nested_layer *y = &net->layer[l];
        int last = l + 1 == net->shape.layers;
        float *to = last ? act->pre : act->hidden[l];
        uint32_t outputs = last ? active : y->outputs;
        TAPER_TRY(ops->gemm(net->be, 0, 1, n, outputs, y->inputs, from, y->w, 0.0f, to));
        /* a binary unit is compared with its threshold, -b, instead */
        if (!last || !net->shape.binary)
            TAPER_TRY(
                ops->bias(net->be, n, outputs, y->b, last ? CODEC_LINEAR : net->shape.hidden, to));
        if (!last) train_nested_drop(rows, 0, l, n, to);
        from = to;
    }
    act->active = active;
    return TAPER_OK;
}

float train_nested_code_value(const train_nested_network *net, uint32_t k, float a) {
    const train_nested_shape *s = &net->shape;
    if (s->binary) return (a > train_nested_threshold(net, k) ? 1.0f : 0.0f) - s->centre;
    if (s->code == CODEC_RELU) return a > 0.0f ? a : 0.0f;
    return s->code == CODEC_LOGISTIC ? 1.0f / (1.0f + expf(-a)) : a;
}

taper_status train_nested_decode_block(train_nested_rows *rows, const float *code, size_t n,
                                       uint32_t active) {
    train_nested_network *net = rows->net;
    train_nested_activations *act = net->act;
    const codec_backend_ops *ops = net->be->ops;
    const float *from = code;
    for (uint32_t l = net->shape.layers; l-- > 0;) {
        const train_nested_layer *y = &net->layer[l];
        uint32_t k = l + 1 == net->shape.layers ? active : y->outputs;
        float *to = act->back_hidden[l];
        if (k)
            TAPER_TRY(ops->gemm(net->be, 0, 0, n, y->inputs, k, from, y->v, 0.0f, to));
        else
            memset(to, 0, n * y->inputs * sizeof *to);
        TAPER_TRY(ops->bias(net->be, n, y->inputs, y->c, l ? net->shape.hidden : CODEC_LINEAR, to));
        if (l) train_nested_drop(rows, 1, l - 1, n, to);
        from = to;
    }
    return TAPER_OK;
}

static void error_rows(void *context, size_t block) {
    const train_nested_rows *t = context;
    train_nested_activations *act = t->net->act;
    const size_t d = t->net->shape.inputs,
                 end = train_nested_smaller(act->n, (block + 1) * TRAIN_NESTED_ROWS);
    for (size_t i = block * TRAIN_NESTED_ROWS; i < end; i++) {
        float *e = act->back_hidden[0] + i * d;
        const float *c = act->centred + i * d;
        double lane[8] = {0}, sum = 0.0;
        size_t j = 0;
        for (; j + 8 <= d; j += 8)
            for (size_t l = 0; l < 8; l++) {
                e[j + l] -= c[j + l];
                lane[l] += (double)e[j + l] * e[j + l];
            }
        for (; j < d; j++) e[j] -= c[j], sum += (double)e[j] * e[j];
        for (size_t l = 0; l < 8; l++) sum += lane[l];
        act->row_error[i] = sum / (double)d;
    }
}

void train_nested_error_block(train_nested_rows *rows) {
    train_nested_network *net = rows->net;
    codec_pool_run(net->be->pool, error_rows, rows, train_nested_row_blocks(net->act->n));
}
