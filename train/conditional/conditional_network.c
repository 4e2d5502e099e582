/* conditional_network.c -- see conditional_network.h. */
#include "train/conditional/conditional_network.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>

enum {
    MIDDLES = CODEC_CONDITIONAL_MIDDLES,
    SIDES = CODEC_CONDITIONAL_SIDES,
    LAYERS = TRAIN_CONDITIONAL_LAYERS
};

static const float top = 127.0f / CODEC_CONDITIONAL_ACTIVATION_ONE;

/* --- memory ---------------------------------------------------------------------------- */

/* Points views into a vector. vector NULL: only counts. Returns its length. */
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

static void lay_out(train_conditional_network *net) {
    train_arena *a = &net->arena;
    const codec_conditional *c = &net->shape;
    size_t h = c->hidden;
    train_weights_lay_out(&net->weights, a, view(c, net->columns, NULL, &net->w),
                          TRAIN_WEIGHTS_TRAIN);
    view(c, net->columns, net->weights.parameter, &net->w);
    view(c, net->columns, net->weights.gradient, &net->w_gradient);
    net->x = train_arena_floats(a, net->capacity, net->columns);
    for (int i = 0; i < LAYERS; i++) net->h[i] = train_arena_floats(a, net->capacity, h);
    for (int i = 0; i < MIDDLES; i++) net->added[i] = train_arena_floats(a, net->capacity, h);
    for (int i = 0; i < 2; i++) net->dh[i] = train_arena_floats(a, net->capacity, h);
    net->column_sums = train_arena_floats(a, train_sum_blocks(net->capacity), h);
    net->out = train_arena_floats(a, net->asked, c->kinds * h);
}

/* Fills parameters on the host by fill(net, views of them, context) and uploads them. */
typedef void fill_fn(const train_conditional_network *net, const train_conditional_weights *w,
                     const void *context);

static taper_status upload(train_conditional_network *net, fill_fn *fill, const void *context) {
    train_conditional_weights w;
    float *host = calloc(net->weights.n, sizeof *host);
    if (!host) return TAPER_ERR_NOMEM;
    view(&net->shape, net->columns, host, &w);
    fill(net, &w, context);
    taper_status status =
        train_upload(&net->stream, net->weights.parameter, host, net->weights.n * sizeof *host);
    free(host);
    return status;
}

static void draw(const train_conditional_network *net, const train_conditional_weights *w,
                 const void *context) {
    const uint64_t seed = *(const uint64_t *)context;
    size_t h = net->shape.hidden;
    /* few inputs are nonzero at a time, approximately `own` of them */
    train_philox_weights(w->first, (net->columns - SIDES) * h, 0.7f / sqrtf((float)net->shape.own),
                         seed, 0);
    for (size_t i = 0; i < net->shape.stages * h; i++) w->stage[i] = 0.5f;
    for (int i = 0; i < MIDDLES; i++)
        train_philox_weights(w->middle[i], h * h, 0.7f / sqrtf((float)h), seed, 1 + (uint64_t)i);
}

taper_status train_conditional_create(train_conditional_network *net,
                                      const codec_conditional *shape, train_device *device,
                                      size_t capacity, size_t asked, uint64_t seed) {
    codec_conditional trial = *shape; /* checks the shape */
    *net = (train_conditional_network){.shape = *shape, .capacity = capacity, .asked = asked};
    TAPER_TRY(codec_conditional_alloc(&trial));
    codec_conditional_free(&trial);
    net->columns = 2 * codec_conditional_inputs(shape->own, shape->neighbour_units) + SIDES;
    lay_out(net);
    taper_status status = train_arena_alloc(&net->arena, device);
    if (status == TAPER_OK) {
        lay_out(net);
        status = train_stream_open(&net->stream, device);
    }
    if (status == TAPER_OK) status = train_weights_keep(&net->weights, device);
    if (status == TAPER_OK) status = upload(net, draw, &seed);
    if (status != TAPER_OK) train_conditional_free(net);
    return status;
}

void train_conditional_free(train_conditional_network *net) {
    train_stream_close(&net->stream);
    train_arena_free(&net->arena);
    *net = (train_conditional_network){0};
}

/* --- forward --------------------------------------------------------------------------- */

static train_residual residual(const train_conditional_network *net, int l) {
    return (train_residual){.rows = net->rows,
                            .width = net->shape.hidden,
                            .top = top,
                            .bias = net->w.bias[l],
                            .from = net->h[l],
                            .added = net->added[l],
                            .to = net->h[l + 1]};
}

taper_status train_conditional_forward(train_conditional_network *net, uint32_t stage,
                                       size_t rows) {
    train_stream *s = &net->stream;
    size_t h = net->shape.hidden;
    net->rows = rows;
    TAPER_TRY(s->ops->gemm(s, 0, 0, rows, h, net->columns, net->x, net->w.first, 0.0f, net->h[0]));
    TAPER_TRY(s->ops->clip(s, rows, h, net->w.stage + stage * h, top, net->h[0]));
    for (int l = 0; l < MIDDLES; l++) {
        TAPER_TRY(
            s->ops->gemm(s, 0, 1, rows, h, h, net->h[l], net->w.middle[l], 0.0f, net->added[l]));
        const train_residual layer = residual(net, l);
        TAPER_TRY(s->ops->clip_added(s, &layer));
    }
    return TAPER_OK;
}

taper_status train_conditional_logits(train_conditional_network *net, const uint32_t *unit,
                                      size_t n_units, float *logit) {
    train_stream *s = &net->stream;
    size_t h = net->shape.hidden, kinds = net->shape.kinds;
    TAPER_TRY(
        s->ops->gather_rows(s, n_units, kinds * h * sizeof(float), net->w.out, unit, net->out));
    return s->ops->gemm(s, 0, 1, net->rows, n_units * kinds, h, net->h[LAYERS - 1], net->out, 0.0f,
                        logit);
}

/* --- backward -------------------------------------------------------------------------- */

/* d loss / d out, and d loss / d h2 into dh[0]. */
static taper_status through_outputs(train_conditional_network *net, const uint32_t *unit,
                                    size_t n_units, const float *dlogit) {
    train_stream *s = &net->stream;
    size_t h = net->shape.hidden, outputs = n_units * net->shape.kinds;
    TAPER_TRY(s->ops->gemm(s, 0, 0, net->rows, h, outputs, dlogit, net->out, 0.0f, net->dh[0]));
    TAPER_TRY(
        s->ops->gemm(s, 1, 0, outputs, h, net->rows, dlogit, net->h[LAYERS - 1], 0.0f, net->out));
    return s->ops->scatter_rows(s, n_units, net->shape.kinds * h, net->out, unit,
                                net->w_gradient.out);
}

/* dh[0]: from the gradient by h(l + 1) to that by h(l). */
static taper_status through_middle(train_conditional_network *net, int l) {
    train_stream *s = &net->stream;
    size_t h = net->shape.hidden, rows = net->rows;
    const train_residual layer = residual(net, l);
    TAPER_TRY(s->ops->clip_added_backward(s, &layer, net->dh[0], net->dh[1],
                                          net->w_gradient.bias[l], net->column_sums));
    TAPER_TRY(
        s->ops->gemm(s, 1, 0, h, h, rows, net->dh[1], net->h[l], 1.0f, net->w_gradient.middle[l]));
    return s->ops->gemm(s, 0, 0, rows, h, h, net->dh[1], net->w.middle[l], 1.0f, net->dh[0]);
}

taper_status train_conditional_backward(train_conditional_network *net, uint32_t stage,
                                        const uint32_t *unit, size_t n_units, const float *dlogit) {
    train_stream *s = &net->stream;
    size_t h = net->shape.hidden;
    TAPER_TRY(through_outputs(net, unit, n_units, dlogit));
    for (int l = MIDDLES - 1; l >= 0; l--) TAPER_TRY(through_middle(net, l));
    TAPER_TRY(s->ops->clip_backward(s, net->rows, h, top, net->h[0], net->dh[0],
                                    net->w_gradient.stage + stage * h, net->column_sums));
    return s->ops->gemm(s, 1, 0, net->columns, h, net->rows, net->x, net->dh[0], 1.0f,
                        net->w_gradient.first);
}

/* --- integers -------------------------------------------------------------------------- */

/* activations are stored in units of 1/16, the sums before them in 1/16 of that */
static const float sum_one = 16.0f * CODEC_CONDITIONAL_ACTIVATION_ONE, pass_one = 64.0f;

/* Returns the largest k such that n weights, `stride` apart, fit 8 bits in units of 2^-k. */
static uint8_t shift_for(const float *w, size_t n, size_t stride) {
    float most = 1e-9f;
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(w[i * stride]));
    int k = 0;
    /* the first layer's shift is k + 1 */
    while (k + 1 < CODEC_INT_MATRIX_MOST_SHIFT && ldexpf(most, k + 1) < 127.5f) k++;
    return (uint8_t)k;
}

/* Element (r, c) of an integer matrix is at r * row + c * column. */
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

static void round_all(const train_conditional_network *net, const train_conditional_weights *w,
                      codec_conditional *to) {
    size_t h = net->shape.hidden, inputs = net->columns - SIDES;
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
}

taper_status train_conditional_export(train_conditional_network *net, codec_conditional *to) {
    float *host;
    train_conditional_weights w;
    *to = net->shape;
    TAPER_TRY(codec_conditional_alloc(to));
    taper_status status = train_weights_download(&net->weights, &net->stream, &host);
    if (status != TAPER_OK) {
        codec_conditional_free(to);
        return status;
    }
    view(&net->shape, net->columns, host, &w);
    round_all(net, &w, to);
    free(host);
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

static void unround(const train_conditional_network *net, const train_conditional_weights *w,
                    const void *context) {
    const codec_conditional *from = context;
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

taper_status train_conditional_import(train_conditional_network *net,
                                      const codec_conditional *from) {
    return upload(net, unround, from);
}
