/* restoration_network.c -- see restoration_network.h. */
#include "train/restoration/restoration_network.h"
#include "codec/backend/pool.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROW_BLOCK = 256,
    TAPS = CODEC_RESTORATION_TAPS,
    MOST_LAYERS = CODEC_RESTORATION_MOST_LAYERS,
    SUMS = 3 /* of a block: error now, error before, gradient of the gain */
};

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

/* Views into a vector, or, from NULL, its length. */
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

taper_status train_restoration_create(train_restoration_network *net,
                                      const codec_restoration *shape, codec_backend *be,
                                      uint64_t seed) {
    codec_restoration trial = *shape; /* is the shape legal? */
    TAPER_TRY(codec_restoration_alloc(&trial));
    codec_restoration_free(&trial);
    *net = (train_restoration_network){.shape = *shape, .be = be};
    net->n = view(shape, NULL, &net->w);
    net->parameter = calloc(net->n, sizeof *net->parameter);
    net->gradient = calloc(net->n, sizeof *net->gradient);
    if (!net->parameter || !net->gradient) {
        train_restoration_free(net);
        return TAPER_ERR_NOMEM;
    }
    view(shape, net->parameter, &net->w);
    view(shape, net->gradient, &net->w_gradient);
    for (uint32_t l = 0; l + 1 < shape->layers; l++) {
        float inputs = (float)(TAPS * inputs_of(shape, l));
        train_philox_weights(net->w.weight[l], TAPS * inputs_of(shape, l) * shape->hidden,
                             1.0f / sqrtf(3.0f * inputs), seed, l);
    }
    return TAPER_OK;
}

static void free_rows(train_restoration_network *net) {
    for (uint32_t l = 0; l < MOST_LAYERS; l++) {
        free(net->a[l]), free(net->gathered[l]), free(net->h[l]);
        net->a[l] = net->gathered[l] = net->h[l] = NULL;
    }
    free(net->z), free(net->dz), free(net->da), free(net->dh), free(net->wide), free(net->sum);
    net->z = net->dz = net->da = net->dh = net->wide = NULL;
    net->sum = NULL;
    net->room = 0;
}

void train_restoration_free(train_restoration_network *net) {
    free_rows(net);
    free(net->parameter), free(net->gradient);
    *net = (train_restoration_network){0};
}

void train_restoration_set_gains(train_restoration_network *net, const double *mse) {
    for (uint32_t s = 0; s < net->shape.stages; s++)
        net->w.gain[s] = (float)sqrt(mse[s]) / levels_one;
}

static taper_status make_room(train_restoration_network *net, size_t rows) {
    const codec_restoration *r = &net->shape;
    size_t values = values_of(r), widest = r->hidden > values ? r->hidden : values;
    if (rows <= net->room) return TAPER_OK;
    free_rows(net);
    int ok = train_zeros(&net->z, rows, values) && train_zeros(&net->dz, rows + 1, widest) &&
             train_zeros(&net->da, rows + 1, widest) && train_zeros(&net->dh, rows + 1, widest) &&
             train_zeros(&net->wide, rows, TAPS * widest);
    for (uint32_t l = 0; l < r->layers; l++)
        ok = ok && train_zeros(&net->a[l], (rows + 1) * inputs_of(r, l), 1) &&
             train_zeros(&net->gathered[l], rows * TAPS * inputs_of(r, l), 1) &&
             train_zeros(&net->h[l], rows, r->hidden);
    net->sum = malloc((rows / ROW_BLOCK + 1) * SUMS * sizeof *net->sum);
    if (!ok || !net->sum) {
        free_rows(net);
        return TAPER_ERR_NOMEM;
    }
    net->room = rows;
    return TAPER_OK;
}

/* --- rows ------------------------------------------------------------------------------- */

/* Something that is done to every row. */
typedef struct row_task {
    train_restoration_network *net;
    uint32_t layer;
    int mirrored; /* gather from where a row is a neighbour of */
    size_t width;
    const float *from; /* [rows + 1][width] */
    float *to;
    const float *bias;
    float gain, scale;
} row_task;

static void rows_of(const row_task *t, size_t block, size_t *first, size_t *end) {
    size_t rows = t->net->batch->rows;
    *first = block * ROW_BLOCK;
    *end = *first + ROW_BLOCK < rows ? *first + ROW_BLOCK : rows;
}

static void run_rows(row_task *t, codec_task_fn *fn) {
    codec_pool_run(t->net->be->pool, fn, t, (t->net->batch->rows + ROW_BLOCK - 1) / ROW_BLOCK);
}

static void gather_rows(void *context, size_t block) {
    const row_task *t = context;
    const train_restoration_batch *b = t->net->batch;
    size_t r, end;
    rows_of(t, block, &r, &end);
    for (float *to = t->to + r * TAPS * t->width; r < end; r++)
        for (uint32_t tap = 0; tap < TAPS; tap++, to += t->width) {
            uint32_t of = t->mirrored ? TAPS - 1 - tap : tap;
            memcpy(to, t->from + b->neighbour[of * b->rows + r] * t->width, t->width * sizeof *to);
        }
}

/* from[rows + 1][width], whose last row becomes 0, to to[rows][taps][width]. */
static void gather(train_restoration_network *net, float *from, size_t width, int mirrored,
                   float *to) {
    memset(from + net->batch->rows * width, 0, width * sizeof *from);
    row_task task = {.net = net, .mirrored = mirrored, .width = width, .from = from, .to = to};
    run_rows(&task, gather_rows);
}

static float clip(float x, float most) { return x > most ? most : x < -most ? -most : x; }

static void make_inputs(void *context, size_t block) {
    const row_task *t = context;
    size_t r, end;
    rows_of(t, block, &r, &end);
    for (size_t i = r * t->width; i < end * t->width; i++)
        t->to[i] = clip((t->from[i] - 128.0f) / input_one, most_input);
}

/* h(i) = clip(h(i - 1) + z(i)), where to[] holds z without its bias; and a(i). */
static void activate(void *context, size_t block) {
    const row_task *t = context;
    const float *before = t->layer ? t->net->h[t->layer - 1] : NULL;
    float *a = t->net->a[t->layer + 1];
    size_t r, end;
    for (rows_of(t, block, &r, &end); r < end; r++)
        for (size_t i = 0; i < t->width; i++) {
            size_t at = r * t->width + i;
            float sum = t->to[at] + t->bias[i] + (before ? before[at] : 0.0f);
            t->to[at] = clip(sum, top);
            a[at] = sum > 0 ? t->to[at] : 0.0f;
        }
}

/* --- forward ---------------------------------------------------------------------------- */

static void find_stage(train_restoration_network *net, uint32_t pass) {
    const codec_restoration *r = &net->shape;
    uint32_t s = 0;
    while (s + 1 < r->stages && r->at[s + 1] <= pass) s++;
    net->stage = s;
    net->part =
        s + 1 < r->stages ? (float)(pass - r->at[s]) / (float)(r->at[s + 1] - r->at[s]) : 0.0f;
}

/* The stage's of `width` numbers each, between two of them. */
static void interpolate(const train_restoration_network *net, const float *of, size_t width,
                        float *to) {
    const float *a = of + net->stage * width, *b = net->part > 0 ? a + width : a;
    for (size_t i = 0; i < width; i++) to[i] = a[i] + net->part * (b[i] - a[i]);
}

taper_status train_restoration_forward(train_restoration_network *net,
                                       const train_restoration_batch *batch, uint32_t pass) {
    const codec_restoration *r = &net->shape;
    float first_bias[CODEC_RESTORATION_MOST_HIDDEN];
    net->batch = NULL;
    TAPER_TRY(make_room(net, batch->rows));
    net->batch = batch;
    find_stage(net, pass);
    interpolate(net, net->w.stage, r->hidden, first_bias);
    row_task inputs = {.net = net, .width = values_of(r), .from = batch->decoded, .to = net->a[0]};
    run_rows(&inputs, make_inputs);
    for (uint32_t l = 0; l < r->layers; l++) {
        int last = l + 1 == r->layers;
        float *z = last ? net->z : net->h[l];
        gather(net, net->a[l], inputs_of(r, l), 0, net->gathered[l]);
        TAPER_TRY(net->be->ops->gemm(net->be, 0, 0, batch->rows, outputs_of(r, l),
                                     TAPS * inputs_of(r, l), net->gathered[l], net->w.weight[l],
                                     0.0f, z));
        row_task task = {.net = net,
                         .layer = l,
                         .width = r->hidden,
                         .to = z,
                         .bias = l ? net->w.bias[l] : first_bias};
        if (!last) run_rows(&task, activate);
    }
    return net->be->ops->bias(net->be, batch->rows, values_of(r), net->w.bias[r->layers - 1],
                              CODEC_LINEAR, net->z);
}

/* --- backward --------------------------------------------------------------------------- */

/* Errors of a block, and their gradients by z times a scale. */
static void price(void *context, size_t block) {
    const row_task *t = context;
    const train_restoration_batch *b = t->net->batch;
    double now = 0, before = 0, dgain = 0;
    size_t r, end;
    rows_of(t, block, &r, &end);
    for (size_t i = r * b->values; i < end * b->values; i++) {
        float was = b->decoded[i] - b->target[i], z = t->net->z[i];
        float is = was + levels_one * t->gain * z;
        before += (double)was * (double)was;
        now += (double)is * (double)is;
        dgain += 2.0 * (double)is * (double)(levels_one * z);
        t->net->dz[i] = t->scale * (2.0f * is * levels_one * t->gain);
    }
    double *sum = t->net->sum + block * SUMS;
    sum[0] = now, sum[1] = before, sum[2] = dgain;
}

/* Slopes by z(i), and by h(i - 1) so far, from those by a(i) and h(i); all in place: dh. */
static void deactivate(void *context, size_t block) {
    const row_task *t = context;
    const float *h = t->net->h[t->layer];
    float *dh = t->net->dh;
    size_t r, end;
    rows_of(t, block, &r, &end);
    for (size_t i = r * t->width; i < end * t->width; i++) {
        float gradient = dh[i] + (h[i] > 0 ? t->from[i] : 0.0f);
        dh[i] = h[i] < top && h[i] > -top ? gradient : 0.0f;
    }
}

/* Spread a stage's gradients over the two it lies between. */
static void add_to_stages(const train_restoration_network *net, const float *gradient, size_t width,
                          float *of) {
    float *a = of + net->stage * width, *b = net->part > 0 ? a + width : a;
    for (size_t i = 0; i < width; i++) {
        a[i] += (1.0f - net->part) * gradient[i];
        b[i] += net->part * gradient[i];
    }
}

/* Slopes of layer l's weights and bias from those by its z, dz[rows + 1][outputs]. */
static taper_status through_weights(train_restoration_network *net, uint32_t l, float *dz) {
    const codec_restoration *r = &net->shape;
    size_t rows = net->batch->rows, inputs = inputs_of(r, l), outputs = outputs_of(r, l);
    float dbias[CODEC_RESTORATION_MOST_HIDDEN + 1];
    TAPER_TRY(net->be->ops->gemm(net->be, 1, 0, TAPS * inputs, outputs, rows, net->gathered[l], dz,
                                 1.0f, net->w_gradient.weight[l]));
    TAPER_TRY(net->be->ops->bias_backward(net->be, rows, outputs, CODEC_LINEAR, NULL, dz, dbias));
    if (!l)
        add_to_stages(net, dbias, outputs, net->w_gradient.stage);
    else
        for (size_t i = 0; i < outputs; i++) net->w_gradient.bias[l][i] += dbias[i];
    return TAPER_OK;
}

/* da[rows][inputs] from dz: a convolution with the weights mirrored and transposed. */
static taper_status through_inputs(train_restoration_network *net, uint32_t l, float *dz) {
    const codec_restoration *r = &net->shape;
    size_t inputs = inputs_of(r, l), outputs = outputs_of(r, l);
    float *turned = malloc(TAPS * inputs * outputs * sizeof *turned);
    if (!turned) return TAPER_ERR_NOMEM;
    for (size_t tap = 0; tap < TAPS; tap++)
        for (size_t i = 0; i < inputs; i++)
            for (size_t o = 0; o < outputs; o++)
                turned[(tap * outputs + o) * inputs + i] =
                    net->w.weight[l][(tap * inputs + i) * outputs + o];
    gather(net, dz, outputs, 1, net->wide);
    taper_status status = net->be->ops->gemm(net->be, 0, 0, net->batch->rows, inputs,
                                             TAPS * outputs, net->wide, turned, 0.0f, net->da);
    free(turned);
    return status;
}

static taper_status through_layers(train_restoration_network *net) {
    const codec_restoration *r = &net->shape;
    float *dz = net->dz;
    memset(net->dh, 0, net->batch->rows * r->hidden * sizeof *net->dh);
    for (uint32_t l = r->layers - 1;; l--) {
        TAPER_TRY(through_weights(net, l, dz));
        if (!l) return TAPER_OK;
        TAPER_TRY(through_inputs(net, l, dz));
        row_task task = {.net = net, .layer = l - 1, .width = r->hidden, .from = net->da};
        run_rows(&task, deactivate);
        dz = net->dh;
    }
}

taper_status train_restoration_backward(train_restoration_network *net, double weight,
                                        train_steps_sums *errors) {
    size_t blocks = (net->batch->rows + ROW_BLOCK - 1) / ROW_BLOCK;
    double dgain = 0;
    row_task task = {.net = net, .scale = (float)weight};
    interpolate(net, net->w.gain, 1, &task.gain);
    run_rows(&task, price);
    *errors = (train_steps_sums){0, 0};
    for (size_t b = 0; b < blocks; b++) {
        errors->now += net->sum[b * SUMS], errors->before += net->sum[b * SUMS + 1];
        dgain += net->sum[b * SUMS + 2];
    }
    float gradient = (float)(dgain * weight);
    add_to_stages(net, &gradient, 1, net->w_gradient.gain);
    return through_layers(net);
}

/* --- integers --------------------------------------------------------------------------- */

/* z is kept in 1/8 of an activation's 1/256; the first layer's inputs are 4 times finer than
 * activations */
static const float sum_one = 2048.0f, gain_one = 4096.0f;
static int finer(uint32_t layer) { return layer ? 0 : 2; }

/* The finest step 2^-k at which the weights of output o fit; k is returned. */
static int step_for(const float *w, size_t n, size_t outputs, size_t o, int most_shift) {
    float most = 1e-9f;
    int k = 0;
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(w[i * outputs + o]));
    while (k < most_shift && ldexpf(most, k + 1) < CODEC_RESTORATION_MOST_WEIGHT + 0.5f) k++;
    return k;
}

static void export_layer(const train_restoration_network *net, uint32_t l, codec_convolution *to) {
    size_t n = TAPS * (size_t)to->inputs, outputs = to->outputs;
    const float *w = net->w.weight[l];
    for (size_t o = 0; o < outputs; o++) {
        int k = step_for(w, n, outputs, o, CODEC_INT_MATRIX_MOST_SHIFT - finer(l));
        to->shift[o] = (uint8_t)(k + finer(l));
        for (size_t i = 0; i < n; i++)
            to->weight[o * n + i] = (int16_t)train_rounded(ldexpf(w[i * outputs + o], k),
                                                           CODEC_RESTORATION_MOST_WEIGHT);
        if (l)
            to->bias[o] = train_rounded(net->w.bias[l][o] * sum_one, CODEC_RESTORATION_MOST_BIAS);
    }
}

taper_status train_restoration_export(const train_restoration_network *net, codec_restoration *to) {
    const codec_restoration *r = &net->shape;
    *to = (codec_restoration){
        .channels = r->channels, .hidden = r->hidden, .layers = r->layers, .stages = r->stages};
    TAPER_TRY(codec_restoration_alloc(to));
    for (uint32_t s = 0; s < r->stages; s++) {
        to->at[s] = r->at[s];
        to->gain[s] = train_rounded(net->w.gain[s] * gain_one, CODEC_RESTORATION_MOST_GAIN);
    }
    for (size_t i = 0; i < (size_t)r->stages * r->hidden; i++)
        to->stage[i] = train_rounded(net->w.stage[i] * sum_one, CODEC_RESTORATION_MOST_BIAS);
    for (uint32_t l = 0; l < r->layers; l++) export_layer(net, l, &to->layer[l]);
    taper_status status = codec_restoration_pack(to);
    if (status != TAPER_OK) codec_restoration_free(to);
    return status;
}

void train_restoration_import(train_restoration_network *net, const codec_restoration *from) {
    for (uint32_t s = 0; s < from->stages; s++) net->w.gain[s] = (float)from->gain[s] / gain_one;
    for (size_t i = 0; i < (size_t)from->stages * from->hidden; i++)
        net->w.stage[i] = (float)from->stage[i] / sum_one;
    for (uint32_t l = 0; l < from->layers; l++) {
        const codec_convolution *c = &from->layer[l];
        size_t n = TAPS * (size_t)c->inputs;
        for (size_t o = 0; o < c->outputs; o++) {
            for (size_t i = 0; i < n; i++)
                net->w.weight[l][i * c->outputs + o] =
                    ldexpf((float)c->weight[o * n + i], finer(l) - c->shift[o]);
            if (l) net->w.bias[l][o] = (float)c->bias[o] / sum_one;
        }
    }
}
