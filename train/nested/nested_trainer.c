/* nested_trainer.c -- the loop of nested dropout; see nested_trainer.h.
 *
 * All that is random is numbered by (seed, step, row). Step number, parameters, the optimiser's
 * vectors, thresholds and the sweep are all that a checkpoint needs (nested_run.h). */
#include "train/nested/nested_trainer.h"
#include "train/nested/nested_run.h"
#include "train/optimise/run.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The mean image's loss is about 1: a run this far off will not come back. */
static const double absurd_loss = 1e12;

train_nested_options train_nested_defaults(void) {
    return (train_nested_options){.sweep = {0, 10, 1e-3, 0.2, 0.8},
                                  .perturbation = 0.01f,
                                  .beta = 0.5,
                                  .straight_through = 1,
                                  .epochs = 20,
                                  .batch = 250,
                                  .line_searches = 3,
                                  .rate = 5e-3f,
                                  .max_validation = 2000,
                                  .seed = 1,
                                  .checkpoint_seconds = 60.0};
}

/* --- one step -------------------------------------------------------------------------- */

static void draw_truncations(train_nested_run *r) {
    const train_nested_options *o = r->options;
    for (size_t i = 0; i < r->batch; i++) {
        uint32_t word[4];
        r->kept[i] = r->net->units;
        if (!o->truncation) continue;
        train_philox(o->seed, i, TRAIN_STREAM_CUT + (r->step << 8), word);
        r->kept[i] =
            train_truncation_draw(o->truncation, r->net->frozen, train_philox_uniform(word[0]));
    }
}

/* The rows of W_L that this step's truncations reach and no sweep has passed. */
static uint32_t trained_end(const train_nested_run *r) {
    uint32_t longest = r->options->invariance > 0.0f ? r->net->units : 0;
    for (size_t i = 0; i < r->batch; i++) longest = r->kept[i] > longest ? r->kept[i] : longest;
    return longest;
}

/* Loss and gradient of the step's rows. */
static taper_status add_rows(train_nested_run *r, train_nested_loss *loss) {
    const train_nested_options *o = r->options;
    train_nested_step step = {o->seed,       r->step,         o->corruption,       o->dropout,
                              o->invariance, o->perturbation, o->straight_through, r->kept};
    *loss = (train_nested_loss){0};
    train_nested_zero(r->net);
    return train_nested_add(r->net, &step, r->data, r->rows, r->batch, r->batch, 0, loss);
}

static train_nested_layer code_layer(const train_nested_run *r) {
    return r->net->layer[r->net->shape.layers - 1];
}

/* What Adam may move: everything but the code layer's rows that are frozen or out of reach, and
 * the thresholds of binary units. */
static size_t trained_ranges(const train_nested_run *r, train_range *range) {
    const train_nested_network *net = r->net;
    train_nested_layer last = code_layer(r);
    uint32_t first = net->frozen, end = trained_end(r);
    size_t from = (size_t)first * last.inputs, weights = (size_t)(end - first) * last.inputs, n = 0;
    size_t before = (size_t)(last.w - net->parameter);
    if (before) range[n++] = (train_range){0, before};
    if (weights) range[n++] = (train_range){before + from, weights};
    if (weights && !net->shape.binary)
        range[n++] = (train_range){(size_t)(last.b - net->parameter) + first, end - first};
    if (weights && last.v != last.w)
        range[n++] = (train_range){(size_t)(last.v - net->parameter) + from, weights};
    range[n++] = (train_range){(size_t)(last.c - net->parameter), last.inputs};
    return n;
}

static taper_status adam_step(train_nested_run *r, train_nested_loss *loss) {
    const train_nested_options *o = r->options;
    train_nested_layer last = code_layer(r);
    uint64_t warmup = r->steps / 20 < 100 ? r->steps / 20 : 100;
    TAPER_TRY(add_rows(r, loss));
    if (!(loss->loss < absurd_loss)) return TAPER_ERR_ARG; /* NaN too */
    uint32_t first = r->net->frozen, end = trained_end(r);
    train_regularise_rows(&o->regulariser, first, end - first, last.inputs, last.w,
                          r->net->layer_gradient[r->net->shape.layers - 1].w, NULL);
    train_range range[5];
    size_t ranges = trained_ranges(r, range);
    float rate = train_cosine_rate(o->rate, r->step, r->steps, warmup), least = o->rate / 2;
    /* the units swept last have most of their training before them when others are done */
    if (o->sweep.on && r->step >= warmup && rate < least) rate = least;
    return train_adam_step_ranges(&r->adam, r->net->be, rate, 0.0f, range, ranges, r->net->gradient,
                                  r->net->parameter, NULL);
}

/* --- conjugate gradients --------------------------------------------------------------- */

/* Weight decay during a line search: coefficients stay as the search's first gradient made them,
 * so that there is one function to search along. */
static void regularise_line(train_nested_run *r, uint32_t end, float *gradient, double *value) {
    const train_regulariser *asked = &r->options->regulariser;
    train_nested_layer last = code_layer(r),
                       *own = &r->net->layer_gradient[r->net->shape.layers - 1];
    uint32_t first = r->net->frozen;
    if (asked->kind == TRAIN_PENALTY_NONE || end <= first) return;
    float *rows = gradient + (own->w - r->net->gradient);
    const float *weights = last.w;
    if (r->line_begins) {
        train_regularise_rows(asked, first, end - first, last.inputs, weights, rows, r->lambda);
    }
    for (uint32_t k = first; k < end; k++) {
        double lambda = r->lambda[k - first];
        train_regulariser fixed = {asked->kind, 0, lambda};
        if (!(lambda > 0.0)) continue;
        if (!r->line_begins) train_regularise_rows(&fixed, k, 1, last.inputs, weights, rows, NULL);
        *value += train_regulariser_value(&fixed, k, 1, last.inputs, weights);
    }
}

static taper_status line_objective(void *user, const float *parameter, float *gradient,
                                   double *value) {
    train_nested_run *r = user;
    train_nested_network *net = r->net;
    train_nested_loss loss;
    float *own = net->parameter;
    if (parameter != own) {
        memcpy(r->kept_parameter, own, net->n * sizeof *own);
        memcpy(own, parameter, net->n * sizeof *own);
    }
    taper_status status = add_rows(r, &loss);
    *value = loss.loss;
    if (status == TAPER_OK) regularise_line(r, trained_end(r), net->gradient, value);
    if (r->line_begins) r->line_loss = loss;
    r->line_begins = 0;
    memcpy(gradient, net->gradient, net->n * sizeof *gradient);
    if (parameter != own) memcpy(own, r->kept_parameter, net->n * sizeof *own);
    return status;
}

static taper_status cg_step(train_nested_run *r, train_nested_loss *loss) {
    train_cg_options options = train_cg_defaults();
    for (uint32_t i = 0; i < r->options->line_searches; i++) {
        train_cg_result result;
        r->line_begins = 1;
        TAPER_TRY(train_cg_step(&r->cg, line_objective, r, r->net->parameter, &options, &result));
        if (!i) *loss = r->line_loss;
        if (!(result.alpha > 0.0)) break;
    }
    return TAPER_OK;
}

/* A frozen unit leaves the search's memory too. */
static void forget_frozen(train_nested_run *r, uint32_t before) {
    if (r->options->optimiser != TRAIN_CG || r->net->frozen == before) return;
    train_nested_layer last = code_layer(r);
    size_t n = (size_t)(r->net->frozen - before) * last.inputs;
    float *const part[2] = {last.w, last.v};
    for (int i = 0; i < 2; i++) {
        size_t at = (size_t)(part[i] - r->net->parameter) + (size_t)before * last.inputs;
        memset(r->cg.direction + at, 0, n * sizeof(float));
        memset(r->cg.gradient + at, 0, n * sizeof(float));
    }
    size_t at = (size_t)(last.b - r->net->parameter) + before;
    memset(r->cg.direction + at, 0, (r->net->frozen - before) * sizeof(float));
    memset(r->cg.gradient + at, 0, (r->net->frozen - before) * sizeof(float));
}

/* --- thresholds ------------------------------------------------------------------------ */

/* Follow the quantiles of what the last block of rows gave. */
static taper_status follow_thresholds(train_nested_run *r) {
    if (!r->net->shape.binary) return TAPER_OK;
    const train_nested_activations *act = r->net->act;
    uint32_t active = act->active;
    if (active > r->net->frozen)
        TAPER_TRY(train_binariser_update(&r->binariser, act->pre, act->n, active, r->net->frozen,
                                         active - r->net->frozen));
    train_nested_take_thresholds(r, r->net->frozen, active);
    return TAPER_OK;
}

/* --- the loop -------------------------------------------------------------------------- */

/* Multiply-adds of a row's matrix products in this step. */
static double multiply_adds(const train_nested_run *r) {
    const train_nested_network *net = r->net;
    double sum = 0.0, trained = (double)(trained_end(r) - net->frozen), all = trained_end(r);
    int encoder =
        !net->shape.binary || r->options->straight_through || r->options->invariance > 0.0f;
    for (uint32_t l = 0; l < net->shape.layers; l++) {
        double inputs = net->layer[l].inputs, outputs = net->layer[l].outputs;
        int last = l + 1 == net->shape.layers;
        double forward = last ? all : outputs, back = last ? trained : outputs;
        sum += inputs * (2 * forward + back * (1 + encoder) + (l || encoder ? back : 0) +
                         (l && encoder ? back : 0));
    }
    return sum;
}

static taper_status one_step(train_nested_run *r, taper_error *error) {
    train_nested_loss loss = {0};
    uint32_t before = r->net->frozen;
    if (r->step % r->steps_per_epoch == 0 || !r->shuffled_epoch) train_nested_shuffle(r);
    r->rows = r->shuffled + r->step % r->steps_per_epoch * r->batch;
    draw_truncations(r);
    taper_status status =
        r->options->optimiser == TRAIN_CG ? cg_step(r, &loss) : adam_step(r, &loss);
    if (status == TAPER_ERR_ARG) return train_nested_diverged(r, loss.loss, error);
    if (status == TAPER_OK) status = follow_thresholds(r);
    if (status != TAPER_OK) return formats_fail(error, status, "no memory for a training step");
    r->sum.loss += loss.loss, r->sum.mse += loss.mse, r->sum.invariance += loss.invariance;
    r->sum.multiply_adds += multiply_adds(r);
    r->step++;
    r->net->frozen = train_sweep_after_step(&r->sweep, r->step, code_layer(r).w);
    forget_frozen(r, before);
    return TAPER_OK;
}

static taper_status end_epoch(train_nested_run *r, double seconds) {
    const train_nested_options *o = r->options;
    double steps = (double)r->steps_per_epoch;
    train_nested_epoch e = {.loss = r->sum.loss / steps,
                            .mse = r->sum.mse / steps,
                            .invariance = r->sum.invariance / steps,
                            .multiply_adds = r->sum.multiply_adds / steps,
                            .frozen = r->net->frozen,
                            .seconds = seconds};
    if (r->n_validation)
        TAPER_TRY(train_nested_validate(r->net, o->truncation, r->data, r->split + r->n_training,
                                        r->n_validation, &e.validation_mse, &e.full_mse));
    r->epoch[r->epochs++] = e;
    r->sum = (train_nested_epoch){0};
    if (r->callbacks && r->callbacks->epoch)
        r->callbacks->epoch(r->callbacks->user, r->epochs, &r->epoch[r->epochs - 1]);
    return TAPER_OK;
}

static taper_status loop(train_nested_run *r, taper_error *error) {
    const train_nested_options *o = r->options;
    double started = train_seconds(), saved = started;
    uint64_t first = r->step;
    while (r->step < r->steps && !r->stop) {
        TAPER_TRY(one_step(r, error));
        double t = train_seconds();
        int epoch_ends = r->step % r->steps_per_epoch == 0;
        if (epoch_ends && end_epoch(r, t - started) != TAPER_OK)
            return formats_fail(error, TAPER_ERR_NOMEM, "no memory for validation");
        if (r->callbacks && r->callbacks->step)
            r->stop = r->callbacks->step(
                r->callbacks->user, r->step, r->steps, r->net->frozen,
                r->sum.loss /
                    (double)(r->step % r->steps_per_epoch ? r->step % r->steps_per_epoch : 1),
                (t - started) / (double)(r->step - first) * (double)(r->steps - r->step));
        if (o->saving.path && (epoch_ends || r->stop || t - saved > o->checkpoint_seconds)) {
            TAPER_TRY(train_nested_save(r, error));
            saved = train_seconds();
        }
    }
    r->seconds = train_seconds() - started;
    return TAPER_OK;
}

taper_status train_nested(const train_nested_options *options, const train_pixels *data,
                          train_nested_network *net, const train_nested_callbacks *callbacks,
                          train_nested_result *result, taper_error *error) {
    train_nested_run r = {.options = options, .data = data, .net = net, .callbacks = callbacks};
    taper_status status = train_nested_begin(&r, error);
    if (status == TAPER_OK) status = loop(&r, error);
    if (status == TAPER_OK && net->shape.binary && !r.stop) status = train_nested_settle(&r, error);
    if (result) {
        memset(result, 0, sizeof *result);
        result->steps = r.step, result->epochs = r.epochs, result->stopped = (uint32_t)r.stop;
        if (r.epochs) result->last = r.epoch[r.epochs - 1];
        result->seconds = r.seconds;
    }
    net->frozen = 0;
    train_nested_end(&r);
    return status;
}
