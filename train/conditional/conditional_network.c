/* conditional_network.c -- see conditional_network.h. */
#include "train/conditional/conditional_network.h"
#include "codec/backend/pool.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROW_BLOCK = 64,
    MIDDLES = CODEC_CONDITIONAL_MIDDLES,
    SIDES = CODEC_CONDITIONAL_SIDES,
    LAYERS = TRAIN_CONDITIONAL_LAYERS
};

static const float top = 127.0f / CODEC_CONDITIONAL_ACTIVATION_ONE;

/* --- memory ---------------------------------------------------------------------------- */

/* Views into a vector, or, from NULL, its length. */
static size_t view(const codec_conditional *c, size_t columns, float *vector,
                   train_conditional_weights *w) {
    size_t h = c->hidden, at = 0;
    float **part[] = {&w->first,     &w->stage,   &w->middle[0], &w->bias[0],
                      &w->middle[1], &w->bias[1], &w->out,       &w->pass_bias};
    const size_t length[] = {columns * h,
                             c->stages * h,
                             h * h,
                             h,
                             h * h,
                             h,
                             (size_t)c->units * c->kinds * h,
                             (size_t)c->kinds * c->end};
    for (size_t i = 0; i < sizeof part / sizeof *part; at += length[i++])
        *part[i] = vector ? vector + at : NULL;
    return at;
}

taper_status train_conditional_create(train_conditional_network *net,
                                      const codec_conditional *shape, codec_backend *be,
                                      size_t room, uint64_t seed) {
    codec_conditional trial = *shape; /* is the shape legal? */
    TAPER_TRY(codec_conditional_alloc(&trial));
    codec_conditional_free(&trial);
    *net = (train_conditional_network){.shape = *shape, .be = be, .room = room};
    net->columns = 2 * codec_conditional_inputs(shape->own, shape->neighbour_units) + SIDES;
    net->n = view(shape, net->columns, NULL, &net->w);
    size_t h = shape->hidden, cells = room * h;
    int ok = train_zeros(&net->parameter, net->n, 1) && train_zeros(&net->gradient, net->n, 1) &&
             train_zeros(&net->x, room, net->columns) && train_zeros(&net->dh[0], cells, 1) &&
             train_zeros(&net->dh[1], cells, 1) &&
             train_zeros(&net->dbias, room / ROW_BLOCK + 1, h);
    for (int i = 0; i < LAYERS; i++) ok = ok && train_zeros(&net->h[i], cells, 1);
    for (int i = 0; i < MIDDLES; i++) ok = ok && train_zeros(&net->added[i], cells, 1);
    if (!ok) {
        train_conditional_free(net);
        return TAPER_ERR_NOMEM;
    }
    view(shape, net->columns, net->parameter, &net->w);
    view(shape, net->columns, net->gradient, &net->w_gradient);
    /* few inputs differ from 0 at a time: as many as `own` is a fair guess */
    train_philox_weights(net->w.first, (net->columns - SIDES) * h, 0.7f / sqrtf((float)shape->own),
                         seed, 0);
    for (size_t i = 0; i < shape->stages * h; i++) net->w.stage[i] = 0.5f;
    for (int i = 0; i < MIDDLES; i++)
        train_philox_weights(net->w.middle[i], h * h, 0.7f / sqrtf((float)h), seed,
                             1 + (uint64_t)i);
    return TAPER_OK;
}

void train_conditional_free(train_conditional_network *net) {
    free(net->parameter), free(net->gradient), free(net->x), free(net->dh[0]), free(net->dh[1]),
        free(net->dbias);
    for (int i = 0; i < LAYERS; i++) free(net->h[i]);
    for (int i = 0; i < MIDDLES; i++) free(net->added[i]);
    *net = (train_conditional_network){0};
}

/* --- forward --------------------------------------------------------------------------- */

/* What is done to every row between the matrix products. */
typedef struct row_task {
    train_conditional_network *net;
    uint32_t stage;
    int layer;
    float *dbias; /* [blocks][hidden], sums over a block's rows */
} row_task;

static size_t blocks_of(const train_conditional_network *net) {
    return (net->rows + ROW_BLOCK - 1) / ROW_BLOCK;
}

static void rows_of(const row_task *t, size_t block, size_t *first, size_t *end) {
    *first = block * ROW_BLOCK;
    *end = *first + ROW_BLOCK < t->net->rows ? *first + ROW_BLOCK : t->net->rows;
}

static inline float clip(float z) { return z > top ? top : z > 0.0f ? z : 0.0f; }

static void finish_first(void *context, size_t block) {
    const row_task *t = context;
    size_t h = t->net->shape.hidden, r, end;
    const float *restrict bias = t->net->w.stage + t->stage * h;
    for (rows_of(t, block, &r, &end); r < end; r++) {
        float *restrict x = t->net->h[0] + r * h;
        for (size_t i = 0; i < h; i++) x[i] = clip(x[i] + bias[i]);
    }
}

static void finish_middle(void *context, size_t block) {
    const row_task *t = context;
    size_t h = t->net->shape.hidden, r, end;
    const float *restrict bias = t->net->w.bias[t->layer];
    for (rows_of(t, block, &r, &end); r < end; r++) {
        float *restrict added = t->net->added[t->layer] + r * h;
        const float *restrict from = t->net->h[t->layer] + r * h;
        float *restrict to = t->net->h[t->layer + 1] + r * h;
        for (size_t i = 0; i < h; i++) {
            added[i] = clip(added[i] + bias[i]);
            float sum = from[i] + added[i];
            to[i] = sum < top ? sum : top;
        }
    }
}

taper_status train_conditional_forward(train_conditional_network *net, uint32_t stage,
                                       size_t rows) {
    size_t h = net->shape.hidden;
    codec_gemm_fn *gemm = net->be->ops->gemm;
    net->rows = rows;
    row_task task = {net, stage, 0, NULL};
    TAPER_TRY(gemm(net->be, 0, 0, rows, h, net->columns, net->x, net->w.first, 0.0f, net->h[0]));
    codec_pool_run(net->be->pool, finish_first, &task, blocks_of(net));
    for (task.layer = 0; task.layer < MIDDLES; task.layer++) {
        TAPER_TRY(gemm(net->be, 0, 1, rows, h, h, net->h[task.layer], net->w.middle[task.layer],
                       0.0f, net->added[task.layer]));
        codec_pool_run(net->be->pool, finish_middle, &task, blocks_of(net));
    }
    return TAPER_OK;
}

/* Rows of out of some units, one after the other; with `back`, added from there. */
static void gather(const train_conditional_network *net, const uint32_t *unit, size_t n, float *all,
                   float *some, int back) {
    size_t size = (size_t)net->shape.kinds * net->shape.hidden;
    for (size_t i = 0; i < n; i++) {
        float *of_unit = all + unit[i] * size, *row = some + i * size;
        for (size_t j = 0; j < size; j++)
            if (back)
                of_unit[j] += row[j];
            else
                row[j] = of_unit[j];
    }
}

taper_status train_conditional_logits(train_conditional_network *net, const uint32_t *unit,
                                      size_t n_units, float *logit) {
    size_t h = net->shape.hidden, outputs = n_units * net->shape.kinds;
    float *w = malloc(outputs * h * sizeof *w);
    if (!w) return TAPER_ERR_NOMEM;
    gather(net, unit, n_units, net->w.out, w, 0);
    taper_status status = net->be->ops->gemm(net->be, 0, 1, net->rows, outputs, h,
                                             net->h[LAYERS - 1], w, 0.0f, logit);
    free(w);
    return status;
}

/* --- backward -------------------------------------------------------------------------- */

/* d loss / d out, and d loss / d h2 into dh[0]. */
static taper_status through_outputs(train_conditional_network *net, const uint32_t *unit,
                                    size_t n_units, const float *dlogit) {
    size_t h = net->shape.hidden, outputs = n_units * net->shape.kinds;
    float *w = malloc(outputs * h * sizeof *w);
    if (!w) return TAPER_ERR_NOMEM;
    gather(net, unit, n_units, net->w.out, w, 0);
    codec_gemm_fn *gemm = net->be->ops->gemm;
    taper_status status = gemm(net->be, 0, 0, net->rows, h, outputs, dlogit, w, 0.0f, net->dh[0]);
    if (status == TAPER_OK)
        status = gemm(net->be, 1, 0, outputs, h, net->rows, dlogit, net->h[LAYERS - 1], 0.0f, w);
    if (status == TAPER_OK) gather(net, unit, n_units, net->w_gradient.out, w, 1);
    free(w);
    return status;
}

/* Slopes of what a middle layer added into dh[1], with their sums over the block. */
static void start_middle(void *context, size_t block) {
    const row_task *t = context;
    size_t h = t->net->shape.hidden, r, end;
    float *restrict sum = t->dbias + block * h;
    memset(sum, 0, h * sizeof *sum);
    for (rows_of(t, block, &r, &end); r < end; r++) {
        const float *restrict to = t->net->h[t->layer + 1] + r * h;
        const float *restrict added = t->net->added[t->layer] + r * h;
        float *restrict dto = t->net->dh[0] + r * h, *restrict dadded = t->net->dh[1] + r * h;
        for (size_t i = 0; i < h; i++) {
            dto[i] = to[i] < top ? dto[i] : 0.0f;
            dadded[i] = added[i] > 0.0f && added[i] < top ? dto[i] : 0.0f;
            sum[i] += dadded[i];
        }
    }
}

static void start_first(void *context, size_t block) {
    const row_task *t = context;
    size_t h = t->net->shape.hidden, r, end;
    float *restrict sum = t->dbias + block * h;
    memset(sum, 0, h * sizeof *sum);
    for (rows_of(t, block, &r, &end); r < end; r++) {
        const float *restrict x = t->net->h[0] + r * h;
        float *restrict dx = t->net->dh[0] + r * h;
        for (size_t i = 0; i < h; i++) {
            dx[i] = x[i] > 0.0f && x[i] < top ? dx[i] : 0.0f;
            sum[i] += dx[i];
        }
    }
}

/* The blocks' sums, in their order, into a bias's gradient. */
static void run_and_sum(row_task *t, codec_task_fn *fn, float *gradient) {
    size_t h = t->net->shape.hidden, blocks = blocks_of(t->net);
    codec_pool_run(t->net->be->pool, fn, t, blocks);
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < h; i++) gradient[i] += t->dbias[b * h + i];
}

/* dh[0] from h(l + 1) to h(l). */
static taper_status through_middle(row_task *t) {
    train_conditional_network *net = t->net;
    size_t h = net->shape.hidden, rows = net->rows;
    codec_gemm_fn *gemm = net->be->ops->gemm;
    run_and_sum(t, start_middle, net->w_gradient.bias[t->layer]);
    TAPER_TRY(gemm(net->be, 1, 0, h, h, rows, net->dh[1], net->h[t->layer], 1.0f,
                   net->w_gradient.middle[t->layer]));
    return gemm(net->be, 0, 0, rows, h, h, net->dh[1], net->w.middle[t->layer], 1.0f, net->dh[0]);
}

taper_status train_conditional_backward(train_conditional_network *net, uint32_t stage,
                                        const uint32_t *unit, size_t n_units, const float *dlogit) {
    size_t h = net->shape.hidden;
    row_task task = {net, stage, 0, net->dbias};
    TAPER_TRY(through_outputs(net, unit, n_units, dlogit));
    for (task.layer = MIDDLES - 1; task.layer >= 0; task.layer--) TAPER_TRY(through_middle(&task));
    run_and_sum(&task, start_first, net->w_gradient.stage + stage * h);
    return net->be->ops->gemm(net->be, 1, 0, net->columns, h, net->rows, net->x, net->dh[0], 1.0f,
                              net->w_gradient.first);
}

/* --- integers -------------------------------------------------------------------------- */

/* activations are kept in 1/16, sums before them in 1/16 of that */
static const float sum_one = 16.0f * CODEC_CONDITIONAL_ACTIVATION_ONE, pass_one = 64.0f;

/* The finest step 2^-k at which n weights, `stride` apart, fit 8 bits; k is returned. */
static uint8_t shift_for(const float *w, size_t n, size_t stride) {
    float most = 1e-9f;
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(w[i * stride]));
    int k = 0;
    /* the first layer's shift is one more than k */
    while (k + 1 < CODEC_INT_MATRIX_MOST_SHIFT && ldexpf(most, k + 1) < 127.5f) k++;
    return (uint8_t)k;
}

/* Element (r, c) of a matrix of integers lies at r * row + c * column. */
typedef struct strides {
    size_t row, column;
} strides;

static void export_rows(const float *w, size_t rows, size_t columns, int8_t *to, strides at,
                        uint8_t *shift) {
    for (size_t r = 0; r < rows; r++, w += columns) {
        shift[r] = shift_for(w, columns, 1);
        for (size_t c = 0; c < columns; c++)
            to[r * at.row + c * at.column] = (int8_t)train_rounded(ldexpf(w[c], shift[r]), 127);
    }
}

static void export_biases(const float *b, size_t n, float one, int32_t *to) {
    for (size_t i = 0; i < n; i++) to[i] = train_rounded(b[i] * one, CODEC_CONDITIONAL_MOST_BIAS);
}

taper_status train_conditional_export(const train_conditional_network *net, codec_conditional *to) {
    const train_conditional_weights *w = &net->w;
    size_t h = net->shape.hidden, inputs = net->columns - SIDES;
    *to = net->shape;
    TAPER_TRY(codec_conditional_alloc(to));
    for (size_t j = 0; j < h; j++) {
        to->first_shift[j] = shift_for(w->first + j, inputs, h);
        for (size_t i = 0; i < inputs; i++)
            to->first[i * h + j] =
                (int8_t)train_rounded(ldexpf(w->first[i * h + j], to->first_shift[j]), 127);
    }
    export_biases(w->first + inputs * h, SIDES * h, sum_one, to->place);
    export_biases(w->stage, net->shape.stages * h, sum_one, to->stage);
    for (int l = 0; l < MIDDLES; l++) {
        export_rows(w->middle[l], h, h, to->middle[l], (strides){1, h}, to->middle_shift[l]);
        export_biases(w->bias[l], h, sum_one, to->middle_bias[l]);
    }
    export_rows(w->out, (size_t)net->shape.units * net->shape.kinds, h, to->out, (strides){h, 1},
                to->out_shift);
    export_biases(w->pass_bias, (size_t)net->shape.kinds * net->shape.end, pass_one, to->bias);
    codec_conditional_pack(to);
    return TAPER_OK;
}

static void import_rows(float *w, size_t rows, size_t columns, const int8_t *from, strides at,
                        const uint8_t *shift) {
    for (size_t r = 0; r < rows; r++, w += columns)
        for (size_t c = 0; c < columns; c++)
            w[c] = ldexpf((float)from[r * at.row + c * at.column], -shift[r]);
}

static void import_biases(float *b, size_t n, float one, const int32_t *from) {
    for (size_t i = 0; i < n; i++) b[i] = (float)from[i] / one;
}

void train_conditional_import(train_conditional_network *net, const codec_conditional *from) {
    train_conditional_weights *w = &net->w;
    size_t h = net->shape.hidden, inputs = net->columns - SIDES;
    for (size_t i = 0; i < inputs; i++)
        for (size_t j = 0; j < h; j++)
            w->first[i * h + j] = ldexpf((float)from->first[i * h + j], -from->first_shift[j]);
    import_biases(w->first + inputs * h, SIDES * h, sum_one, from->place);
    import_biases(w->stage, net->shape.stages * h, sum_one, from->stage);
    for (int l = 0; l < MIDDLES; l++) {
        import_rows(w->middle[l], h, h, from->middle[l], (strides){1, h}, from->middle_shift[l]);
        import_biases(w->bias[l], h, sum_one, from->middle_bias[l]);
    }
    import_rows(w->out, (size_t)net->shape.units * net->shape.kinds, h, from->out, (strides){h, 1},
                from->out_shift);
    import_biases(w->pass_bias, (size_t)net->shape.kinds * net->shape.end, pass_one, from->bias);
}
