/* conditional_trainer.c -- see conditional_trainer.h. */
#include "train/conditional/conditional_trainer.h"
#include "codec/bitplane/head.h"
#include "train/conditional/conditional_loss.h"
#include "train/optimise/run.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = CODEC_CONDITIONAL_KINDS, STAGES_A_STEP = 2, SQUARE_SIDE = 16 };

typedef struct run {
    const train_conditional_options *options;
    const taper_model *model;
    const train_dataset *data;
    codec_backend *be;
    train_device *device;
    train_selection images;
    train_conditional_network net;
    uint32_t *begin;     /* [stages + 1] */
    double *probability; /* [stages] of drawing a stage */
    train_conditional_loss loss;
    uint64_t steps;
} run;

train_conditional_options train_conditional_defaults(void) {
    return (train_conditional_options){.stages = 36,
                                       .own = 256,
                                       .neighbour_units = 64,
                                       .epochs = 12,
                                       .windows = 2048,
                                       .rate = 2e-3f,
                                       .psnr_end = 40.0,
                                       .end = UINT32_MAX,
                                       .seed = 1};
}

static const char *what_of(const train_conditional_options *o) {
    return o->head ? "a head" : "a conditional model";
}

/* --- planning: stages and sizes -------------------------------------------------------- */

/* Divides passes into stages of equal growth of the square root of the size. begin[] has one more
 * entry, `end`. Returns the number of stages. */
static uint32_t divide(const double *bits, uint32_t end, uint32_t most, uint32_t *begin) {
    double total = 0, sum = 0;
    uint32_t stages = 0;
    for (uint32_t i = 0; i < end; i++) total += bits[i];
    for (uint32_t i = 0; i < end; sum += bits[i++])
        if (!stages || (stages < most && sum >= total * pow((double)stages / most, 2)))
            begin[stages++] = i;
    begin[stages] = end;
    return stages;
}

/* The shape to train: that of the start, or one for the order and its sizes. */
static void plan_new(run *r, const double *bits, codec_conditional *shape) {
    const train_conditional_options *o = r->options;
    const codec_code_tables *t = &r->model->tables;
    const uint32_t end = o->end < t->n_passes ? o->end : t->n_passes;
    uint32_t reached = 1;
    for (uint32_t i = 0; i < end; i++)
        if (t->pass[i].unit >= reached) reached = t->pass[i].unit + 1u;
    uint32_t own = o->own;
    if (own > reached) own = reached;
    *shape =
        (codec_conditional){.kinds = o->head ? 1 : KINDS,
                            .hidden = o->hidden,
                            .own = own,
                            .neighbour_units = o->neighbour_units < own ? o->neighbour_units : own,
                            .units = t->units,
                            .end = end};
    shape->stages = divide(bits, end, o->stages, r->begin);
}

static void plan_as(run *r, const codec_conditional *start, codec_conditional *shape) {
    *shape = (codec_conditional){.kinds = start->kinds,
                                 .hidden = start->hidden,
                                 .own = start->own,
                                 .neighbour_units = start->neighbour_units,
                                 .units = start->units,
                                 .end = start->end,
                                 .stages = start->stages};
    memcpy(r->begin, start->begin, start->stages * sizeof *r->begin);
    r->begin[start->stages] = start->end;
}

static taper_status plan(run *r, const double *bits, codec_conditional *shape) {
    const train_conditional_options *o = r->options;
    uint32_t most = o->start ? o->start->stages : o->stages;
    double sum = 0;
    r->begin = calloc(most + 1, sizeof *r->begin);
    r->probability = calloc(most, sizeof *r->probability);
    if (!r->begin || !r->probability) return TAPER_ERR_NOMEM;
    if (o->start)
        plan_as(r, o->start, shape);
    else
        plan_new(r, bits, shape);
    for (uint32_t s = 0; s < shape->stages; s++) {
        double of_stage = 0;
        for (uint32_t i = r->begin[s]; i < r->begin[s + 1]; i++) of_stage += bits[i];
        sum += r->probability[s] = o->head ? 1.0 : sqrt(of_stage + 1.0);
    }
    for (uint32_t s = 0; s < shape->stages; s++) r->probability[s] /= sum;
    return TAPER_OK;
}

static uint32_t draw_stage(const run *r, uint32_t random) {
    uint32_t s = 0;
    double at = (double)train_philox_uniform(random);
    while (s + 1 < r->net.shape.stages && at >= r->probability[s]) at -= r->probability[s++];
    return s;
}

/* --- the steps ------------------------------------------------------------------------- */

/* Adds a stage of the batch; for a head, a random state within it. */
static taper_status add_stage(run *r, train_conditional_batch *batch, uint32_t stage,
                              uint32_t random, double *losses) {
    uint32_t first = r->begin[stage], length = r->begin[stage + 1] - first;
    double energy; /* of the other ranks, if this one has no images */
    if (!batch->images)
        return r->options->head ? train_conditional_energy(&r->loss, 0, &energy, NULL) : TAPER_OK;
    if (r->options->head)
        return train_conditional_add_errors(&r->loss, batch, stage,
                                            first + train_philox_below(random, length),
                                            1.0 / STAGES_A_STEP, losses);
    double weight = 1.0 / (r->probability[stage] * (double)batch->windows * STAGES_A_STEP);
    return train_conditional_add_bits(&r->loss, batch, stage, weight, losses);
}

static taper_status one_step(void *context, uint64_t step, double *losses, taper_error *error) {
    run *r = context;
    const train_conditional_options *o = r->options;
    train_conditional_batch batch;
    const train_draw draw = {r->data, &r->images, o->seed, step};
    TAPER_TRY(train_conditional_batch_make(&batch, r->model, r->be, &draw, o->windows, SQUARE_SIDE,
                                           error));
    r->loss.ranks = r->data->ranks;
    taper_status status = batch.images ? train_conditional_loss_begin(&r->loss, &batch) : TAPER_OK;
    uint32_t random[4];
    train_philox(o->seed, step, TRAIN_STREAM_STAGE, random);
    for (uint32_t i = 0; i < STAGES_A_STEP && status == TAPER_OK; i++) {
        uint32_t stage = draw_stage(r, random[i]);
        status = add_stage(r, &batch, stage, random[STAGES_A_STEP + i], losses);
    }
    train_conditional_batch_free(&batch);
    return train_explain(status, error, "a training step failed");
}

/* --- the run --------------------------------------------------------------------------- */

static uint64_t fingerprint_of(const run *r, const float *parameter) {
    const train_conditional_options *o = r->options;
    const codec_conditional *c = &r->net.shape;
    const codec_code_tables *t = &r->model->tables;
    const double numbers[] = {o->head,
                              c->hidden,
                              c->own,
                              c->neighbour_units,
                              c->units,
                              c->end,
                              c->stages,
                              (double)o->rate,
                              (double)o->seed,
                              o->epochs,
                              o->windows,
                              (double)r->data->n,
                              (double)r->data->pixels};
    uint64_t hash = train_fingerprint(3, numbers, sizeof numbers);
    hash = train_fingerprint(hash, t->rd_slope, t->n_rd_slopes);
    hash = train_fingerprint(hash, t->weight, sizeof t->weight);
    return train_fingerprint(hash, parameter, r->net.weights.n * sizeof *parameter);
}

static taper_status begin(run *r, const double *bits, taper_error *error) {
    const train_conditional_options *o = r->options;
    enum { LARGEST = SQUARE_SIDE * SQUARE_SIDE };
    codec_conditional shape;
    size_t capacity = o->windows + LARGEST;
    taper_status status =
        train_select(&r->images, r->data, r->model->window, TRAIN_PART_TRAINING, SIZE_MAX / 2);
    if (status == TAPER_OK) status = plan(r, bits, &shape);
    if (status == TAPER_OK)
        status = train_conditional_create(
            &r->net, &shape, r->device, capacity,
            train_conditional_asked(&shape, &r->model->tables, r->begin), o->seed);
    if (status == TAPER_ERR_ARG)
        return formats_fail(error, status,
                            "a conditional model of %u hidden units: 8 to 256, in steps of 8",
                            o->hidden);
    if (status == TAPER_OK && o->start) status = train_conditional_import(&r->net, o->start);
    if (status == TAPER_OK)
        status = train_conditional_loss_create(&r->loss, &r->net, &r->model->tables, r->begin,
                                               r->be->pool);
    if (status != TAPER_OK)
        return train_explain(status, error, "training %s cannot begin", what_of(o));
    double windows = 0; /* of large images each square counts */
    for (size_t i = 0; i < r->images.n; i++)
        windows += (double)r->images.grid[i].columns * r->images.grid[i].rows;
    r->steps = (uint64_t)(windows * o->epochs / o->windows) + 1;
    return TAPER_OK;
}

static taper_status take_steps(run *r, int *stopped, taper_error *error) {
    const train_conditional_options *o = r->options;
    float *parameter;
    taper_status status = train_weights_download(&r->net.weights, &r->net.stream, &parameter);
    if (status != TAPER_OK)
        return train_explain(status, error, "training %s cannot begin", what_of(o));
    train_steps steps = {.what = what_of(o),
                         .stream = &r->net.stream,
                         .weights = &r->net.weights,
                         .ranks = r->data->ranks,
                         .rate = o->rate,
                         .steps = r->steps,
                         .fingerprint = fingerprint_of(r, parameter),
                         .saving = o->saving,
                         .before = o->head ? 1.0 : 0.0,
                         .compute = one_step,
                         .self = r,
                         .progress = o->progress,
                         .user = o->user};
    free(parameter);
    return train_steps_take(&steps, stopped, error);
}

static void end_run(run *r) {
    train_selection_free(&r->images);
    train_conditional_loss_free(&r->loss);
    train_conditional_free(&r->net);
    free(r->begin), free(r->probability);
}

/* Moves the trained network into the model's tables. */
static taper_status finish(run *r, taper_model *model, const train_codes *codes,
                           taper_error *error) {
    codec_conditional *c = calloc(1, sizeof *c);
    taper_status status = c ? train_conditional_export(&r->net, c) : TAPER_ERR_NOMEM;
    if (status != TAPER_OK) {
        free(c);
        return train_explain(status, error, "%s cannot be stored", what_of(r->options));
    }
    memcpy(c->begin, r->begin, c->stages * sizeof *c->begin);
    if (r->options->head) {
        status = codec_head_attach(&model->tables, c);
        return status == TAPER_OK ? status : formats_fail(error, status, "no memory for a head");
    }
    model->tables.conditional = c;
    return train_refit_contexts(model, codes, error);
}

taper_status train_conditional(taper_model *model, const train_conditional_options *options,
                               const train_dataset *data, const train_codes *codes,
                               codec_backend *be, train_device *device, int *stopped,
                               taper_error *error) {
    run r = {.options = options, .model = model, .data = data, .be = be, .device = device};
    if (!options->stages || options->stages > CODEC_CONDITIONAL_MOST_STAGES || !options->epochs ||
        options->windows < 1 || !(options->rate > 0))
        return formats_fail(error, TAPER_ERR_ARG,
                            "conditional model: stages 1 to 255; epochs, windows and rate above 0");
    double *bits = calloc(model->tables.n_passes + 1, sizeof *bits);
    taper_status status = bits ? train_measure_bits(model, codes, bits, error)
                               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for the order");
    if (status == TAPER_OK) status = begin(&r, bits, error);
    if (status == TAPER_OK) status = take_steps(&r, stopped, error);
    if (status == TAPER_OK) status = finish(&r, model, codes, error);
    free(bits);
    end_run(&r);
    return status;
}
