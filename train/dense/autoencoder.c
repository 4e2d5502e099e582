/* autoencoder.c -- forward and backward of a batch through the backend's operations; see
 * autoencoder.h. */
#include "train/dense/autoencoder.h"
#include "codec/backend/pool.h"
#include "formats/bytes.h"
#include "train/sampling/numbers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16 }; /* rows in one block of the fused loops */

/* The rate's scales are stored as log b / SCALE_SPEED: Adam then moves log b this much faster than
 * a weight, so that prices follow the codes. */
#define SCALE_SPEED 10.0f

/* A row counts at most so many times less or more than the others of its cut do. */
#define LEAST_RATIO 0.1
#define MOST_RATIO  10.0

/* What one batch leaves behind on its way, for the way back. */
typedef struct train_activations {
    size_t rows;               /* loaded */
    float *centred;            /* [batch][D] c */
    float *code;               /* [batch][K] x */
    float *quantised;          /* [batch][K] x_q */
    float *quantiser_gradient; /* [batch][K] d x_q / d x */
    float *rate_gradient;      /* [batch][K] d loss / d x by way of the rate */
    float *scale_gradient;     /* [batch][K] d loss / d log b */
    float *output;             /* [batch][D] y_hat - mean, then the error, then d loss / d y_hat */
    float *code_gradient;      /* [batch][K] d loss / d x_q, then / d x */
    float *inverse_scale;      /* [K] 1 / b */
    double *row_loss, *row_error, *row_bits,
        *row_weight; /* [batch]; d loss / d error = weight / rows */
    float *encoder_hidden[CODEC_MAX_LAYERS],
        *decoder_hidden[CODEC_MAX_LAYERS]; /* outputs of hidden layers */
    float *back[2]; /* [batch][widest]: gradients of hidden layers, taken in turn */
} train_activations;

static size_t row_blocks(size_t rows) { return (rows + ROWS - 1) / ROWS; }

/* --- parameters ------------------------------------------------------------------------------- */

/* Point the layers of view (shaped like shape) into an array; returns the numbers they take. */
static size_t view_stack(const codec_stack *shape, float *array, codec_stack *view) {
    size_t at = 0;
    *view = *shape;
    for (uint32_t i = 0; i < shape->depth; i++) {
        codec_layer *layer = &view->layer[i];
        layer->weight = array ? array + at : NULL;
        at += (size_t)layer->outputs * layer->inputs;
        layer->bias = array ? array + at : NULL;
        at += layer->outputs;
    }
    return at;
}

/* The whole network's view of an array (NULL: only count), and where the log scales begin. */
static size_t view_network(const codec_network *shape, float *array, codec_network *view,
                           float **log_scale) {
    size_t at = 0, linear = (size_t)shape->units * shape->inputs;
    *view = (codec_network){.inputs = shape->inputs, .units = shape->units};
    view->analysis = array;
    if (shape->synthesis != shape->analysis) at += linear;
    view->synthesis = array ? array + at : NULL;
    at += linear;
    at += view_stack(&shape->encoder, array ? array + at : NULL, &view->encoder);
    at += view_stack(&shape->decoder, array ? array + at : NULL, &view->decoder);
    *log_scale = array ? array + at : NULL;
    return at + shape->units;
}

static void copy_stack(const codec_stack *from, codec_stack *to, float bias_factor) {
    for (uint32_t i = 0; i < from->depth; i++) {
        const codec_layer *source = &from->layer[i];
        memcpy(to->layer[i].weight, source->weight,
               (size_t)source->outputs * source->inputs * sizeof(float));
        for (uint32_t j = 0; j < source->outputs; j++)
            to->layer[i].bias[j] = source->bias[j] * bias_factor;
    }
}

static void copy_network(const codec_network *from, codec_network *to, float bias_factor) {
    size_t linear = (size_t)from->units * from->inputs * sizeof(float);
    memcpy(to->analysis, from->analysis, linear);
    if (to->synthesis != to->analysis) memcpy(to->synthesis, from->synthesis, linear);
    copy_stack(&from->encoder, &to->encoder, bias_factor);
    copy_stack(&from->decoder, &to->decoder, bias_factor);
}

void train_autoencoder_export(const train_autoencoder *ae, const float *from, codec_network *net) {
    codec_network view;
    float *log_scale;
    view_network(net, (float *)(uintptr_t)from, &view, &log_scale); /* only read */
    copy_network(&view, net, ae->scale);
}

/* --- memory ----------------------------------------------------------------------------------- */

static int take_hidden(float **hidden, const codec_stack *stack, size_t batch, size_t *widest) {
    for (uint32_t i = 0; i + 1 < stack->depth; i++) {
        *widest = formats_larger(*widest, stack->layer[i].outputs);
        if (!train_zeros(&hidden[i], batch, stack->layer[i].outputs)) return 0;
    }
    return 1;
}

static int take_activations(train_activations *act, const codec_network *net, size_t batch) {
    size_t d = net->inputs, k = net->units, widest = 0;
    act->row_loss = calloc(4 * batch, sizeof *act->row_loss);
    if (!act->row_loss) return 0;
    act->row_error = act->row_loss + batch;
    act->row_bits = act->row_error + batch;
    act->row_weight = act->row_bits + batch;
    return train_zeros(&act->centred, batch, d) && train_zeros(&act->output, batch, d) &&
           train_zeros(&act->code, batch, k) && train_zeros(&act->quantised, batch, k) &&
           train_zeros(&act->quantiser_gradient, batch, k) &&
           train_zeros(&act->rate_gradient, batch, k) &&
           train_zeros(&act->scale_gradient, batch, k) &&
           train_zeros(&act->code_gradient, batch, k) && train_zeros(&act->inverse_scale, 1, k) &&
           take_hidden(act->encoder_hidden, &net->encoder, batch, &widest) &&
           take_hidden(act->decoder_hidden, &net->decoder, batch, &widest) &&
           train_zeros(&act->back[0], batch, widest) && train_zeros(&act->back[1], batch, widest);
}

static void free_activations(train_activations *act) {
    if (!act) return;
    float *arrays[] = {act->centred,
                       act->output,
                       act->code,
                       act->quantised,
                       act->rate_gradient,
                       act->scale_gradient,
                       act->quantiser_gradient,
                       act->code_gradient,
                       act->inverse_scale,
                       act->back[0],
                       act->back[1]};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    for (int i = 0; i < CODEC_MAX_LAYERS; i++)
        free(act->encoder_hidden[i]), free(act->decoder_hidden[i]);
    free(act->row_loss);
    free(act);
}

taper_status train_autoencoder_create(train_autoencoder *ae, const codec_network *net,
                                      codec_backend *be, size_t batch, float scale,
                                      const float *rate_scale) {
    memset(ae, 0, sizeof *ae);
    if (!batch || !(scale > 0.0f) || !net->inputs || !net->units) return TAPER_ERR_ARG;
    ae->be = be;
    ae->scale = scale;
    ae->batch = batch;
    ae->n = view_network(net, NULL, &ae->weights, &ae->log_scale);
    ae->act = calloc(1, sizeof *ae->act);
    if (!ae->act || !train_zeros(&ae->parameter, ae->n, 1) ||
        !train_zeros(&ae->gradient, ae->n, 1) || !take_activations(ae->act, net, batch)) {
        train_autoencoder_free(ae);
        return TAPER_ERR_NOMEM;
    }
    view_network(net, ae->parameter, &ae->weights, &ae->log_scale);
    view_network(net, ae->gradient, &ae->weight_gradients, &ae->log_scale_gradient);
    copy_network(net, &ae->weights, 1.0f / scale);
    if (!train_zeros(&ae->weights.mean, net->inputs, 1)) {
        train_autoencoder_free(ae);
        return TAPER_ERR_NOMEM;
    }
    memcpy(ae->weights.mean, net->mean, net->inputs * sizeof(float));
    for (uint32_t u = 0; u < net->units; u++) {
        float b = rate_scale[u] / scale;
        ae->log_scale[u] = logf(b > 1e-3f ? b : 1e-3f) / SCALE_SPEED;
    }
    return TAPER_OK;
}

void train_autoencoder_free(train_autoencoder *ae) {
    free(ae->weights.mean);
    free_activations(ae->act);
    free(ae->parameter);
    free(ae->gradient);
    memset(ae, 0, sizeof *ae);
}

/* --- forward ---------------------------------------------------------------------------------- */

typedef struct load_task {
    train_autoencoder *ae;
    const uint8_t *pixels;
    const uint32_t *order;
} load_task;

static void load_rows(void *context, size_t block) {
    const load_task *t = context;
    const train_autoencoder *ae = t->ae;
    const size_t d = ae->weights.inputs, end = formats_smaller(ae->act->rows, (block + 1) * ROWS);
    const float inverse = 1.0f / ae->scale;
    for (size_t i = block * ROWS; i < end; i++) {
        const uint8_t *y = t->pixels + (t->order ? (size_t)t->order[i] : i) * d;
        float *c = ae->act->centred + i * d;
        for (size_t j = 0; j < d; j++) c[j] = ((float)y[j] - ae->weights.mean[j]) * inverse;
    }
}

void train_autoencoder_load(train_autoencoder *ae, const uint8_t *pixels, const uint32_t *order,
                            size_t n) {
    load_task task = {ae, pixels, order};
    ae->act->rows = formats_smaller(n, ae->batch);
    codec_pool_run(ae->be->pool, load_rows, &task, row_blocks(ae->act->rows));
}

/* to += stack(from); hidden[i] keeps the output of hidden layer i. */
static taper_status stack_forward(codec_backend *be, const codec_stack *stack, size_t rows,
                                  const float *from, float **hidden, float *to) {
    for (uint32_t i = 0; i < stack->depth; i++) {
        const codec_layer *layer = &stack->layer[i];
        int last = i + 1 == stack->depth;
        float *y = last ? to : hidden[i];
        TAPER_TRY(be->ops->gemm(be, 0, 1, rows, layer->outputs, layer->inputs, from, layer->weight,
                                last ? 1.0f : 0.0f, y));
        TAPER_TRY(be->ops->bias(be, rows, layer->outputs, layer->bias,
                                last ? CODEC_LINEAR : CODEC_RELU, y));
        from = y;
    }
    return TAPER_OK;
}

static taper_status encode(train_autoencoder *ae) {
    train_activations *act = ae->act;
    const codec_network *w = &ae->weights;
    TAPER_TRY(ae->be->ops->gemm(ae->be, 0, 1, act->rows, w->units, w->inputs, act->centred,
                                w->analysis, 0.0f, act->code));
    return stack_forward(ae->be, &w->encoder, act->rows, act->centred, act->encoder_hidden,
                         act->code);
}

static taper_status decode(train_autoencoder *ae) {
    train_activations *act = ae->act;
    const codec_network *w = &ae->weights;
    TAPER_TRY(ae->be->ops->gemm(ae->be, 0, 0, act->rows, w->inputs, w->units, act->quantised,
                                w->synthesis, 0.0f, act->output));
    return stack_forward(ae->be, &w->decoder, act->rows, act->quantised, act->decoder_hidden,
                         act->output);
}

typedef struct objective_task {
    train_autoencoder *ae;
    const train_objective *objective;
    const train_cut *cuts;
} objective_task;

/* Quantise, and the rate with its two gradients, weighted as in the loss. */
static void objective_rows(void *context, size_t block) {
    const objective_task *t = context;
    const train_autoencoder *ae = t->ae;
    train_activations *act = ae->act;
    const uint32_t units = ae->weights.units;
    const float weight = t->objective->lambda / (float)act->rows;
    const size_t end = formats_smaller(act->rows, (block + 1) * ROWS);
    for (size_t i = block * ROWS; i < end; i++) {
        size_t at = i * units;
        train_cut cut = {t->cuts[i].threshold / ae->scale, t->cuts[i].kept};
        train_quantise_row(units, cut, t->objective->gradient_floor, act->code + at,
                           act->quantised + at, act->quantiser_gradient + at);
        act->row_bits[i] = train_rate_row(units, cut, act->code + at, act->inverse_scale,
                                          act->rate_gradient + at, act->scale_gradient + at);
        for (uint32_t u = 0; u < units; u++) {
            act->rate_gradient[at + u] *= weight;
            act->scale_gradient[at + u] *= weight * SCALE_SPEED;
        }
    }
}

/* output -= centred: the error, and its square for each row. */
static void error_rows(void *context, size_t block) {
    const objective_task *t = context;
    train_activations *act = t->ae->act;
    const size_t d = t->ae->weights.inputs, end = formats_smaller(act->rows, (block + 1) * ROWS);
    for (size_t i = block * ROWS; i < end; i++) {
        float *e = act->output + i * d;
        const float *c = act->centred + i * d;
        float lane[16] = {0}, sum = 0.0f;
        size_t j = 0;
        for (; j + 16 <= d; j += 16)
            for (size_t l = 0; l < 16; l++) {
                e[j + l] -= c[j + l];
                lane[l] += e[j + l] * e[j + l];
            }
        for (; j < d; j++) e[j] -= c[j], sum += e[j] * e[j];
        for (size_t l = 0; l < 16; l++) sum += lane[l];
        act->row_error[i] = sum;
    }
}

/* Rows whose thresholds lie in the same of BINS parts of the batch's range (logarithmic) are of one
 * quality; row_weight = (their mean error / the row's)^balance / T^2. */
static void weigh_rows(objective_task *t) {
    enum { BINS = 8 };
    train_activations *act = t->ae->act;
    double low = INFINITY, high = 0.0, sum[BINS] = {0}, count[BINS] = {0};
    for (size_t i = 0; i < act->rows; i++) {
        low = fmin(low, (double)t->cuts[i].threshold);
        high = fmax(high, (double)t->cuts[i].threshold);
    }
    double per_bin = high > low ? BINS * 0.9999 / log(high / low) : 0.0;
    for (size_t i = 0; i < act->rows; i++) {
        int bin = (int)(per_bin * log((double)t->cuts[i].threshold / low));
        sum[bin] += act->row_error[i];
        count[bin] += 1.0;
    }
    for (size_t i = 0; i < act->rows; i++) {
        int bin = (int)(per_bin * log((double)t->cuts[i].threshold / low));
        double threshold = (double)t->cuts[i].threshold / t->ae->scale;
        double ratio = fmin(fmax(sum[bin] / count[bin] / (act->row_error[i] + 1e-12), LEAST_RATIO),
                            MOST_RATIO);
        double weight =
            t->objective->balance > 0.0f ? pow(ratio, (double)t->objective->balance) : 1.0;
        act->row_weight[i] = weight / (threshold * threshold);
        act->row_loss[i] = act->row_error[i] * act->row_weight[i];
    }
}

/* The decoder's own loss is log |e|^2, by which rows that are (nearly) exact would dominate: half a
 * grey level is added to the error. */
static void weigh_rows_for_decoder(objective_task *t) {
    train_activations *act = t->ae->act;
    const double exact = t->ae->weights.inputs * 0.25 / ((double)t->ae->scale * t->ae->scale);
    for (size_t i = 0; i < act->rows; i++) {
        act->row_weight[i] = 1.0 / (act->row_error[i] + exact);
        act->row_loss[i] = log(act->row_error[i] + exact);
    }
}

/* output: from the error to d loss / d output. */
static void error_gradient_rows(void *context, size_t block) {
    const train_autoencoder *ae = context;
    train_activations *act = ae->act;
    const size_t d = ae->weights.inputs, end = formats_smaller(act->rows, (block + 1) * ROWS);
    for (size_t i = block * ROWS; i < end; i++) {
        const float factor = (float)(2.0 * act->row_weight[i] / (double)act->rows);
        for (size_t j = 0; j < d; j++) act->output[i * d + j] *= factor;
    }
}

static void sum_losses(const train_autoencoder *ae, float lambda, train_loss *out) {
    const train_activations *act = ae->act;
    *out = (train_loss){0};
    for (size_t i = 0; i < act->rows; i++) {
        out->loss += act->row_loss[i] + (double)lambda * act->row_bits[i];
        out->distortion += act->row_error[i];
        out->bits += act->row_bits[i];
    }
    double rows = (double)formats_larger(act->rows, 1);
    out->loss /= rows;
    out->bits /= rows;
    out->distortion *= (double)ae->scale * ae->scale / rows / ae->weights.inputs;
}

taper_status train_autoencoder_forward(train_autoencoder *ae, const train_objective *objective,
                                       const train_cut *cuts, train_loss *out) {
    TAPER_TRY(encode(ae));
    for (uint32_t u = 0; u < ae->weights.units; u++)
        ae->act->inverse_scale[u] = train_exp(-SCALE_SPEED * ae->log_scale[u]);
    objective_task task = {ae, objective, cuts};
    codec_pool_run(ae->be->pool, objective_rows, &task, row_blocks(ae->act->rows));
    TAPER_TRY(decode(ae));
    codec_pool_run(ae->be->pool, error_rows, &task, row_blocks(ae->act->rows));
    weigh_rows(&task);
    sum_losses(ae, objective->lambda, out);
    return TAPER_OK;
}

/* --- backward --------------------------------------------------------------------------------- */

/* Gradients of a stack whose output's gradient is dy (left as it is). If dx is given, dx += d loss
 * / d input. */
static taper_status stack_backward(train_autoencoder *ae, const codec_stack *w,
                                   const codec_stack *dw, float *const *hidden, const float *input,
                                   float *dy, float *dx) {
    codec_backend *be = ae->be;
    size_t rows = ae->act->rows;
    for (uint32_t i = w->depth; i-- > 0;) {
        const codec_layer *layer = &w->layer[i], *gradient = &dw->layer[i];
        const float *x = i ? hidden[i - 1] : input;
        int last = i + 1 == w->depth;
        TAPER_TRY(be->ops->bias_backward(be, rows, layer->outputs, last ? CODEC_LINEAR : CODEC_RELU,
                                         last ? NULL : hidden[i], dy, gradient->bias));
        TAPER_TRY(be->ops->gemm(be, 1, 0, layer->outputs, layer->inputs, rows, dy, x, 0.0f,
                                gradient->weight));
        float *next = i ? ae->act->back[i & 1] : dx;
        if (next)
            TAPER_TRY(be->ops->gemm(be, 0, 0, rows, layer->inputs, layer->outputs, dy,
                                    layer->weight, i ? 0.0f : 1.0f, next));
        dy = next;
    }
    return TAPER_OK;
}

/* From output (d loss / d y_hat): gradients of G and g; code_gradient = d loss / d x_q if it is
 * wanted. */
static taper_status decode_backward(train_autoencoder *ae, int want_codes) {
    train_activations *act = ae->act;
    const codec_network *w = &ae->weights;
    codec_backend *be = ae->be;
    codec_pool_run(be->pool, error_gradient_rows, ae, row_blocks(act->rows));
    TAPER_TRY(be->ops->gemm(be, 1, 0, w->units, w->inputs, act->rows, act->quantised, act->output,
                            0.0f, ae->weight_gradients.synthesis));
    if (want_codes)
        TAPER_TRY(be->ops->gemm(be, 0, 1, act->rows, w->units, w->inputs, act->output, w->synthesis,
                                0.0f, act->code_gradient));
    return stack_backward(ae, &w->decoder, &ae->weight_gradients.decoder, act->decoder_hidden,
                          act->quantised, act->output, want_codes ? act->code_gradient : NULL);
}

/* code_gradient: from d loss / d x_q to d loss / d x. */
static void straight_through_rows(void *context, size_t block) {
    train_autoencoder *ae = context;
    train_activations *act = ae->act;
    size_t units = ae->weights.units, end = formats_smaller(act->rows, (block + 1) * ROWS) * units;
    for (size_t i = block * ROWS * units; i < end; i++)
        act->code_gradient[i] =
            act->code_gradient[i] * act->quantiser_gradient[i] + act->rate_gradient[i];
}

taper_status train_autoencoder_backward(train_autoencoder *ae) {
    train_activations *act = ae->act;
    const codec_network *w = &ae->weights;
    codec_backend *be = ae->be;
    int tied = w->synthesis == w->analysis;
    TAPER_TRY(decode_backward(ae, 1));
    codec_pool_run(be->pool, straight_through_rows, ae, row_blocks(act->rows));
    TAPER_TRY(be->ops->gemm(be, 1, 0, w->units, w->inputs, act->rows, act->code_gradient,
                            act->centred, tied ? 1.0f : 0.0f, ae->weight_gradients.analysis));
    TAPER_TRY(stack_backward(ae, &w->encoder, &ae->weight_gradients.encoder, act->encoder_hidden,
                             act->centred, act->code_gradient, NULL));
    return be->ops->bias_backward(be, act->rows, w->units, CODEC_LINEAR, NULL, act->scale_gradient,
                                  ae->log_scale_gradient);
}

/* --- the decoder alone ------------------------------------------------------------------------ */

taper_status train_autoencoder_codes(train_autoencoder *ae, float *codes) {
    TAPER_TRY(encode(ae));
    size_t n = ae->act->rows * ae->weights.units;
    for (size_t i = 0; i < n; i++) codes[i] = ae->act->code[i] * ae->scale;
    return TAPER_OK;
}

taper_status train_autoencoder_decode_loss(train_autoencoder *ae, const float *codes_q,
                                           int gradient, train_loss *out) {
    train_activations *act = ae->act;
    size_t n = act->rows * ae->weights.units;
    const float inverse = 1.0f / ae->scale;
    for (size_t i = 0; i < n; i++) act->quantised[i] = codes_q[i] * inverse;
    memset(act->row_bits, 0, act->rows * sizeof *act->row_bits);
    TAPER_TRY(decode(ae));
    objective_task task = {ae, NULL, NULL};
    codec_pool_run(ae->be->pool, error_rows, &task, row_blocks(act->rows));
    weigh_rows_for_decoder(&task);
    sum_losses(ae, 0.0f, out);
    if (!gradient) return TAPER_OK;
    memset(ae->gradient, 0, ae->n * sizeof *ae->gradient);
    return decode_backward(ae, 0);
}
