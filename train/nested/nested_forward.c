/* nested_forward.c -- the way forward; see nested_forward.h. */
#include "train/nested/nested_forward.h"
#include "codec/backend/pool.h"
#include "train/sampling/corruption.h"
#include <math.h>
#include <string.h>

/* --- loading rows ---------------------------------------------------------------------- */

static void load_rows(void *context, size_t block) {
    const train_nested_rows *t = context;
    train_nested_activations *act = t->net->act;
    const size_t d = t->net->shape.inputs,
                 end = formats_smaller(act->n, (block + 1) * TRAIN_NESTED_ROWS);
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
    size_t first = block * TRAIN_NESTED_ROWS, n = formats_smaller(t->n - first, TRAIN_NESTED_ROWS);
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
                 end = formats_smaller(act->n, (block + 1) * TRAIN_NESTED_ROWS);
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
