/* embedding_stage.c -- see embedding_stage.h. */
#include "train/supervised/embedding_stage.h"
#include "codec/model/work.h"
#include "formats/bytes.h"
#include "train/embedding/drawn_start.h"
#include "train/embedding/row_codes.h"
#include "train/optimise/run.h"
#include "train/rbm/rbm_unroll.h"
#include "train/sampling/own_rows.h"
#include "train/supervised/taught.h"
#include <stdlib.h>
#include <string.h>

/* The arguments of the steps. */
typedef struct job {
    train_embedding_stage *stage;
    const train_embedding_choice *choice;
    const train_pixels *pixels; /* or their gradients */
    const train_taught *taught;
} job;

static void say(const job *j, const char *stage) {
    const train_embedding_hooks *h = j->stage->hooks;
    if (h->stage) h->stage(h->user, stage, -1.0);
}

/* All units; those for reconstruction only come last. */
static uint32_t units_of(const train_embedding_choice *c) {
    return c->units + c->training.free_units;
}

/* --- the network before labels -------------------------------------------------------------- */

static taper_status refuse_layers(taper_error *error) {
    return formats_fail(error, TAPER_ERR_ARG,
                        "a network of these widths cannot be made; 0 to %d hidden layers of 1 to "
                        "%d units are possible, convolutional layers included",
                        CODEC_MAX_LAYERS - 1, CODEC_MAX_LAYER_WIDTH);
}

/* Convolutional layers, and what follows them. */
static taper_status make_convolutions(const job *j, codec_network *net, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    const codec_cells cells = {c->cells, c->cells};
    codec_map map = codec_model_map(j->stage->window, cells);
    if (c->training.reconstruct > 0.0 || c->guess_labels || c->start != TRAIN_EMBEDDING_DRAWN)
        return formats_fail(error, TAPER_ERR_ARG,
                            "convolutional layers learn from labels alone, and begin with random "
                            "weights");
    if (c->convolutions + (uint64_t)c->n_hidden >= CODEC_MAX_LAYERS) return refuse_layers(error);
    const taper_status status = codec_network_alloc_convolutions(
        net, map, c->channels, c->convolutions, c->units, c->hidden, c->n_hidden);
    if (status != TAPER_ERR_ARG)
        return train_explain(status, error, "a network of %u units", c->units);
    return refuse_layers(error);
}

/* A network of all units, with a decoder if there is reconstruction. */
static taper_status make_network(const job *j, codec_network *net, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    const uint32_t inputs = j->pixels->inputs, n = c->n_hidden, units = units_of(c);
    const int decodes = c->training.reconstruct > 0.0;
    if (c->convolutions) return make_convolutions(j, net, error);
    uint32_t mirrored[CODEC_MAX_LAYERS];
    for (uint32_t i = 0; i < n && n < CODEC_MAX_LAYERS; i++) mirrored[i] = c->hidden[n - 1 - i];
    taper_status status =
        codec_network_alloc(net, inputs, units, decodes ? CODEC_DIRECT : CODEC_ENCODER, c->hidden,
                            n, decodes ? mirrored : NULL, decodes ? n : 0);
    if (status != TAPER_ERR_ARG)
        return train_explain(status, error, "a network of %u units", units);
    return refuse_layers(error);
}

/* Checks the size of the final model, as taper_limits counts it: the mean of each input, and the
 * encoder's layers. Illegal widths are left to make_network. */
static taper_status check_size(const job *j, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    const codec_cells cells = {c->cells, c->cells};
    codec_map map = codec_model_map(j->stage->window, cells);
    uint64_t before = j->pixels->inputs, weights = before;
    if (!c->max_model) return TAPER_OK;
    for (uint32_t l = 0; l < c->convolutions && l < CODEC_MAX_LAYERS; l++) {
        weights += (codec_map_row(map) + 1) * c->channels[l];
        map = codec_map_pooled(map, c->channels[l]);
        before = codec_map_values(map);
        if (before > CODEC_MAX_LAYER_WIDTH) return refuse_layers(error);
    }
    for (uint32_t l = 0; l <= c->n_hidden; l++) {
        const uint64_t width = l < c->n_hidden ? c->hidden[l] : c->units;
        if (width > CODEC_MAX_LAYER_WIDTH) return TAPER_OK;
        weights += before * width + width;
        before = width;
    }
    return codec_weights_check(weights, c->max_model, error);
}

static taper_status pretrain(const job *j, codec_network *net, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    train_rbm_stack stack = {0};
    train_rbm_options o = c->rbm;
    uint32_t width[CODEC_MAX_LAYERS];
    const double begun = train_seconds();
    for (uint32_t i = 0; i < c->n_hidden; i++) width[i] = c->hidden[i];
    width[c->n_hidden] = units_of(c);
    o.top = TRAIN_GAUSSIAN;
    say(j, "pretraining");
    taper_status status = train_rbm_stack_learn(&stack, &o, j->pixels, width, c->n_hidden + 1,
                                                j->stage->device, &j->stage->hooks->rbm, error);
    if (status == TAPER_OK && stack.layers <= c->n_hidden)
        status = formats_fail(error, TAPER_ERR_ARG,
                              "stopped while layers were pretrained, before labels were looked at");
    if (status == TAPER_OK) status = train_rbm_unroll(&stack, net, error);
    train_rbm_stack_free(&stack);
    j->stage->pretraining_seconds = train_seconds_since(begun);
    return status;
}

/* It may only use labels of training rows, because the others choose the network. */
static taper_status start_linear(const job *j, codec_network *net, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    train_pixels known = *j->pixels;
    uint32_t classes, *label = malloc(formats_larger(known.n, 1) * sizeof *label);
    taper_status status = train_explain(label ? TAPER_OK : TAPER_ERR_NOMEM, error, "labels");
    if (status == TAPER_OK)
        status = train_embedding_known(&c->training, j->pixels, label, &classes, error);
    known.label = label;
    if (status == TAPER_OK)
        status = train_linear_start(&c->linear, &known, j->stage->device, net, error);
    free(label);
    return status;
}

static taper_status teach(const job *j, train_taught *taught, taper_error *error) {
    const double begun = train_seconds();
    const int starts = j->choice->n_hidden && j->choice->start == TRAIN_EMBEDDING_TAUGHT;
    if (!j->choice->guess_labels && !starts) return TAPER_OK;
    say(j, "teaching");
    taper_status status = train_teach(j->choice, j->pixels, j->stage->be, j->stage->device,
                                      &j->stage->hooks->training, taught, error);
    j->stage->pretraining_seconds = train_seconds_since(begun);
    return status;
}

static taper_status start(const job *j, codec_network *net, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    if (!train_embedding_is_deep(c)) return start_linear(j, net, error);
    if (c->start == TRAIN_EMBEDDING_PRETRAINED) return pretrain(j, net, error);
    train_drawn_start(net, c->training.seed);
    if (c->start == TRAIN_EMBEDDING_TAUGHT) train_taught_start(j->taught, net);
    return TAPER_OK;
}

/* Compares principal components or pretrained layers with random weights, if the stage does. */
static taper_status choose_start(const job *j, const train_embedding_options *options,
                                 codec_network *net, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    const int learned = train_embedding_is_deep(c) ? c->start == TRAIN_EMBEDDING_PRETRAINED
                                                   : c->linear.kind == TRAIN_START_PCA;
    if (!j->stage->choose_start || !learned || !options->epochs) return TAPER_OK;
    train_embedding_options trial = *options;
    if (trial.cells.across) { /* trials have rows of gradients, which do not move */
        trial.cells = (codec_cells){0, 0};
        trial.noise.jitter.fraction = 0.0f;
    }
    say(j, "comparing starts");
    return j->stage->choose_start(j->stage, c, &trial, j->pixels, net, error);
}

/* Pretrained layers have no fewer errors after more steps: they fit few images too closely. */
static void limit_steps(const job *j, train_embedding_options *options) {
    const train_embedding_choice *c = j->choice;
    if (c->n_hidden && c->start == TRAIN_EMBEDDING_PRETRAINED && !j->stage->start.is_drawn)
        options->least_steps = 0;
}

/* Keeps the encoder of class units only. */
static taper_status keep_classes(const train_embedding_choice *c, codec_network *net,
                                 taper_error *error) {
    codec_network kept;
    taper_status status = codec_network_alloc(&kept, net->inputs, c->units, CODEC_ENCODER,
                                              c->hidden, c->n_hidden, NULL, 0);
    if (status != TAPER_OK) return train_explain(status, error, "a network of %u units", c->units);
    kept.hidden = net->hidden;
    for (uint32_t l = 0; l < kept.encoder.depth; l++) {
        const codec_layer *from = &net->encoder.layer[l];
        codec_layer *to = &kept.encoder.layer[l];
        memcpy(to->weight, from->weight, (size_t)to->outputs * to->inputs * sizeof *to->weight);
        memcpy(to->bias, from->bias, to->outputs * sizeof *to->bias);
    }
    codec_network_free(net);
    *net = kept;
    return TAPER_OK;
}

/* --- all of it ------------------------------------------------------------------------------ */

static train_jitter jitter_of(const job *j) {
    const codec_window *w = &j->stage->window;
    const float motion = j->choice->motion;
    return (train_jitter){.width = w->width,
                          .height = w->height,
                          .channels = w->channels,
                          .fraction = motion > 0.0f ? 1.0f : 0.0f,
                          .strength = motion,
                          .mirror = j->choice->mirrors ? 0.5f : 0.0f,
                          .shift = motion * (float)formats_smaller(w->width, w->height) / 50.0f};
}

static taper_status check_cells(const train_embedding_stage *stage, codec_cells cells,
                                taper_error *error) {
    const codec_window w = stage->window;
    if (codec_cells_are_legal(w, cells)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "images of %u x %u pixels cannot have %u x %u cells: a cell has at least 2 "
                        "pixels a side, and there are at most %d cells a side and %d values in all",
                        w.width, w.height, cells.across, cells.down, CODEC_GRADIENT_MOST_CELLS,
                        CODEC_MAX_INPUTS);
}

/* Rows as the network gets them, with the labels of these rows. */
static taper_status take_inputs(train_embedding_stage *stage, codec_cells cells,
                                const train_pixels *rows, train_pixels *inputs,
                                taper_error *error) {
    *inputs = *rows;
    if (!cells.across) return TAPER_OK;
    TAPER_TRY(check_cells(stage, cells, error));
    const taper_status status =
        train_gradient_rows_make(&stage->gradients, stage->pixels, stage->window, cells, stage->be);
    inputs->pixels = stage->gradients.rows.pixels;
    inputs->inputs = stage->gradients.rows.inputs;
    return train_explain(status, error, "gradients of %zu images", rows->n);
}

taper_status train_embedding_learn(train_embedding_stage *stage, const train_embedding_choice *c,
                                   const train_pixels *rows, taper_model *m,
                                   train_embedding_result *result, taper_error *error) {
    train_pixels inputs;
    m->window = stage->window;
    m->cells = (codec_cells){c->cells, c->cells};
    TAPER_TRY(take_inputs(stage, m->cells, rows, &inputs, error));
    train_taught taught = {.pixels = inputs};
    const job j = {stage, c, &inputs, &taught};
    train_embedding_options options = c->training;
    codec_network *net = &m->network;
    options.noise.jitter = jitter_of(&j);
    if (c->motion > 0.0f) options.cells = m->cells;
    stage->pretraining_seconds = 0.0;
    stage->start = (train_embedding_start_trial){0};
    TAPER_TRY(check_size(&j, error));
    TAPER_TRY(make_network(&j, net, error));
    if (c->max_work) TAPER_TRY(codec_work_check(m, c->max_work, error));
    TAPER_TRY(train_embedding_check(&options, net, error));
    taper_status status = teach(&j, &taught, error);
    if (status == TAPER_OK) status = start(&j, net, error);
    if (status == TAPER_OK) status = choose_start(&j, &options, net, error);
    if (status == TAPER_OK) {
        train_pixels steps = taught.pixels;
        if (options.cells.across) steps.pixels = rows->pixels, steps.inputs = rows->inputs;
        limit_steps(&j, &options);
        say(&j, "training");
        status = train_embedding(&options, &steps, stage->device, net, &stage->hooks->training,
                                 result, error);
    }
    if (status == TAPER_OK && net->decoder.depth) status = keep_classes(c, net, error);
    train_taught_free(&taught);
    return status;
}

/* --- codes and their errors ----------------------------------------------------------------- */

/* Codes of the rows at n places. net NULL: the pixels. */
static taper_status encode_own(codec_backend *be, const codec_network *net,
                               const train_pixels *pixels, const uint32_t *place, size_t n,
                               float *code) {
    const size_t d = pixels->inputs;
    if (net) return train_row_codes(net, be, pixels, place, n, code);
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < d; p++) code[i * d + p] = pixels->pixels[place[i] * d + p];
    return TAPER_OK;
}

/* Codes of rows[n], of all ranks. */
static taper_status encode(codec_backend *be, const codec_network *net, const train_pixels *pixels,
                           const uint32_t *rows, size_t n, float *code) {
    const size_t width = net ? net->units : pixels->inputs;
    train_own_rows own = {0};
    if (!pixels->ranks) return encode_own(be, net, pixels, rows, n, code);
    TAPER_TRY(train_own_rows_open(&own, pixels, rows, n, 1));
    train_own_rows_pick(&own, pixels, rows, n, n);
    const size_t here = train_own_count(&own, 0);
    taper_status status = encode_own(be, net, pixels, own.place, here, code);
    if (status == TAPER_OK) {
        train_spread_rows(code, width * sizeof *code, own.position, here, n);
        status = train_sum_floats(pixels->ranks, code, n * width, NULL);
    }
    train_own_rows_free(&own);
    return status;
}

/* Binary codes as in embedder.h. */
static void threshold(float *code, size_t n) {
    for (size_t i = 0; i < n; i++) code[i] = code[i] > 0.0f ? 0.5f : -0.5f;
}

/* Keeps the first `units` of each code, in place. */
static void pack(float *code, size_t n, size_t all, size_t units) {
    if (units == all) return;
    for (size_t i = 0; i < n; i++) memmove(code + i * units, code + i * all, units * sizeof *code);
}

taper_status train_embedding_judge(train_embedding_stage *stage, const taper_model *m, size_t units,
                                   const train_embedding_rows *rows,
                                   const train_embedding_options *o, uint8_t *wrong,
                                   taper_error_rate *rate, taper_error *error) {
    const codec_network *net = m ? &m->network : NULL;
    const size_t all = net ? net->units : stage->pixels->inputs;
    const codec_cells cells = m ? m->cells : (codec_cells){0, 0};
    train_pixels inputs;
    TAPER_TRY(take_inputs(stage, cells, stage->pixels, &inputs, error));
    float *code = malloc(rows->n * all * sizeof *code);
    if (!units) units = all;
    taper_status status = code ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = encode(stage->be, net, &inputs, rows->all, rows->n, code);
    status = train_explain(status, error, "codes of %zu images", rows->n);
    if (status == TAPER_OK && net && o->binary) threshold(code, rows->n * all);
    if (status == TAPER_OK) pack(code, rows->n, all, units);
    const train_embedding_codes codes = {code, units,      rows,  inputs.label,
                                         o->k, o->threads, wrong, o->balanced};
    if (status == TAPER_OK) status = train_embedding_vote(&codes, rate, error);
    free(code);
    return status;
}
