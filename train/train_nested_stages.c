/* train_nested_stages.c -- family dense with whole units, real-valued or binary, as in Rippel et
 * al. (2014): from images to a model; see train_stages.h. */
#include "train/nested/nested_trainer.h"
#include "train/optimise/run.h"
#include "train/sampling/own_rows.h"
#include "train/sampling/thresholds.h"
#include "train/side_by_side.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

train_nested_choice train_nested_choice_defaults(void) {
    return (train_nested_choice){.truncation = "uniform",
                                 .tied = 1,
                                 .hidden_activation = CODEC_RELU,
                                 .unit_activation = CODEC_LINEAR,
                                 .centre = -1.0f,
                                 .training = train_nested_defaults()};
}

/* --- creating the network -------------------------------------------------------------- */

static train_nested_shape shape_of(const taper_model *m, const train_job *j) {
    const train_nested_choice *c = &j->options.nested;
    train_nested_shape s = {.inputs = m->network.inputs,
                            .layers = j->options.n_hidden + 1,
                            .hidden = c->hidden_activation,
                            .code = c->unit_activation,
                            .tied = c->tied,
                            .binary = j->options.code == TRAIN_CODE_BINARY,
                            .feedback = j->options.code == TRAIN_CODE_BINARY && !c->independent,
                            .centre = c->centre < 0.0f ? (float)c->training.beta : c->centre};
    if (s.feedback) s.alone = formats_smaller(c->training.class_units, m->network.units);
    for (uint32_t l = 0; l < j->options.n_hidden; l++) s.width[l] = j->options.hidden[l];
    s.width[j->options.n_hidden] = m->network.units;
    return s;
}

/* Downloads n numbers and multiplies them by a factor. */
static taper_status fetch(train_stream *stream, float *to, const float *from, size_t n,
                          float factor) {
    TAPER_TRY(train_download(stream, to, from, n * sizeof *to));
    for (size_t i = 0; i < n; i++) to[i] *= factor;
    return TAPER_OK;
}

/* Downloads the decoder's weights of an untied layer. */
static taper_status fetch_transposed(train_stream *stream, float *to,
                                     const train_nested_layer *layer, float factor) {
    size_t n = (size_t)layer->inputs * layer->outputs;
    float *weights = malloc(n * sizeof *weights);
    taper_status status = weights ? fetch(stream, weights, layer->v, n, 1.0f) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) codec_transpose(weights, layer->outputs, layer->inputs, factor, to);
    free(weights);
    return status;
}

/* Exports feedback and mixing. The codec feeds back ones and zeros, independent of the centre; the
 * biases, which are computed later, compensate. */
static taper_status export_triangles(train_nested_network *net, codec_network *to) {
    const size_t n = (size_t)net->units * net->units;
    if (!net->feedback && !net->mixed) return TAPER_OK;
    TAPER_TRY(codec_network_add_feedback(to));
    if (net->feedback) TAPER_TRY(fetch(&net->stream, to->feedback, net->feedback, n, 1.0f));
    return net->mixed ? fetch(&net->stream, to->mixing, net->mixing, n, 1.0f) : TAPER_OK;
}

/* Exports the trained network in the codec's form. Pixels are on the 0..255 scale, so the first
 * layer divides by the scale and the last one multiplies. */
static taper_status export_network(train_nested_network *net, codec_network *to) {
    const train_nested_shape *s = &net->shape;
    train_stream *stream = &net->stream;
    uint32_t n = s->layers - 1, mirrored[TRAIN_NESTED_MAX_LAYERS];
    for (uint32_t i = 0; i < n; i++) mirrored[i] = s->width[n - 1 - i];
    TAPER_TRY(
        codec_network_alloc(to, s->inputs, net->units, CODEC_DIRECT, s->width, n, mirrored, n));
    to->hidden = s->hidden;
    to->code = s->binary ? CODEC_LINEAR : s->code;
    TAPER_TRY(fetch(stream, to->mean, net->mean, s->inputs, 1.0f));
    for (uint32_t l = 0; l < s->layers; l++) {
        const train_nested_layer *y = &net->layer[l];
        codec_layer *in = &to->encoder.layer[l], *out = &to->decoder.layer[n - l];
        float inwards = l ? 1.0f : 1.0f / net->scale, outwards = l ? 1.0f : net->scale;
        TAPER_TRY(fetch(stream, in->weight, y->w, (size_t)y->inputs * y->outputs, inwards));
        TAPER_TRY(fetch(stream, in->bias, y->b, y->outputs, 1.0f));
        if (!s->tied) TAPER_TRY(fetch_transposed(stream, out->weight, y, outwards));
        TAPER_TRY(fetch(stream, out->bias, y->c, y->inputs, outwards));
    }
    TAPER_TRY(export_triangles(net, to));
    return s->tied ? codec_network_tie(to, net->scale * net->scale) : TAPER_OK;
}

/* --- binary: tables and thresholds ----------------------------------------------------- */

/* The first n rows, and those of them that are here. */
static taper_status first_rows(const train_pixels *pixels, size_t n, train_own_rows *own) {
    uint32_t *row = malloc((n + 1) * sizeof *row);
    for (size_t i = 0; row && i < n; i++) row[i] = (uint32_t)i;
    const taper_status status = row ? train_own_rows_open(own, pixels, row, n, 1) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) train_own_rows_pick(own, pixels, row, n, n);
    free(row);
    return status;
}

/* Pre-activations of the rows that are here. */
static taper_status own_codes(const codec_network *net, codec_backend *be,
                              const train_pixels *pixels, const train_own_rows *own, float *a) {
    enum { BLOCK = 512 };
    const size_t d = pixels->inputs, n = train_own_count(own, 0);
    float *rows = malloc(BLOCK * d * sizeof *rows);
    taper_status status = rows ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n && status == TAPER_OK; i += BLOCK) {
        const size_t count = n - i < BLOCK ? n - i : BLOCK;
        for (size_t j = 0; j < count * d; j++)
            rows[j] = pixels->pixels[own->place[i + j / d] * d + j % d];
        status = codec_network_encode(net, be, rows, count, a + i * net->units);
    }
    free(rows);
    return status;
}

/* Pre-activations a[n][units] of the first n rows, of all ranks, without biases and without
 * feedback. */
static taper_status raw_codes(codec_network *net, codec_backend *be, const train_pixels *pixels,
                              size_t n, float *a) {
    float *feedback = net->feedback;
    train_own_rows own = {0};
    memset(net->encoder.layer[net->encoder.depth - 1].bias, 0, net->units * sizeof(float));
    net->feedback = NULL;
    taper_status status = first_rows(pixels, n, &own);
    if (status == TAPER_OK) status = own_codes(net, be, pixels, &own, a);
    if (status == TAPER_OK)
        train_spread_rows(a, net->units * sizeof *a, own.position, train_own_count(&own, 0), n);
    if (status == TAPER_OK) status = train_sum_floats(pixels->ranks, a, n * net->units, NULL);
    net->feedback = feedback;
    train_own_rows_free(&own);
    return status;
}

/* Recomputes thresholds for the weights as stored, and each unit's fraction of ones. */
static taper_status exact_thresholds(taper_model *m, codec_backend *be, const train_pixels *pixels,
                                     double beta, float *density) {
    enum { MOST = 1 << 26 };
    codec_network *net = &m->network;
    const size_t units = net->units;
    size_t n = pixels->n < MOST / units ? pixels->n : MOST / units;
    float *bias = net->encoder.layer[net->encoder.depth - 1].bias;
    float *a = malloc(n * units * sizeof *a);
    taper_status status = a ? raw_codes(net, be, pixels, n, a) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK)
        status = train_exact_thresholds(net->feedback, units, n, beta, 0.0f, a, bias);
    for (size_t k = 0; k < units && status == TAPER_OK; k++) {
        size_t ones = 0;
        for (size_t i = 0; i < n; i++) ones += a[i * units + k] > 0.0f;
        density[k] = (float)ones / (float)n;
    }
    free(a);
    return status;
}

/* Makes the stored weights, with `bits` bits for the largest of a row, the tables, and thresholds
 * that fit the stored weights on `pixels`. */
static taper_status store_binary(taper_model *m, const train_job *j, const train_pixels *pixels,
                                 float centre, int bits) {
    const codec_weight_precision precision = train_stored_precision(j);
    const uint32_t units = m->network.units, area = m->window.width * m->window.height;
    float *density = calloc(units, sizeof *density);
    taper_status status = density ? TAPER_OK : TAPER_ERR_NOMEM;
    m->layer_bits = bits;
    codec_code_tables_free(&m->tables);
    if (status == TAPER_OK)
        status = codec_code_tables_make_binary(&m->tables, units, area, density);
    if (status == TAPER_OK) status = codec_model_round_weights(m, &precision, NULL);
    if (status == TAPER_OK)
        status = exact_thresholds(m, j->be, pixels, j->options.nested.training.beta, density);
    if (status == TAPER_OK) {
        codec_code_tables_free(&m->tables);
        status = codec_code_tables_make_binary(&m->tables, units, area, density);
        m->tables.centre = centre;
    }
    free(density);
    return status;
}

/* --- binary: precision of stored weights ----------------------------------------------- */

/* Sum of squared errors of n decoded rows, at these places, with full codes. */
static taper_status sum_errors(const taper_model *m, codec_backend *be, const train_pixels *rows,
                               const uint32_t *place, size_t n, double *sum) {
    const size_t d = rows->inputs, k = m->network.units;
    float *y = malloc((n * d + 1) * sizeof *y), *x = malloc((n * k + 1) * sizeof *x);
    taper_status status = y && x ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n * d && status == TAPER_OK; i++)
        y[i] = rows->pixels[place[i / d] * d + i % d];
    if (status == TAPER_OK) status = codec_network_encode(&m->network, be, y, n, x);
    for (size_t i = 0; i < n * k && status == TAPER_OK; i++)
        x[i] = (float)(x[i] > 0.0f) - m->tables.centre;
    if (status == TAPER_OK) status = codec_network_decode(&m->network, be, x, n, y);
    for (size_t i = 0; i < n * d && status == TAPER_OK; i++)
        *sum += pow((double)y[i] - rows->pixels[place[i / d] * d + i % d], 2.0);
    free(y), free(x);
    return status;
}

/* Mean squared error of decoded rows, of all ranks, with full codes. */
static taper_status stored_error(const taper_model *m, codec_backend *be, const train_pixels *rows,
                                 double *mse) {
    train_own_rows own = {0};
    double sum = 0.0;
    taper_status status = first_rows(rows, rows->n, &own);
    if (status == TAPER_OK)
        status = sum_errors(m, be, rows, own.place, train_own_count(&own, 0), &sum);
    if (status == TAPER_OK) status = train_sum_doubles(rows->ranks, &sum, 1, NULL);
    *mse = sum / ((double)rows->n * rows->inputs);
    train_own_rows_free(&own);
    return status;
}

static taper_status take_network(train_nested_network *net, taper_model *m) {
    codec_network_free(&m->network);
    return export_network(net, &m->network);
}

/* The step size of a row follows from its largest weight. Rows of the feedback matrices have large
 * and small weights: with 8 bits the error of full codes of 1,024 units rose by 40 %, with 12 bits
 * by less than 1 %. So it takes the fewest bits for which the error on some rows rises by at most
 * 1 %. */
static taper_status choose_bits(train_nested_network *net, taper_model *m, const train_job *j,
                                const train_pixels *pixels, int *bits) {
    enum { ROWS = 2000, LEAST = 8, MOST = 16 };
    static const double most_loss = 1.01;
    train_pixels some = *pixels;
    double best, mse;
    some.n = some.n < ROWS ? some.n : ROWS;
    TAPER_TRY(take_network(net, m));
    TAPER_TRY(store_binary(m, j, &some, net->shape.centre, MOST));
    TAPER_TRY(stored_error(m, j->be, &some, &best));
    for (*bits = LEAST; *bits < MOST; *bits += 2) {
        TAPER_TRY(take_network(net, m));
        TAPER_TRY(store_binary(m, j, &some, net->shape.centre, *bits));
        TAPER_TRY(stored_error(m, j->be, &some, &mse));
        if (mse <= most_loss * best) break;
    }
    return TAPER_OK;
}

static taper_status finish_binary(train_nested_network *net, taper_model *m, const train_job *j,
                                  const train_pixels *pixels) {
    int bits;
    TAPER_TRY(choose_bits(net, m, j, pixels, &bits));
    TAPER_TRY(take_network(net, m));
    return store_binary(m, j, pixels, net->shape.centre, bits);
}

/* --- the stages ------------------------------------------------------------------------ */

static taper_status train_network(train_nested_network *net, const train_job *j,
                                  const train_pixels *pixels, taper_error *error) {
    train_nested_options o = j->options.nested.training;
    train_truncation truncation = {0};
    taper_status status = TAPER_OK;
    if (j->options.nested.truncation)
        status =
            train_truncation_make(&truncation, j->options.nested.truncation, net->units, error);
    if (status != TAPER_OK) return status;
    o.truncation = j->options.nested.truncation ? &truncation : NULL;
    train_say(j, "training", -1);
    status = train_nested(&o, pixels, net, &j->hooks->nested, NULL, error);
    train_truncation_free(&truncation);
    return status;
}

static taper_status make_network(train_nested_network *net, const taper_model *m,
                                 const train_job *j, train_device *device,
                                 const train_pixels *pixels, taper_error *error) {
    train_nested_shape shape = shape_of(m, j);
    float scale, *mean = malloc(pixels->inputs * sizeof *mean);
    if (!mean) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the mean image");
    taper_status status = train_nested_statistics(pixels, mean, &scale);
    if (status == TAPER_OK)
        status =
            train_nested_create(net, &shape, device, mean, scale, j->options.nested.training.seed);
    free(mean);
    if (status == TAPER_ERR_ARG)
        return formats_fail(error, status,
                            "a network of these widths cannot be made; 0 to 6 hidden layers of "
                            "1 to 65535 units are possible");
    return train_explain(status, error, "a network of %u units", (unsigned)m->network.units);
}

typedef struct learning {
    taper_model *model;
    const train_job *job;
    const train_pixels *pixels;
} learning;

/* Trains and exports the network; afterwards the device is not needed. */
static taper_status learn(void *context, train_device *device, taper_error *error) {
    const learning *l = context;
    train_nested_network net = {0};
    taper_status status = make_network(&net, l->model, l->job, device, l->pixels, error);
    if (status == TAPER_OK) status = train_network(&net, l->job, l->pixels, error);
    if (status == TAPER_OK) {
        train_say(l->job, "calibration", -1);
        status = net.shape.binary ? finish_binary(&net, l->model, l->job, l->pixels)
                                  : take_network(&net, l->model);
        if (status != TAPER_OK)
            formats_fail(error, status, "the network could not be taken: %s",
                         formats_status_name(status));
    }
    train_nested_free(&net);
    return status;
}

static taper_status begin(taper_model *m, const train_job *j, taper_error *error) {
    const uint32_t inputs = codec_window_values(m->window), units = j->options.units;
    (void)error;
    m->info.family = TAPER_FAMILY_DENSE;
    m->network.inputs = inputs;
    m->network.units = units ? units : (uint32_t)formats_smaller(TRAIN_MOST_UNITS, inputs);
    return TAPER_OK;
}

static taper_status end(taper_model *m, const train_job *j, taper_error *error) {
    train_pixels pixels;
    uint8_t *memory = NULL;
    if (j->options.n_hidden >= TRAIN_NESTED_MAX_LAYERS)
        return formats_fail(error, TAPER_ERR_ARG, "%u hidden layers; 0 to 6 are possible",
                            j->options.n_hidden);
    if (train_collect_windows(j->data, m->window, TRAIN_PART_TRAINING, &pixels, &memory) !=
        TAPER_OK) {
        free(memory);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the training windows");
    }
    learning what = {m, j, &pixels};
    taper_status status = train_learn(j, learn, &what, error);
    if (status == TAPER_OK && j->options.code != TRAIN_CODE_BINARY)
        status = train_calibrate_dense(m, j, error);
    free(memory);
    return status;
}

const train_stages train_nested_stages = {begin, end, NULL};
