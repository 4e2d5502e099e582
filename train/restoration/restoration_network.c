/* restoration_network.c -- see restoration_network.h. */
#include "train/restoration/restoration_network.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>

enum { TAPS = TRAIN_SIDES, MOST_LAYERS = CODEC_RESTORATION_MOST_LAYERS };
_Static_assert((int)TRAIN_SIDES == CODEC_RESTORATION_TAPS, "a tap is a side");

static const float input_one = 64.0f, most_input = 2047.0f / 1024.0f,
                   top = CODEC_RESTORATION_ACTIVATION_MAX / 256.0f, levels_one = 8.0f;

/* --- memory ----------------------------------------------------------------------------- */

static size_t values_of(const codec_restoration *r) {
    return codec_restoration_values(r->channels);
}
static size_t inputs_of(const codec_restoration *r, uint32_t l) {
    return l ? r->hidden : values_of(r);
}
static size_t outputs_of(const codec_restoration *r, uint32_t l) {
    return l + 1 < r->layers ? r->hidden : values_of(r);
}
static size_t widest_of(const codec_restoration *r) {
    return r->hidden > values_of(r) ? r->hidden : values_of(r);
}

/* Points views into a vector. vector NULL: only counts. Returns its length. */
static size_t view(const codec_restoration *r, float *vector, train_restoration_weights *w) {
    size_t at = (size_t)r->stages * r->hidden;
    w->stage = vector;
    w->gain = vector ? vector + at : NULL;
    at += r->stages;
    for (uint32_t l = 0; l < r->layers; l++) {
        w->weight[l] = vector ? vector + at : NULL;
        at += TAPS * inputs_of(r, l) * outputs_of(r, l);
        w->bias[l] = vector && l ? vector + at : NULL;
        at += l ? outputs_of(r, l) : 0;
    }
    return at;
}

static void lay_out(train_restoration_network *net) {
    train_arena *a = &net->arena;
    const codec_restoration *r = &net->shape;
    size_t widest = widest_of(r);
    train_weights_lay_out(&net->weights, a, view(r, NULL, &net->w), TRAIN_WEIGHTS_TRAIN);
    view(r, net->weights.parameter, &net->w);
    view(r, net->weights.gradient, &net->w_gradient);
    net->first_bias = train_arena_floats(a, 1, r->hidden);
    net->gain = train_arena_floats(a, 1, 1);
    net->dbias = train_arena_floats(a, 1, widest);
    net->dgain = train_arena_floats(a, 1, 1);
    net->transposed = train_arena_floats(a, TAPS * widest, widest);
    net->errors = train_arena_take(a, 2, 1, sizeof *net->errors);
}

/* Fills parameters on the host by fill(net, views of them, context) and uploads them. */
typedef void fill_fn(const train_restoration_network *net, const train_restoration_weights *w,
                     const void *context);

static taper_status upload(train_restoration_network *net, fill_fn *fill, const void *context) {
    train_restoration_weights w;
    float *host = calloc(net->weights.n, sizeof *host);
    if (!host) return TAPER_ERR_NOMEM;
    view(&net->shape, host, &w);
    fill(net, &w, context);
    taper_status status =
        train_upload(&net->stream, net->weights.parameter, host, net->weights.n * sizeof *host);
    free(host);
    return status;
}

static void draw(const train_restoration_network *net, const train_restoration_weights *w,
                 const void *context) {
    const codec_restoration *r = &net->shape;
    const uint64_t seed = *(const uint64_t *)context;
    for (uint32_t l = 0; l + 1 < r->layers; l++) {
        float inputs = (float)(TAPS * inputs_of(r, l));
        train_philox_weights(w->weight[l], TAPS * inputs_of(r, l) * r->hidden,
                             1.0f / sqrtf(3.0f * inputs), seed, l);
    }
}

taper_status train_restoration_create(train_restoration_network *net,
                                      const codec_restoration *shape, train_device *device,
                                      uint64_t seed) {
    codec_restoration trial = *shape; /* checks the shape */
    *net = (train_restoration_network){.shape = *shape};
    TAPER_TRY(codec_restoration_alloc(&trial));
    codec_restoration_free(&trial);
    lay_out(net);
    taper_status status = train_arena_alloc(&net->arena, device);
    if (status == TAPER_OK) {
        lay_out(net);
        status = train_stream_open(&net->stream, device);
    }
    if (status == TAPER_OK) status = train_weights_keep(&net->weights, device);
    if (status == TAPER_OK) status = upload(net, draw, &seed);
    if (status != TAPER_OK) train_restoration_free(net);
    return status;
}

static void free_rows(train_restoration_network *net) {
    train_mirror_free(&net->decoded), train_mirror_free(&net->target),
        train_mirror_free(&net->neighbour);
    train_arena_free(&net->rows_arena);
    net->capacity = 0;
}

void train_restoration_free(train_restoration_network *net) {
    train_stream_close(&net->stream);
    free_rows(net);
    train_arena_free(&net->arena);
    *net = (train_restoration_network){0};
}

taper_status train_restoration_set_gains(train_restoration_network *net, const double *mse) {
    float gain[CODEC_RESTORATION_MOST_STAGES];
    for (uint32_t s = 0; s < net->shape.stages; s++) gain[s] = (float)sqrt(mse[s]) / levels_one;
    return train_upload(&net->stream, net->w.gain, gain, net->shape.stages * sizeof *gain);
}

/* --- a batch ---------------------------------------------------------------------------- */

static void lay_out_rows(train_restoration_network *net, size_t rows) {
    train_arena *a = &net->rows_arena;
    const codec_restoration *r = &net->shape;
    size_t widest = widest_of(r);
    net->z = train_arena_floats(a, rows, values_of(r));
    net->dz = train_arena_floats(a, rows, widest);
    net->da = train_arena_floats(a, rows, widest);
    net->dh = train_arena_floats(a, rows, widest);
    net->wide = train_arena_floats(a, rows, TAPS * widest);
    for (uint32_t l = 0; l < r->layers; l++) {
        net->a[l] = train_arena_floats(a, rows, inputs_of(r, l));
        net->gathered[l] = train_arena_floats(a, rows, TAPS * inputs_of(r, l));
        if (l + 1 < r->layers) net->h[l] = train_arena_floats(a, rows, r->hidden);
    }
    net->sums = train_arena_take(a, rows / TRAIN_RESTORED_ROWS + 1, 3, sizeof *net->sums);
}

/* Bytes of a batch's arrays. */
static size_t numbers_of(const train_restoration_batch *b) {
    return b->rows * b->values * sizeof(float);
}
static size_t links_of(const train_restoration_batch *b) {
    return TAPS * b->rows * sizeof *b->neighbour;
}

static taper_status alloc_rows(train_restoration_network *net, const train_restoration_batch *b) {
    train_stream *s = &net->stream;
    TAPER_TRY(s->device->memory->sync(s)); /* the previous batch may be in progress */
    free_rows(net);
    lay_out_rows(net, b->rows);
    taper_status status = train_arena_alloc(&net->rows_arena, s->device);
    if (status == TAPER_OK) lay_out_rows(net, b->rows);
    if (status == TAPER_OK) status = train_mirror_open(&net->decoded, s, b->decoded, numbers_of(b));
    if (status == TAPER_OK) status = train_mirror_open(&net->target, s, b->target, numbers_of(b));
    if (status == TAPER_OK)
        status = train_mirror_open(&net->neighbour, s, b->neighbour, links_of(b));
    if (status == TAPER_OK)
        net->capacity = b->rows;
    else
        free_rows(net);
    return status;
}

static taper_status take_batch(train_restoration_network *net, const train_restoration_batch *b) {
    train_stream *s = &net->stream;
    net->rows = b->rows;
    if (b->rows > net->capacity) return alloc_rows(net, b);
    TAPER_TRY(train_mirror_replace(&net->decoded, s, b->decoded, numbers_of(b)));
    TAPER_TRY(train_mirror_replace(&net->target, s, b->target, numbers_of(b)));
    return train_mirror_replace(&net->neighbour, s, b->neighbour, links_of(b));
}

/* --- stages ----------------------------------------------------------------------------- */

static void find_stage(train_restoration_network *net, uint32_t pass) {
    const codec_restoration *r = &net->shape;
    uint32_t s = 0;
    while (s + 1 < r->stages && r->at[s + 1] <= pass) s++;
    net->stage = s;
    net->part =
        s + 1 < r->stages ? (float)(pass - r->at[s]) / (float)(r->at[s + 1] - r->at[s]) : 0.0f;
}

/* Interpolates parameters of `width` numbers between two stages. */
static taper_status interpolate(train_restoration_network *net, const float *of, size_t width,
                                float *to) {
    const float *a = of + net->stage * width, *b = net->part > 0 ? a + width : a;
    return net->stream.ops->interpolate(&net->stream, width, net->part, a, b, to);
}

/* Distributes the gradient to these two stages. */
static taper_status add_to_stages(train_restoration_network *net, const float *gradient,
                                  size_t width, float *of) {
    train_stream *s = &net->stream;
    float *a = of + net->stage * width, *b = net->part > 0 ? a + width : a;
    TAPER_TRY(s->ops->axpy(s, width, 1.0f - net->part, gradient, a));
    return s->ops->axpy(s, width, net->part, gradient, b);
}

/* --- forward ---------------------------------------------------------------------------- */

static taper_status through_layer(train_restoration_network *net, uint32_t l) {
    train_stream *s = &net->stream;
    const codec_restoration *r = &net->shape;
    const size_t inputs = inputs_of(r, l), outputs = outputs_of(r, l), rows = net->rows;
    int last = l + 1 == r->layers;
    float *z = last ? net->z : net->h[l];
    TAPER_TRY(
        s->ops->gather_sides(s, rows, inputs, net->neighbour.at, 0, net->a[l], net->gathered[l]));
    const train_affine layer = {.m = rows,
                                .n = outputs,
                                .k = TAPS * inputs,
                                .a = net->gathered[l],
                                .b = net->w.weight[l],
                                .bias = net->w.bias[l],
                                .activation = CODEC_LINEAR,
                                .c = z};
    if (last) return s->ops->affine(s, &layer);
    TAPER_TRY(s->ops->gemm(s, 0, 0, rows, outputs, layer.k, layer.a, layer.b, 0.0f, z));
    return s->ops->relu_added(s, rows, outputs, l ? net->w.bias[l] : net->first_bias, top,
                              l ? net->h[l - 1] : NULL, z, net->a[l + 1]);
}

taper_status train_restoration_forward(train_restoration_network *net,
                                       const train_restoration_batch *batch, uint32_t pass) {
    train_stream *s = &net->stream;
    const codec_restoration *r = &net->shape;
    TAPER_TRY(take_batch(net, batch));
    find_stage(net, pass);
    TAPER_TRY(interpolate(net, net->w.stage, r->hidden, net->first_bias));
    TAPER_TRY(s->ops->standardise(s, batch->rows * batch->values, 128.0f, input_one, most_input,
                                  net->decoded.at, net->a[0]));
    for (uint32_t l = 0; l < r->layers; l++) TAPER_TRY(through_layer(net, l));
    return TAPER_OK;
}

/* --- backward --------------------------------------------------------------------------- */

/* The gradient of layer l's weights and bias, from dz[rows][outputs]. */
static taper_status through_weights(train_restoration_network *net, uint32_t l, float *dz) {
    train_stream *s = &net->stream;
    const codec_restoration *r = &net->shape;
    const size_t rows = net->rows, inputs = inputs_of(r, l), outputs = outputs_of(r, l);
    TAPER_TRY(s->ops->gemm(s, 1, 0, TAPS * inputs, outputs, rows, net->gathered[l], dz, 1.0f,
                           net->w_gradient.weight[l]));
    TAPER_TRY(s->ops->bias_backward(s, rows, outputs, CODEC_LINEAR, NULL, dz, l > 0,
                                    l ? net->w_gradient.bias[l] : net->dbias));
    return l ? TAPER_OK : add_to_stages(net, net->dbias, outputs, net->w_gradient.stage);
}

/* da[rows][inputs] from dz: a convolution with the weights mirrored and transposed. */
static taper_status through_inputs(train_restoration_network *net, uint32_t l, const float *dz) {
    train_stream *s = &net->stream;
    const codec_restoration *r = &net->shape;
    const size_t rows = net->rows, inputs = inputs_of(r, l), outputs = outputs_of(r, l);
    TAPER_TRY(s->ops->transpose(s, TAPS, inputs, outputs, net->w.weight[l], net->transposed));
    TAPER_TRY(s->ops->gather_sides(s, rows, outputs, net->neighbour.at, 1, dz, net->wide));
    return s->ops->gemm(s, 0, 0, rows, inputs, TAPS * outputs, net->wide, net->transposed, 0.0f,
                        net->da);
}

static taper_status through_layers(train_restoration_network *net) {
    train_stream *s = &net->stream;
    const codec_restoration *r = &net->shape;
    const size_t numbers = net->rows * r->hidden;
    float *dz = net->dz;
    TAPER_TRY(train_zero(s, net->dh, numbers * sizeof *net->dh));
    for (uint32_t l = r->layers - 1;; l--) {
        TAPER_TRY(through_weights(net, l, dz));
        if (!l) return TAPER_OK;
        TAPER_TRY(through_inputs(net, l, dz));
        TAPER_TRY(s->ops->relu_added_backward(s, numbers, top, net->h[l - 1], net->da, net->dh));
        dz = net->dh;
    }
}

taper_status train_restoration_backward(train_restoration_network *net, double weight) {
    train_stream *s = &net->stream;
    TAPER_TRY(interpolate(net, net->w.gain, 1, net->gain));
    const train_restored restored = {.rows = net->rows,
                                     .width = values_of(&net->shape),
                                     .weight = weight,
                                     .levels = levels_one,
                                     .decoded = net->decoded.at,
                                     .target = net->target.at,
                                     .z = net->z,
                                     .gain = net->gain,
                                     .dz = net->dz,
                                     .dgain = net->dgain,
                                     .errors = net->errors,
                                     .sums = net->sums};
    TAPER_TRY(s->ops->restored(s, &restored));
    TAPER_TRY(add_to_stages(net, net->dgain, 1, net->w_gradient.gain));
    return through_layers(net);
}

/* --- integers --------------------------------------------------------------------------- */

/* z is stored in units of 1/8 of an activation's 1/256. The first layer's inputs are 4 times finer
 * than that; the sums of bytes have the same scale (int_convolution.h). */
static const float sum_one = 2048.0f, gain_one = 4096.0f;
static int finer(uint32_t layer) { return layer ? 0 : 2; }
static int32_t most_weight(uint32_t layer) {
    return layer ? CODEC_RESTORATION_MOST_BYTE_WEIGHT : CODEC_RESTORATION_MOST_WEIGHT;
}

/* Returns the largest k such that the weights of output o fit in units of 2^-k. */
static int step_for(const float *w, size_t n, size_t outputs, size_t o, int32_t top_weight,
                    int most_shift) {
    float most = 1e-9f;
    int k = 0;
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(w[i * outputs + o]));
    while (k < most_shift && ldexpf(most, k + 1) < (float)top_weight + 0.5f) k++;
    return k;
}

static void round_layer(const train_restoration_weights *from, uint32_t l, codec_convolution *to) {
    size_t n = TAPS * (size_t)to->inputs, outputs = to->outputs;
    const float *w = from->weight[l];
    for (size_t o = 0; o < outputs; o++) {
        int k = step_for(w, n, outputs, o, most_weight(l), CODEC_INT_MATRIX_MOST_SHIFT - finer(l));
        to->shift[o] = (uint8_t)(k + finer(l));
        for (size_t i = 0; i < n; i++)
            to->weight[o * n + i] =
                (int16_t)train_rounded(ldexpf(w[i * outputs + o], k), most_weight(l));
        if (l) to->bias[o] = train_rounded(from->bias[l][o] * sum_one, CODEC_RESTORATION_MOST_BIAS);
    }
}

static void round_all(const codec_restoration *r, const train_restoration_weights *w,
                      codec_restoration *to) {
    for (uint32_t s = 0; s < r->stages; s++) {
        to->at[s] = r->at[s];
        to->gain[s] = train_rounded(w->gain[s] * gain_one, CODEC_RESTORATION_MOST_GAIN);
    }
    for (size_t i = 0; i < (size_t)r->stages * r->hidden; i++)
        to->stage[i] = train_rounded(w->stage[i] * sum_one, CODEC_RESTORATION_MOST_BIAS);
    for (uint32_t l = 0; l < r->layers; l++) round_layer(w, l, &to->layer[l]);
}

taper_status train_restoration_export(train_restoration_network *net, codec_restoration *to) {
    const codec_restoration *r = &net->shape;
    train_restoration_weights w;
    float *host;
    *to = (codec_restoration){
        .channels = r->channels, .hidden = r->hidden, .layers = r->layers, .stages = r->stages};
    TAPER_TRY(codec_restoration_alloc(to));
    taper_status status = train_weights_download(&net->weights, &net->stream, &host);
    if (status == TAPER_OK) {
        view(r, host, &w);
        round_all(r, &w, to);
        free(host);
        status = codec_restoration_pack(to);
    }
    if (status != TAPER_OK) codec_restoration_free(to);
    return status;
}

static void unround(const train_restoration_network *net, const train_restoration_weights *w,
                    const void *context) {
    const codec_restoration *from = context;
    (void)net;
    for (uint32_t s = 0; s < from->stages; s++) w->gain[s] = (float)from->gain[s] / gain_one;
    for (size_t i = 0; i < (size_t)from->stages * from->hidden; i++)
        w->stage[i] = (float)from->stage[i] / sum_one;
    for (uint32_t l = 0; l < from->layers; l++) {
        const codec_convolution *c = &from->layer[l];
        size_t n = TAPS * (size_t)c->inputs;
        for (size_t o = 0; o < c->outputs; o++) {
            for (size_t i = 0; i < n; i++)
                w->weight[l][i * c->outputs + o] =
                    ldexpf((float)c->weight[o * n + i], finer(l) - c->shift[o]);
            if (l) w->bias[l][o] = (float)c->bias[o] / sum_one;
        }
    }
}

taper_status train_restoration_import(train_restoration_network *net,
                                      const codec_restoration *from) {
    return upload(net, unround, from);
}

/* --- the scale of activations ----------------------------------------------------------- */

static int scaled_fits(const int32_t *bias, size_t n, int k) {
    for (size_t i = 0; k > 0 && i < n; i++)
        if (2 * llabs((int64_t)bias[i]) > CODEC_RESTORATION_MOST_BIAS) return 0;
    return 1;
}

static void scale(int32_t *bias, size_t n, int k) {
    for (size_t i = 0; i < n; i++) bias[i] = k > 0 ? 2 * bias[i] : bias[i] / 2;
}

/* Nonzero if all shifts plus `more` are legal. */
static int shifts_fit(const codec_convolution *c, int more) {
    for (uint32_t o = 0; o < c->outputs; o++)
        if (c->shift[o] + more < 0 || c->shift[o] + more > CODEC_INT_MATRIX_MOST_SHIFT) return 0;
    return 1;
}

static void add_shift(codec_convolution *c, int more) {
    for (uint32_t o = 0; o < c->outputs; o++) {
        c->shift[o] = (uint8_t)(c->shift[o] + more);
        if (c->shifts) c->shifts[o] = c->shift[o];
    }
}

taper_status train_restoration_scale(codec_restoration *r, int k) {
    codec_convolution *first = &r->layer[0], *last = &r->layer[r->layers - 1];
    size_t stages = (size_t)r->stages * r->hidden;
    int fits = scaled_fits(r->stage, stages, k) && shifts_fit(first, -k) && shifts_fit(last, k);
    for (uint32_t l = 1; l + 1 < r->layers; l++)
        fits = fits && scaled_fits(r->layer[l].bias, r->hidden, k);
    if (!fits) return TAPER_ERR_ARG;
    scale(r->stage, stages, k);
    for (uint32_t l = 1; l + 1 < r->layers; l++) scale(r->layer[l].bias, r->hidden, k);
    add_shift(first, -k), add_shift(last, k);
    return TAPER_OK;
}
