/* restoration_trainer.c -- see restoration_trainer.h. */
#include "train/restoration/restoration_trainer.h"
#include "train/optimise/run.h"
#include "train/restoration/restoration_network.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>

enum { CUTS_A_STEP = 4 };
static const char what[] = "a restoration network";

typedef struct run {
    const train_restoration_options *options;
    taper_model model; /* the given one, without a conditional model; borrowed */
    const train_dataset *data;
    codec_backend *be;
    train_device *device;
    train_selection images;
    double *bits; /* [n_passes + 1] total of the passes before each */
    uint32_t *at; /* [stages] of the network's shape */
    double mse[CODEC_RESTORATION_MOST_STAGES];
    train_restoration_network net;
} run;

train_restoration_options train_restoration_defaults(void) {
    return (train_restoration_options){.hidden = 32,
                                       .layers = 4,
                                       .stages = 16,
                                       .steps = 6000,
                                       .pixels = 16384,
                                       .rate = 1e-3f,
                                       .seed = 1};
}

taper_status train_restoration_check(const train_restoration_options *o, codec_window window,
                                     taper_error *error) {
    codec_restoration trial = {.channels = window.channels,
                               .hidden = o->start ? o->start->hidden : o->hidden,
                               .layers = o->start ? o->start->layers : o->layers,
                               .stages = o->start ? o->start->stages : o->stages};
    taper_status status = codec_restoration_alloc(&trial);
    codec_restoration_free(&trial);
    if (status == TAPER_ERR_ARG || !o->steps || !o->pixels || !(o->rate > 0))
        return formats_fail(error, TAPER_ERR_ARG,
                            "restoration: %d channels at most, in steps of 8; 2 to %d layers; 1 to "
                            "%d stages; steps, pixels and rate above 0",
                            CODEC_RESTORATION_MOST_HIDDEN, CODEC_RESTORATION_MOST_LAYERS,
                            CODEC_RESTORATION_MOST_STAGES);
    if (window.width % CODEC_RESTORATION_PATCH || window.height % CODEC_RESTORATION_PATCH)
        return formats_fail(error, TAPER_ERR_ARG,
                            "family conv needs windows of even sides, not %u x %u; give another "
                            "--window",
                            window.width, window.height);
    return status == TAPER_OK ? status : formats_fail(error, status, "no memory for a network");
}

/* --- planning --------------------------------------------------------------------------- */

/* The number of passes that a fraction of all bits takes, place^3 with `place` in 0 .. 1. */
static uint32_t pass_at(const run *r, double place) {
    uint32_t passes = r->model.tables.n_passes, pass = 0;
    double wanted = r->bits[passes] * place * place * place;
    while (pass < passes && r->bits[pass + 1] <= wanted) pass++;
    return pass;
}

/* Stages at equal steps of `place`, from no pass to all; equal ones are merged. */
static taper_status plan(run *r, codec_restoration *shape) {
    const train_restoration_options *o = r->options;
    const codec_restoration *start = o->start;
    uint32_t most = start ? start->stages : o->stages;
    *shape = (codec_restoration){.channels = r->model.window.channels,
                                 .hidden = start ? start->hidden : o->hidden,
                                 .layers = start ? start->layers : o->layers};
    shape->at = r->at = calloc(most + 1, sizeof *r->at);
    if (!r->at) return TAPER_ERR_NOMEM;
    for (uint32_t s = 0; s < most; s++) {
        uint32_t pass = start ? start->at[s] : pass_at(r, most > 1 ? (double)s / (most - 1) : 0);
        if (!shape->stages || pass > r->at[shape->stages - 1]) r->at[shape->stages++] = pass;
    }
    return TAPER_OK;
}

static taper_status measure_order(run *r, taper_model *model, const train_codes *codes,
                                  taper_error *error) {
    uint32_t passes = model->tables.n_passes;
    r->bits = calloc(passes + 1, sizeof *r->bits);
    if (!r->bits) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the order");
    TAPER_TRY(train_measure_bits(model, codes, r->bits + 1, error));
    for (uint32_t i = 0; i < passes; i++) r->bits[i + 1] += r->bits[i];
    return TAPER_OK;
}

/* Whether this rank computes batch `number`. */
static int is_mine(const run *r, uint64_t number) {
    const train_ranks *ranks = r->data->ranks;
    return !ranks || number % ranks->size == ranks->rank;
}

/* squares[n] of the batches `number` on; those of other ranks' batches are empty. On failure
 * nothing is held. */
static taper_status draw_squares(const run *r, uint64_t number, train_restoration_squares *squares,
                                 size_t n, taper_error *error) {
    for (size_t i = 0; i < n; i++) {
        const train_draw draw = {r->data, &r->images, r->options->seed, number + i};
        const taper_status status = train_restoration_squares_draw(
            &squares[i], r->model.window, &draw, r->options->pixels, is_mine(r, number + i), error);
        if (status == TAPER_OK) continue;
        while (i) train_restoration_squares_free(&squares[--i]);
        return status;
    }
    return TAPER_OK;
}

enum { BATCHES = 16 }; /* for the errors of the stages */

/* mse[stages][BATCHES] at [..][k], without the network. */
static taper_status measure_batch(const run *r, const train_restoration_squares *squares, size_t k,
                                  double *mse, taper_error *error) {
    for (uint32_t s = 0; s < r->net.shape.stages; s++) {
        train_restoration_batch batch;
        TAPER_TRY(train_restoration_batch_make(&batch, squares, &r->model, r->be, r->at[s], error));
        mse[s * BATCHES + k] = train_restoration_mse(&batch);
        train_restoration_batch_free(&batch);
    }
    return TAPER_OK;
}

/* The mean squared errors at the stages' cuts, without the network. */
static taper_status measure_stages(run *r, taper_error *error) {
    const uint64_t apart = (uint64_t)1 << 40; /* other random numbers than the steps' */
    double mse[CODEC_RESTORATION_MOST_STAGES * BATCHES] = {0};
    const uint32_t stages = r->net.shape.stages;
    train_restoration_squares squares[BATCHES];
    TAPER_TRY(draw_squares(r, apart, squares, BATCHES, error));
    taper_status status = TAPER_OK;
    for (size_t k = 0; k < BATCHES; k++) {
        if (squares[k].images && status == TAPER_OK)
            status = measure_batch(r, &squares[k], k, mse, error);
        train_restoration_squares_free(&squares[k]);
    }
    TAPER_TRY(status);
    TAPER_TRY(train_sum_doubles(r->data->ranks, mse, (size_t)stages * BATCHES, error));
    for (uint32_t k = 0; k < stages * BATCHES; k++)
        r->mse[k / BATCHES] += (mse[k] + 1e-6) / BATCHES;
    return TAPER_OK;
}

/* --- the steps -------------------------------------------------------------------------- */

/* The divisor of a number's error: the mean of the usual error at this cut, to which the network's
 * gain is set, and of this batch's. With the batch's own error alone, easy images would dominate:
 * their gradients are large at a gain that other images need. */
static double worth(const run *r, const train_restoration_batch *batch) {
    const train_restoration_network *net = &r->net;
    double usual = r->mse[net->stage], part = (double)net->part;
    if (part > 0) usual = exp((1 - part) * log(usual) + part * log(r->mse[net->stage + 1]));
    return (usual + train_restoration_mse(batch)) / 2 * (double)(batch->rows * batch->values);
}

/* Adds a cut's gradient, and its share of the step's loss relative to that without the network. */
static taper_status learn_cut(run *r, const train_restoration_squares *squares, uint64_t number,
                              double *losses, taper_error *error) {
    train_restoration_network *net = &r->net;
    train_stream *s = &net->stream;
    train_restoration_batch batch;
    uint32_t random[4];
    train_philox(r->options->seed, number, TRAIN_STREAM_STAGE, random);
    double place = (double)train_philox_uniform(random[0]);
    /* coarse cuts have little weight, because what they lack cannot be predicted */
    double weight = place / CUTS_A_STEP;
    uint32_t pass = pass_at(r, place);
    TAPER_TRY(train_restoration_batch_make(&batch, squares, &r->model, r->be, pass, error));
    taper_status status = train_restoration_forward(net, &batch, pass);
    if (status == TAPER_OK) status = train_restoration_backward(net, weight / worth(r, &batch));
    if (status == TAPER_OK)
        status =
            s->ops->add_ratio(s, 1.0 / CUTS_A_STEP, net->errors, net->errors + 1, 1e-9, losses);
    train_restoration_batch_free(&batch);
    return train_explain(status, error, "a training step failed");
}

static taper_status one_step(void *context, uint64_t step, double *losses, taper_error *error) {
    run *r = context;
    train_restoration_squares squares[CUTS_A_STEP];
    taper_status status = TAPER_OK;
    TAPER_TRY(draw_squares(r, step * CUTS_A_STEP, squares, CUTS_A_STEP, error));
    for (uint32_t i = 0; i < CUTS_A_STEP; i++) {
        if (squares[i].images && status == TAPER_OK)
            status = learn_cut(r, &squares[i], step * CUTS_A_STEP + i, losses, error);
        train_restoration_squares_free(&squares[i]);
    }
    return status;
}

/* --- the run ---------------------------------------------------------------------------- */

static uint64_t fingerprint_of(const run *r, const float *parameter) {
    const train_restoration_options *o = r->options;
    const codec_restoration *c = &r->net.shape;
    const codec_code_tables *t = &r->model.tables;
    const double numbers[] = {c->hidden,       c->layers,          c->stages,
                              o->steps,        o->pixels,          (double)o->rate,
                              (double)o->seed, (double)r->data->n, (double)r->data->pixels};
    uint64_t hash = train_fingerprint(5, numbers, sizeof numbers);
    hash = train_fingerprint(hash, c->at, c->stages * sizeof *c->at);
    hash = train_fingerprint(hash, r->mse, c->stages * sizeof *r->mse); /* images, head */
    hash = train_fingerprint(hash, t->rd_slope, t->n_rd_slopes);
    hash = train_fingerprint(hash, t->weight, sizeof t->weight);
    return train_fingerprint(hash, parameter, r->net.weights.n * sizeof *parameter);
}

static taper_status cannot_begin(taper_status status, taper_error *error) {
    return train_explain(status, error, "training %s cannot begin", what);
}

static taper_status begin(run *r, taper_error *error) {
    const train_restoration_options *o = r->options;
    codec_restoration shape;
    taper_status status =
        train_select(&r->images, r->data, r->model.window, TRAIN_PART_TRAINING, SIZE_MAX / 2);
    if (status == TAPER_OK) status = plan(r, &shape);
    if (status == TAPER_OK) status = train_restoration_create(&r->net, &shape, r->device, o->seed);
    if (status != TAPER_OK) return cannot_begin(status, error);
    TAPER_TRY(measure_stages(r, error));
    status = o->start ? train_restoration_import(&r->net, o->start)
                      : train_restoration_set_gains(&r->net, r->mse);
    return status == TAPER_OK ? status : cannot_begin(status, error);
}

static taper_status take_steps(run *r, int *stopped, taper_error *error) {
    const train_restoration_options *o = r->options;
    float *parameter;
    taper_status status = train_weights_download(&r->net.weights, &r->net.stream, &parameter);
    if (status != TAPER_OK) return cannot_begin(status, error);
    train_steps steps = {.what = what,
                         .stream = &r->net.stream,
                         .weights = &r->net.weights,
                         .ranks = r->data->ranks,
                         .rate = o->rate,
                         .steps = o->steps,
                         .fingerprint = fingerprint_of(r, parameter),
                         .saving = o->saving,
                         .before = 1.0,
                         .compute = one_step,
                         .self = r,
                         .progress = o->progress,
                         .user = o->user};
    free(parameter);
    return train_steps_take(&steps, stopped, error);
}

/* Stores the network as integers in the model, which has none yet. */
static taper_status finish(run *r, taper_model *model, taper_error *error) {
    codec_restoration learned;
    taper_status status = train_restoration_export(&r->net, &learned);
    if (status != TAPER_OK) return train_explain(status, error, "%s cannot be stored", what);
    model->restoration = learned;
    model->info.family = TAPER_FAMILY_CONV;
    return TAPER_OK;
}

taper_status train_restoration(taper_model *model, const train_restoration_options *options,
                               const train_dataset *data, const train_codes *codes,
                               codec_backend *be, train_device *device, int *stopped,
                               taper_error *error) {
    run r = {.options = options, .model = *model, .data = data, .be = be, .device = device};
    TAPER_TRY(train_restoration_check(options, model->window, error));
    taper_status status = measure_order(&r, model, codes, error);
    r.model.tables.conditional = NULL; /* decoded values do not depend on it */
    if (status == TAPER_OK) status = begin(&r, error);
    if (status == TAPER_OK) status = take_steps(&r, stopped, error);
    if (status == TAPER_OK) status = finish(&r, model, error);
    train_selection_free(&r.images);
    train_restoration_free(&r.net);
    free(r.bits), free(r.at);
    return status;
}
