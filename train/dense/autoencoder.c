/* autoencoder.c -- an encoder with its objectives, forward and backward; see autoencoder.h. */
#include "train/dense/autoencoder.h"
#include "formats/bytes.h"
#include "train/objectives/shared_weights.h"
#include "train/optimise/checkpoint.h"
#include <stdlib.h>
#include <string.h>

/* --- parameters ------------------------------------------------------------------------------- */

/* The network's view of an array (NULL: only counts); *log_scale: where the log scales begin. */
static size_t view_network(const codec_network *shape, float *array, codec_network *view,
                           float **log_scale) {
    size_t at = 0, linear = (size_t)shape->units * shape->inputs;
    *view = (codec_network){.inputs = shape->inputs, .units = shape->units};
    view->analysis = array;
    if (shape->synthesis != shape->analysis) at += linear;
    view->synthesis = array ? array + at : NULL;
    at += linear;
    at += train_stack_view(&shape->encoder, array ? array + at : NULL, &view->encoder);
    at += train_stack_view(&shape->decoder, array ? array + at : NULL, &view->decoder);
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

taper_status train_autoencoder_export(train_autoencoder *ae, const float *from,
                                      codec_network *net) {
    codec_network view;
    float *log_scale, *host = malloc(ae->weights.n * sizeof *host);
    if (!host) return TAPER_ERR_NOMEM;
    taper_status status = train_download(&ae->stream, host, from, ae->weights.n * sizeof *host);
    view_network(net, host, &view, &log_scale);
    if (status == TAPER_OK) copy_network(&view, net, ae->scale);
    free(host);
    return status;
}

/* The initial parameters, and the mean. */
static taper_status upload_start(train_autoencoder *ae, const codec_network *net,
                                 const float *rate_scale) {
    codec_network view;
    float *log_scale, *host = calloc(ae->weights.n, sizeof *host);
    if (!host) return TAPER_ERR_NOMEM;
    view_network(net, host, &view, &log_scale);
    copy_network(net, &view, 1.0f / ae->scale);
    for (uint32_t u = 0; u < net->units; u++)
        log_scale[u] = train_rate_log_scale(rate_scale[u] / ae->scale);
    taper_status status =
        train_upload(&ae->stream, ae->weights.parameter, host, ae->weights.n * sizeof *host);
    free(host);
    if (status != TAPER_OK) return status;
    return train_upload(&ae->stream, ae->view.mean, net->mean, net->inputs * sizeof(float));
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Assigns parameters of further objectives from `at` on in the vector. Returns their number. */
static size_t place_objectives(train_autoencoder *ae, size_t at) {
    const train_weights *w = &ae->weights;
    for (int i = 0; i < ae->n_objectives; i++) {
        const train_objective *o = ae->use[i].objective;
        size_t n = o->numbers ? o->numbers(ae->use[i].self, ae->view.units) : 0;
        if (n && w->parameter) o->place(ae->use[i].self, w->parameter + at, w->gradient + at);
        at += n;
    }
    return at;
}

static void lay_out_numbers(train_autoencoder *ae, const codec_network *net,
                            train_weights_use use) {
    float *log_scale;
    size_t n = view_network(net, NULL, &ae->view, &log_scale);
    ae->weights = (train_weights){0};
    train_weights_lay_out(&ae->weights, &ae->numbers, place_objectives(ae, n), use);
    place_objectives(ae, n);
    view_network(net, ae->weights.gradient, &ae->gradient, &ae->rate.log_scale_gradient);
    view_network(net, ae->weights.parameter, &ae->view, &log_scale);
    ae->rate.log_scale = log_scale;
    ae->view.mean = train_arena_floats(&ae->numbers, 1, net->inputs);
}

static void lay_out_activations(train_autoencoder *ae, const codec_network *net) {
    train_arena *arena = &ae->activations;
    size_t batch = ae->batch, k = net->units;
    size_t widest =
        formats_larger(train_stack_widest(&net->encoder), train_stack_widest(&net->decoder));
    ae->centred = train_arena_floats(arena, batch, net->inputs);
    ae->code = train_arena_floats(arena, batch, k);
    ae->code_gradient = train_arena_floats(arena, batch, k);
    ae->cuts = train_arena_take(arena, batch, 1, sizeof *ae->cuts);
    ae->label = train_arena_take(arena, batch, 1, sizeof *ae->label);
    ae->row_loss = train_arena_take(arena, batch, 1, sizeof *ae->row_loss);
    ae->sums = train_arena_take(arena, TRAIN_LOSSES, 1, sizeof *ae->sums);
    train_stack_lay_out(&ae->act, arena, &net->encoder, CODEC_RELU, batch);
    train_reconstruction_lay_out(&ae->reconstruction, arena, net, batch);
    train_rate_lay_out(&ae->rate, arena, net->units, batch);
    for (int i = 0; i < 2; i++)
        ae->act.back[i] = ae->reconstruction.act.back[i] = train_arena_floats(arena, batch, widest);
    for (int i = 0; i < ae->n_objectives; i++)
        if (ae->use[i].objective->lay_out)
            ae->use[i].objective->lay_out(ae->use[i].self, arena, net->units, batch);
}

static taper_status take_memory(train_autoencoder *ae, const codec_network *net,
                                train_device *device, train_weights_use use) {
    TAPER_TRY(train_stream_open(&ae->stream, device));
    lay_out_numbers(ae, net, use);
    lay_out_activations(ae, net);
    TAPER_TRY(train_arena_alloc(&ae->numbers, device));
    TAPER_TRY(train_arena_alloc(&ae->activations, device));
    lay_out_numbers(ae, net, use);
    lay_out_activations(ae, net);
    return train_weights_keep(&ae->weights, device);
}

static void take_objectives(train_autoencoder *ae, const train_autoencoder_options *o) {
    ae->reconstruction.w = &ae->view;
    ae->reconstruction.dw = &ae->gradient;
    ae->reconstruction.ranks = o->ranks;
    ae->use[0] = (train_objective_use){&train_reconstruction_objective, &ae->reconstruction};
    ae->use[1] = (train_objective_use){&train_rate_objective, &ae->rate};
    for (int i = 0; i < o->n_also; i++) ae->use[2 + i] = o->also[i];
    ae->n_objectives = 2 + o->n_also;
}

taper_status train_autoencoder_create(train_autoencoder *ae, const codec_network *net,
                                      train_device *device, const train_autoencoder_options *o) {
    *ae = (train_autoencoder){.scale = o->scale, .batch = o->batch};
    if (!o->batch || !(o->scale > 0.0f) || !net->inputs || !net->units || o->n_also < 0 ||
        o->n_also > TRAIN_MOST_OBJECTIVES - 2)
        return TAPER_ERR_ARG;
    take_objectives(ae, o);
    taper_status status = take_memory(ae, net, device, o->use);
    if (status == TAPER_OK) status = upload_start(ae, net, o->rate_scale);
    if (status != TAPER_OK) train_autoencoder_free(ae);
    return status;
}

void train_autoencoder_free(train_autoencoder *ae) {
    train_arena_free(&ae->numbers);
    train_arena_free(&ae->activations);
    train_stream_close(&ae->stream);
    memset(ae, 0, sizeof *ae);
}

void train_autoencoder_set_trade(train_autoencoder *ae, const train_trade *trade) {
    ae->rate.lambda = trade->lambda;
    ae->reconstruction.gradient_floor = trade->gradient_floor;
    ae->reconstruction.balance = trade->balance;
}

/* --- forward ---------------------------------------------------------------------------------- */

taper_status train_autoencoder_load(train_autoencoder *ae, const uint8_t *pixels,
                                    const uint32_t *order, size_t n) {
    train_stream *s = &ae->stream;
    ae->rows = formats_smaller(n, ae->batch);
    ae->labelled = 0;
    return s->ops->centre_rows(s, ae->rows, ae->view.inputs, pixels, order, ae->view.mean,
                               1.0f / ae->scale, ae->centred);
}

taper_status train_autoencoder_label(train_autoencoder *ae, const uint32_t *label,
                                     const uint32_t *order) {
    train_stream *s = &ae->stream;
    ae->labelled = label != NULL;
    if (!label) return TAPER_OK;
    return s->ops->gather_rows(s, ae->rows, sizeof *label, label, order, ae->label);
}

static taper_status encode(train_autoencoder *ae) {
    train_stream *s = &ae->stream;
    const codec_network *w = &ae->view;
    TAPER_TRY(s->ops->gemm(s, 0, 1, ae->rows, w->units, w->inputs, ae->centred, w->analysis, 0.0f,
                           ae->code));
    return train_stack_forward(s, &w->encoder, ae->rows, ae->centred, &ae->act, ae->code);
}

static train_examples examples_of(const train_autoencoder *ae) {
    return (train_examples){.rows = ae->rows,
                            .units = ae->view.units,
                            .code = ae->code,
                            .cut = ae->cuts,
                            .scale = ae->scale,
                            .target = ae->centred,
                            .label = ae->labelled ? ae->label : NULL};
}

/* Losses of objectives first .. end - 1, and their reported figures. */
static taper_status add_losses(train_autoencoder *ae, int end, double *sums) {
    train_stream *s = &ae->stream;
    train_examples e = examples_of(ae);
    TAPER_TRY(train_zero(s, ae->row_loss, ae->rows * sizeof *ae->row_loss));
    TAPER_TRY(train_zero(s, sums, TRAIN_LOSSES * sizeof *sums));
    for (int i = 0; i < end; i++)
        TAPER_TRY(ae->use[i].objective->loss(ae->use[i].self, s, &e, ae->row_loss,
                                             sums + TRAIN_LOSS_ERROR + i));
    return s->ops->sum_doubles(s, ae->rows, ae->row_loss, sums + TRAIN_LOSS_ALL);
}

taper_status train_autoencoder_forward(train_autoencoder *ae, const train_cut *cuts, double *sums) {
    ae->reconstruction.given = 0;
    TAPER_TRY(train_upload(&ae->stream, ae->cuts, cuts, ae->rows * sizeof *cuts));
    TAPER_TRY(encode(ae));
    return add_losses(ae, ae->n_objectives, sums);
}

taper_status train_autoencoder_absent(train_autoencoder *ae) {
    if (!ae->reconstruction.ranks) return TAPER_OK;
    return train_weigh_shared(&ae->stream, ae->reconstruction.ranks, &(train_shared_rows){0});
}

train_loss train_autoencoder_means(const train_autoencoder *ae, const double *sums, double rows) {
    double levels = (double)ae->scale * ae->scale;
    return (train_loss){.loss = sums[TRAIN_LOSS_ALL] / rows,
                        .distortion = sums[TRAIN_LOSS_ERROR] * (levels / rows / ae->view.inputs),
                        .bits = sums[TRAIN_LOSS_BITS] / rows};
}

/* --- backward --------------------------------------------------------------------------------- */

taper_status train_autoencoder_backward(train_autoencoder *ae) {
    train_stream *s = &ae->stream;
    const codec_network *w = &ae->view;
    train_examples e = examples_of(ae);
    int tied = w->synthesis == w->analysis;
    TAPER_TRY(train_zero(s, ae->code_gradient, ae->rows * w->units * sizeof(float)));
    for (int i = 0; i < ae->n_objectives; i++)
        TAPER_TRY(ae->use[i].objective->gradient(ae->use[i].self, s, &e, ae->code_gradient));
    TAPER_TRY(s->ops->gemm(s, 1, 0, w->units, w->inputs, ae->rows, ae->code_gradient, ae->centred,
                           tied ? 1.0f : 0.0f, ae->gradient.analysis));
    return train_stack_backward(s, &w->encoder, &ae->gradient.encoder, ae->rows, ae->centred,
                                &ae->act, ae->code_gradient, NULL);
}

/* --- the decoder alone ------------------------------------------------------------------------ */

taper_status train_autoencoder_codes(train_autoencoder *ae, float *codes) {
    train_stream *s = &ae->stream;
    size_t n = ae->rows * ae->view.units;
    TAPER_TRY(encode(ae));
    TAPER_TRY(s->ops->scale(s, n, ae->scale, ae->code, ae->code));
    return train_download(s, codes, ae->code, n * sizeof *codes);
}

taper_status train_autoencoder_decode_loss(train_autoencoder *ae, const float *codes_q,
                                           int gradient, double *sums) {
    train_stream *s = &ae->stream;
    train_reconstruction *r = &ae->reconstruction;
    train_examples e = examples_of(ae);
    size_t n = ae->rows * ae->view.units;
    r->given = 1;
    TAPER_TRY(train_upload(s, r->quantised, codes_q, n * sizeof *codes_q));
    TAPER_TRY(s->ops->scale(s, n, 1.0f / ae->scale, r->quantised, r->quantised));
    TAPER_TRY(add_losses(ae, 1, sums));
    if (!gradient) return TAPER_OK;
    TAPER_TRY(train_zero(s, ae->weights.gradient, ae->weights.n * sizeof(float)));
    return train_reconstruction_objective.gradient(r, s, &e, NULL);
}
