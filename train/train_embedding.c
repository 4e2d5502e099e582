/* train_embedding.c -- from images to an embedding model: whole images as rows, a start, learning
 * by labels, the model as it is stored; see train_embedding.h. */
#include "train/train_embedding.h"
#include "codec/model/work.h"
#include "train/embedding/drawn_start.h"
#include "train/embedding/embedding_errors.h"
#include "train/optimise/run.h"
#include "train/rbm/rbm_unroll.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the steps share. */
typedef struct job {
    const train_embedding_choice *choice;
    const train_dataset *data;
    codec_backend *be;
    train_device *device;
    const train_embedding_hooks *hooks;
    train_pixels pixels;
    uint8_t *memory; /* of the pixels */
    train_embedding_report *report;
} job;

static void say(const job *j, const char *stage) {
    if (j->hooks->stage) j->hooks->stage(j->hooks->user, stage, -1.0);
}

/* --- images --------------------------------------------------------------------------------- */

static taper_status read_rows(job *j, taper_error *error) {
    const taper_image *first = &j->data->image[0];
    const codec_window window = {first->width, first->height, j->data->channels, NULL};
    if (!j->data->label)
        return formats_fail(error, TAPER_ERR_ARG,
                            "--objective learns from labels, and no image has one; put images into "
                            "a folder for each class, or give --labels FILE");
    if (!j->data->one_size)
        return formats_fail(error, TAPER_ERR_ARG,
                            "an embedding is of whole images, which must have one size; these have "
                            "several: scale them first");
    if (window.width > CODEC_MAX_WINDOW_SIDE || window.height > CODEC_MAX_WINDOW_SIDE ||
        codec_window_values(window) > CODEC_MAX_INPUTS)
        return formats_fail(error, TAPER_ERR_ARG,
                            "images of %u x %u are too large for an embedding, which takes up to "
                            "%d a side; scale them first",
                            window.width, window.height, CODEC_MAX_WINDOW_SIDE);
    j->report->window = window;
    j->report->images = j->data->n;
    taper_status status =
        train_collect_windows(j->data, window, TRAIN_PART_ALL, &j->pixels, &j->memory);
    return train_told(status, error, "pixels of %zu images", j->data->n);
}

/* --- the network before labels -------------------------------------------------------------- */

static taper_status make_network(const job *j, codec_network *net, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    taper_status status = codec_network_alloc(net, j->pixels.inputs, c->units, CODEC_ENCODER,
                                              c->hidden, c->n_hidden, NULL, 0);
    if (status != TAPER_ERR_ARG)
        return train_told(status, error, "a network of %u units", c->units);
    return formats_fail(error, status,
                        "a network of these widths cannot be made; 0 to %d hidden layers of 1 to "
                        "%d units are possible",
                        CODEC_MAX_LAYERS - 1, CODEC_MAX_LAYER_WIDTH);
}

static taper_status pretrain(const job *j, codec_network *net, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    train_rbm_stack stack = {0};
    train_rbm_options o = c->rbm;
    uint32_t width[CODEC_MAX_LAYERS];
    const double begun = train_seconds();
    for (uint32_t i = 0; i < c->n_hidden; i++) width[i] = c->hidden[i];
    width[c->n_hidden] = c->units;
    o.top = TRAIN_GAUSSIAN;
    say(j, "pretraining");
    taper_status status = train_rbm_stack_learn(&stack, &o, &j->pixels, width, c->n_hidden + 1,
                                                j->device, &j->hooks->rbm, error);
    if (status == TAPER_OK && stack.layers <= c->n_hidden)
        status = formats_fail(error, TAPER_ERR_ARG,
                              "stopped while layers were pretrained, before labels were looked at");
    if (status == TAPER_OK) status = train_rbm_unroll(&stack, net, error);
    train_rbm_stack_free(&stack);
    j->report->pretraining_seconds = train_seconds() - begun;
    return status;
}

/* Of the labels it may know those that are learned from: by the others the network is chosen. */
static taper_status start_linear(const job *j, codec_network *net, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    train_embedding_rows rows = {0};
    train_pixels known = j->pixels;
    uint32_t *label = malloc(known.n * sizeof *label);
    taper_status status = train_told(label ? TAPER_OK : TAPER_ERR_NOMEM, error, "labels");
    if (status == TAPER_OK)
        status = train_embedding_rows_take(&rows, &c->training, &j->pixels, error);
    for (size_t i = 0; i < known.n && status == TAPER_OK; i++) label[i] = TRAIN_UNLABELLED;
    for (size_t i = 0; i < rows.n_training && status == TAPER_OK; i++)
        label[rows.all[i]] = j->pixels.label[rows.all[i]];
    known.label = label;
    if (status == TAPER_OK) status = train_linear_start(&c->linear, &known, j->device, net, error);
    train_embedding_rows_free(&rows);
    free(label);
    return status;
}

static taper_status start(const job *j, codec_network *net, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    if (!c->n_hidden) return start_linear(j, net, error);
    if (c->start == TRAIN_EMBEDDING_PRETRAINED) return pretrain(j, net, error);
    train_drawn_start(net, c->training.seed);
    return TAPER_OK;
}

/* --- the model ------------------------------------------------------------------------------ */

static taper_status write_model(const job *j, taper_model *m, formats_buffer *out,
                                taper_error *error) {
    static const codec_weight_precision precision = {.linear_mse = 0.25};
    const train_embedding_choice *c = j->choice;
    const int student = c->training.objective.student;
    const size_t before = out->size;
    m->info.family = TAPER_FAMILY_DENSE;
    snprintf(m->info.objective, sizeof m->info.objective, "%s", c->objective);
    m->info.alpha = student ? (float)j->report->learned.alpha : 0.0f;
    m->info.classes = (uint32_t)j->report->learned.classes;
    TAPER_TRY(codec_model_write(m, &precision, out, error));
    j->report->units = m->network.units;
    j->report->model_bytes = out->size - before;
    return TAPER_OK;
}

/* Codes of rows[n], in float blocks. */
static taper_status encode(const job *j, const codec_network *net, const uint32_t *rows, size_t n,
                           float *code) {
    enum { BLOCK = 512 };
    const size_t d = net->inputs;
    float *pixels = malloc(BLOCK * d * sizeof *pixels);
    taper_status status = pixels ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n && status == TAPER_OK; i += BLOCK) {
        const size_t count = n - i < BLOCK ? n - i : BLOCK;
        for (size_t k = 0; k < count; k++)
            for (size_t p = 0; p < d; p++)
                pixels[k * d + p] = j->pixels.pixels[rows[i + k] * d + p];
        status = codec_network_encode(net, j->be, pixels, count, code + i * net->units);
    }
    free(pixels);
    return status;
}

/* The error on held-out images of the model as it is stored. */
static taper_status measure(const job *j, const codec_network *net, taper_error *error) {
    train_embedding_rows rows = {0};
    float *code = NULL;
    taper_status status = train_embedding_rows_take(&rows, &j->choice->training, &j->pixels, error);
    if (status == TAPER_OK && rows.n > rows.n_training) {
        code = malloc(rows.n * net->units * sizeof *code);
        status = code ? encode(j, net, rows.all, rows.n, code) : TAPER_ERR_NOMEM;
        status = train_told(status, error, "codes of %zu images", rows.n);
        const train_embedding_options *o = &j->choice->training;
        const train_embedding_codes codes = {code, net->units, &rows, j->pixels.label,
                                             o->k, o->threads};
        if (status == TAPER_OK) status = train_embedding_vote(&codes, &j->report->held_out, error);
        j->report->k = (uint32_t)formats_smaller(o->k, rows.n_training);
    }
    free(code);
    train_embedding_rows_free(&rows);
    return status;
}

/* --- all of it ------------------------------------------------------------------------------ */

static taper_status learn(const job *j, taper_model *m, taper_error *error) {
    codec_network *net = &m->network;
    TAPER_TRY(make_network(j, net, error));
    m->window = j->report->window;
    if (j->choice->max_work) TAPER_TRY(codec_work_check(m, j->choice->max_work, error));
    TAPER_TRY(train_embedding_check(&j->choice->training, net, error));
    TAPER_TRY(start(j, net, error));
    say(j, "training");
    return train_embedding(&j->choice->training, &j->pixels, j->device, net, &j->hooks->training,
                           &j->report->learned, error);
}

taper_status train_embedding_model(const train_embedding_choice *choice, const train_dataset *data,
                                   codec_backend *be, train_device *device,
                                   const train_embedding_hooks *hooks, formats_buffer *out,
                                   train_embedding_report *report, taper_error *error) {
    static const train_embedding_hooks none;
    *report = (train_embedding_report){0};
    job j = {choice, data, be, device, hooks ? hooks : &none, {0}, NULL, report};
    taper_model *m = calloc(1, sizeof *m);
    taper_status status = train_told(m ? TAPER_OK : TAPER_ERR_NOMEM, error, "a model");
    if (status == TAPER_OK) status = read_rows(&j, error);
    if (status == TAPER_OK) status = learn(&j, m, error);
    if (status == TAPER_OK) status = write_model(&j, m, out, error);
    if (status == TAPER_OK) status = measure(&j, &m->network, error);
    taper_model_free(m);
    free(j.memory);
    return status;
}
