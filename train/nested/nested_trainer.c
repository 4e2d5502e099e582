/* nested_trainer.c -- a run of nested dropout: start, functions for the loop, end; see
 * nested_trainer.h. */
#include "train/nested/nested_trainer.h"
#include "train/nested/nested_errors.h"
#include "train/nested/nested_step.h"
#include "train/nested/nested_setup.h"
#include "train/optimise/run.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The loss of the mean image is about 1: a run with a loss above this has diverged. */
static const double divergence_limit = 1e12;

train_nested_options train_nested_defaults(void) {
    return (train_nested_options){.sweep = {0, 10, 0.1, 0.05, 0.95},
                                  .perturbation = 0.01f,
                                  .beta = 0.5,
                                  .straight_through = 1,
                                  .epochs = 20,
                                  .batch = 250,
                                  .class_weight = 1.0f,
                                  .line_searches = 3,
                                  .rate = 5e-3f,
                                  .max_validation = 2000,
                                  .seed = 1,
                                  .checkpoint_seconds = 60.0};
}

/* --- options and rows ------------------------------------------------------------------ */

static int may_be_orthonormal(const train_nested_options *o, const train_nested_shape *s) {
    return s->layers == 1 && !s->binary && s->code == CODEC_LINEAR && s->width[0] <= s->inputs &&
           o->optimiser == TRAIN_ADAM && !o->sweep.on;
}

static taper_status check(const train_nested_run *r, taper_error *error) {
    const train_nested_options *o = r->options;
    if (!o->epochs || o->epochs > 1u << 20 || !o->batch || o->batch > 1u << 20 || !o->line_searches)
        return formats_fail(error, TAPER_ERR_ARG,
                            "epochs, batch and line searches must lie between 1 and 1,048,576");
    if (!(o->rate > 0.0f) || !(o->rate <= 1.0f))
        return formats_fail(error, TAPER_ERR_ARG, "the learning rate must lie in (0, 1]");
    if (!(o->corruption >= 0.0f && o->corruption < 1.0f) ||
        !(o->dropout >= 0.0f && o->dropout < 1.0f) || !(o->invariance >= 0.0f) ||
        !isfinite(o->invariance) || !(o->perturbation > 0.0f) || !isfinite(o->perturbation))
        return formats_fail(error, TAPER_ERR_ARG,
                            "corruption and dropout must lie in [0, 1), invariance from 0 up, "
                            "its perturbation above 0");
    if (!(o->beta > 0.0 && o->beta < 1.0))
        return formats_fail(error, TAPER_ERR_ARG, "beta, the fraction of ones, must lie in (0, 1)");
    if (r->net->shape.feedback && (!o->straight_through || o->invariance > 0.0f))
        return formats_fail(error, TAPER_ERR_ARG,
                            "units with feedback need a gradient through thresholds and no "
                            "invariance; give --independent");
    if (r->classes.units && o->sweep.on)
        return formats_fail(error, TAPER_ERR_ARG,
                            "class units learn in all steps: leave --sweep out");
    if (o->sweep.on && !train_sweep_options_are_legal(&o->sweep))
        return formats_fail(
            error, TAPER_ERR_ARG,
            "sweeping: check from 1, tolerance in [-1, 1], warm-up from 0, fraction above 0, "
            "warm-up and fraction together at most 1");
    if (o->orthonormal && !may_be_orthonormal(o, &r->net->shape))
        return formats_fail(error, TAPER_ERR_ARG,
                            "orthonormal decoders are for linear real-valued units, at most as "
                            "many as inputs, without hidden layers, by Adam, without sweeping");
    if (r->classes.units)
        TAPER_TRY(train_nested_classes_check(&r->classes, &r->net->shape, o->straight_through,
                                             r->data, error));
    if (o->truncation && o->truncation->units != r->net->units)
        return formats_fail(error, TAPER_ERR_ARG, "a truncation of %u units for a code of %u",
                            (unsigned)o->truncation->units, (unsigned)r->net->units);
    if (r->data->inputs != r->net->shape.inputs || r->data->n < 2 || r->data->n > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_ARG,
                            "training needs two or more rows of %u values, there are %zu of %u",
                            (unsigned)r->net->shape.inputs, r->data->n, (unsigned)r->data->inputs);
    return TAPER_OK;
}

/* Splits and orders the row numbers on the host. */
static taper_status take_rows(train_nested_run *r) {
    const train_nested_options *o = r->options;
    TAPER_TRY(train_nested_part_open(&r->part, r->data, o->seed, o->batch, o->max_validation,
                                     r->net->units));
    r->batch = r->part.batch;
    r->kept = calloc(r->batch, sizeof *r->kept);
    r->own_kept = calloc(r->batch, sizeof *r->own_kept);
    if (r->classes.units) r->label = calloc(r->batch, sizeof *r->label);
    if (!r->kept || !r->own_kept || (r->classes.units && !r->label)) return TAPER_ERR_NOMEM;
    r->classes.label = r->label;
    r->classes.ranks = r->data->ranks;
    return TAPER_OK;
}

/* --- checkpoints ----------------------------------------------------------------------- */

static uint64_t add_classes(const train_nested_run *r, uint64_t hash) {
    const train_nested_options *o = r->options;
    const double numbers[] = {o->class_units, (double)o->class_weight, r->net->shape.alone};
    const train_prefix_list *list = &r->classes.of.list;
    hash = train_fingerprint(hash, numbers, sizeof numbers);
    hash = train_fingerprint(hash, list->length, list->lengths * sizeof *list->length);
    return train_fingerprint(hash, r->data->label, r->data->n * sizeof *r->data->label);
}

/* The fingerprint of everything that the result depends on. */
static uint64_t fingerprint_of(const train_nested_run *r) {
    const train_nested_options *o = r->options;
    const train_nested_shape *s = &r->net->shape;
    const double numbers[] = {o->sweep.on,
                              o->sweep.check,
                              o->sweep.tolerance,
                              o->sweep.warmup,
                              o->sweep.fraction,
                              o->regulariser.kind,
                              o->regulariser.adaptive,
                              o->regulariser.strength,
                              (double)o->corruption,
                              (double)o->dropout,
                              (double)o->invariance,
                              (double)o->perturbation,
                              o->beta,
                              o->straight_through,
                              o->orthonormal,
                              o->optimiser,
                              o->epochs,
                              o->batch,
                              o->line_searches,
                              (double)o->rate,
                              o->max_validation,
                              s->inputs,
                              s->layers,
                              s->hidden,
                              s->code,
                              s->tied,
                              s->binary,
                              s->feedback,
                              (double)s->centre,
                              (double)r->net->scale};
    uint64_t hash = train_fingerprint(2, numbers, sizeof numbers);
    hash = train_fingerprint(hash, &o->seed, sizeof o->seed);
    if (o->truncation)
        hash = train_fingerprint(hash, o->truncation->mass, r->net->units * sizeof(double));
    hash = train_fingerprint(hash, s->width, s->layers * sizeof *s->width);
    return o->class_units ? add_classes(r, hash) : hash;
}

/* Extends the fingerprint by a vector on the device, downloaded piece by piece. */
static taper_status add_vector(train_nested_run *r, const float *vector, size_t n, uint64_t *hash) {
    enum { PIECE = 4096 };
    float piece[PIECE];
    for (size_t i = 0; i < n; i += PIECE) {
        size_t bytes = (n - i < PIECE ? n - i : PIECE) * sizeof *piece;
        TAPER_TRY(train_download(&r->net->stream, piece, vector + i, bytes));
        *hash = train_fingerprint(*hash, piece, bytes);
    }
    return TAPER_OK;
}

static taper_status take_fingerprint(train_nested_run *r, taper_error *error) {
    const train_nested_network *net = r->net;
    uint64_t *hash = &r->loop.fingerprint, rows;
    if (!r->options->saving.path) return TAPER_OK;
    TAPER_TRY(train_hash_rows(r->data, &rows, error));
    *hash = fingerprint_of(r);
    *hash = train_fingerprint(*hash, &rows, sizeof rows);
    TAPER_TRY(add_vector(r, net->mean, net->shape.inputs, hash));
    return add_vector(r, net->weights.parameter, net->weights.n, hash);
}

static void add_part(train_loop *l, train_checkpoint_part part) { l->part[l->parts++] = part; }

static void list_parts(train_nested_run *r) {
    train_loop *l = &r->loop;
    train_sweep *w = &r->sweep;
    add_part(l, (train_checkpoint_part){&w->state, sizeof w->state / 8, 8, 0, 0});
    add_part(l, (train_checkpoint_part){w->looked, 2 * w->inputs, sizeof *w->looked, 1, 0});
    if (r->net->shape.binary)
        add_part(l, (train_checkpoint_part){r->net->spread, r->net->units, sizeof(float), 1, 1});
    if (r->options->optimiser == TRAIN_CG)
        add_part(l, (train_checkpoint_part){&r->cg.state, sizeof r->cg.state / 8, 8, 0, 0});
}

/* --- functions for the loop ------------------------------------------------------------ */

static taper_status begin_epoch(void *run, uint64_t epoch, taper_error *error) {
    train_nested_run *r = run;
    taper_status status =
        train_nested_part_shuffle(&r->part, r->options->seed, epoch, &r->net->stream);
    return train_explain(status, error, "the order of an epoch");
}

/* figure: expected error over the truncation's lengths, error with all units, frozen units. */
static taper_status measure(void *run, train_history *entry, taper_error *error) {
    train_nested_run *r = run;
    const train_nested_data rows = train_nested_part_held_out(&r->part);
    entry->figure[0] = entry->figure[1] = 0.0;
    entry->figure[2] = r->net->frozen;
    if (!rows.of) return TAPER_OK;
    taper_status status = train_nested_validate(r->net, r->options->truncation, &rows,
                                                &entry->figure[0], &entry->figure[1]);
    return train_explain(status, error, "validation");
}

/* As sweep.c leaves it; rounding apart, no deadline lies beyond the run. */
static int sweep_is_legal(const train_nested_run *r, const train_loop *loop) {
    const train_sweep_state *s = &r->sweep.state;
    if (!r->options->sweep.on) return !s->frozen && !s->started && !s->moves;
    return s->frozen < r->net->units && s->started <= loop->step + 1 && s->moves <= loop->step &&
           s->deadline >= 0.0 && s->deadline <= (double)loop->steps + 1.0;
}

static int cg_is_legal(const train_cg_state *s) {
    return isfinite(s->value) && isfinite(s->alpha) && s->alpha >= 0.0 && isfinite(s->slope) &&
           s->slope <= 0.0 && s->since_restart <= s->iterations;
}

static taper_status resumed(void *run, const train_loop *loop, taper_error *error) {
    train_nested_run *r = run;
    if (!sweep_is_legal(r, loop) ||
        (r->options->optimiser == TRAIN_CG && !cg_is_legal(&r->cg.state)))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the checkpoint contradicts itself; start without --resume");
    r->net->frozen = (uint32_t)r->sweep.state.frozen;
    return TAPER_OK;
}

static int progress(void *run, const train_loop *loop, uint64_t step, const double *mean,
                    double seconds_left) {
    const train_nested_run *r = run;
    const train_nested_callbacks *c = r->callbacks;
    if (!c || !c->step) return 0;
    return c->step(c->user, step, loop->steps, r->net->frozen, mean[0], seconds_left);
}

static void tell_epoch(void *run, const train_loop *loop, uint32_t epoch,
                       const train_history *entry, double seconds) {
    train_nested_run *r = run;
    const train_nested_callbacks *c = r->callbacks;
    r->last = (train_nested_epoch){.loss = entry->loss[0],
                                   .mse = entry->loss[1],
                                   .invariance = entry->loss[2],
                                   .validation_mse = entry->figure[0],
                                   .full_mse = entry->figure[1],
                                   .frozen = (uint32_t)entry->figure[2],
                                   .seconds = seconds,
                                   .multiply_adds = entry->loss[3],
                                   .steps = epoch * loop->steps_per_epoch,
                                   .step_seconds = loop->step_seconds,
                                   .host_seconds = loop->host_seconds};
    if (c && c->epoch) c->epoch(c->user, epoch, &r->last);
}

/* --- begin and end --------------------------------------------------------------------- */

/* Lays out the optimiser's vectors, and arrays of sweeping and line searches. */
static void lay_out(train_nested_run *r, float **looked, double **products) {
    train_nested_network *net = r->net;
    net->weights.m = train_arena_floats(&r->arena, net->weights.n, 1);
    net->weights.v = train_arena_floats(&r->arena, net->weights.n, 1);
    *looked = train_arena_floats(&r->arena, net->layer[net->shape.layers - 1].inputs, 3);
    *products = train_arena_take(&r->arena, 3, 1, sizeof **products);
    r->lambda = train_arena_take(&r->arena, net->units, 1, sizeof *r->lambda);
    train_nested_last_lay_out(&r->part.last, &r->arena, net->units);
    if (r->classes.units) train_nested_classes_lay_out(&r->classes, &r->arena, r->batch);
    if (r->options->orthonormal)
        train_orthonormal_lay_out(&r->orthonormal, &r->arena, net->units, net->shape.inputs);
}

static taper_status take_memory(train_nested_run *r) {
    train_nested_network *net = r->net;
    train_stream *s = &net->stream;
    float *looked;
    double *products;
    lay_out(r, &looked, &products);
    TAPER_TRY(train_arena_alloc(&r->arena, s->device));
    lay_out(r, &looked, &products);
    train_sweep_begin(&r->sweep, &r->options->sweep, r->loop.steps, net->units,
                      net->layer[net->shape.layers - 1].inputs, s, looked, products);
    if (r->options->optimiser == TRAIN_CG) TAPER_TRY(train_cg_create(&r->cg, s, &net->weights));
    r->cg.ranks = r->data->ranks;
    return train_nested_part_give_orders(&r->part, s);
}

/* Opens the feed after all other allocations, because it uses the remaining memory. */
static taper_status feed_device(train_nested_run *r) {
    train_stream *s = &r->net->stream;
    const size_t wanted = train_nested_rows_wanted(r) + TRAIN_LEAST_ROWS - 1,
                 block = wanted - wanted % TRAIN_LEAST_ROWS; /* the largest possible block */
    char words[160];
    TAPER_TRY(train_nested_part_give_rows(&r->part, s, formats_larger(r->batch, block)));
    train_feed_say(&r->part.feed, s->device, words, sizeof words);
    if (*words && r->callbacks && r->callbacks->say) r->callbacks->say(r->callbacks->user, words);
    return TAPER_OK;
}

static void describe_loop(train_nested_run *r) {
    const train_nested_options *o = r->options;
    uint64_t steps_per_epoch = r->part.n_training / r->batch;
    r->learner = (train_learner){.what = "a network of whole units",
                                 .sums = 1,
                                 .begin_epoch = begin_epoch,
                                 .compute = train_nested_compute,
                                 .move = train_nested_move,
                                 .measure = measure,
                                 .resumed = resumed,
                                 .progress = progress,
                                 .epoch = tell_epoch};
    r->loop = (train_loop){.learner = &r->learner,
                           .self = r,
                           .stream = &r->net->stream,
                           .weights = &r->net->weights,
                           .ranks = r->data->ranks,
                           .steps = steps_per_epoch * o->epochs,
                           .steps_per_epoch = steps_per_epoch,
                           .most_loss = divergence_limit,
                           .saving = o->saving,
                           .checkpoint_seconds = o->checkpoint_seconds,
                           .start_loss = INFINITY};
}

static taper_status begin(train_nested_run *r, taper_error *error) {
    TAPER_TRY(check(r, error));
    taper_status status = take_rows(r);
    if (status == TAPER_OK) {
        describe_loop(r);
        r->net->frozen = 0;
        r->net->mixed = 0;
        status = take_memory(r);
    }
    if (status == TAPER_OK) status = feed_device(r);
    if (status == TAPER_OK) status = train_nested_take_rows(r);
    if (status == TAPER_OK) list_parts(r);
    if (status == TAPER_OK) status = take_fingerprint(r, error);
    if (status == TAPER_OK) status = train_nested_first_thresholds(r);
    if (status == TAPER_OK && r->options->orthonormal) {
        status = train_orthonormal_begin(&r->orthonormal, &r->net->stream);
        if (status == TAPER_OK)
            status = train_orthonormal_retract(&r->orthonormal, r->net->layer[0].v);
    }
    return train_explain(status, error, "training could not begin");
}

static void end(train_nested_run *r) {
    train_loop_free(&r->loop);
    train_cg_free(&r->cg);
    train_nested_part_free(&r->part);
    train_arena_free(&r->arena);
    r->net->weights.m = r->net->weights.v = NULL;
    r->net->frozen = 0;
    free(r->kept), free(r->own_kept), free(r->label);
}

static taper_status diverged(const train_nested_run *r, taper_error *error) {
    char words[1024];
    train_loop_diverged(&r->loop, NULL, words, sizeof words);
    return formats_fail(error, TAPER_ERR_ARG, "%s", words);
}

taper_status train_nested(const train_nested_options *options, const train_pixels *data,
                          train_nested_network *net, const train_nested_callbacks *callbacks,
                          train_nested_result *result, taper_error *error) {
    train_nested_run r = {.options = options, .data = data, .net = net, .callbacks = callbacks};
    r.classes.units = options->class_units, r.classes.weight = options->class_weight;
    train_nested_classes_begin(&r.classes, &options->class_lengths);
    taper_status status = begin(&r, error);
    if (status == TAPER_OK) status = train_loop_run(&r.loop, error);
    if (status == TAPER_OK && r.loop.diverged) status = diverged(&r, error);
    if (status == TAPER_OK && net->shape.binary && !r.loop.stopped)
        status = train_nested_exact_thresholds(&r, error);
    if (status == TAPER_OK && !r.loop.stopped) status = train_nested_refit_run(&r, error);
    if (result)
        *result = (train_nested_result){r.loop.step, r.loop.n_history, (uint32_t)r.loop.stopped,
                                        r.last, r.loop.seconds};
    end(&r);
    return status;
}

/* --- statistics ------------------------------------------------------------------------ */

/* Sums of integers are exact, so they do not depend on the ranks. */
taper_status train_nested_statistics(const train_pixels *data, float *mean, float *scale) {
    const size_t d = data->inputs, here = train_rows_here(data);
    const double n = (double)(data->n ? data->n : 1);
    double squares = 0.0, *sum = calloc(2 * d + 1, sizeof *sum), *sum2 = sum + d;
    if (!sum) return TAPER_ERR_NOMEM;
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < here; i++) {
            const double y = data->pixels[i * d + j];
            sum[j] += y, sum2[j] += y * y;
        }
    const taper_status status = train_sum_doubles(data->ranks, sum, 2 * d, NULL);
    for (size_t j = 0; j < d; j++) {
        mean[j] = (float)(sum[j] / n);
        squares += sum2[j] / n - sum[j] / n * (sum[j] / n);
    }
    const double deviation = sqrt(fmax(squares / data->inputs, 0.0));
    *scale = deviation > 1.0 ? (float)deviation : 1.0f;
    free(sum);
    return status;
}
