/* nested_run.c -- how a nested-dropout run begins, is saved, resumed, and ends; see nested_run.h.
 *
 * Checkpoints are those of checkpoint.h with the vectors: parameters; Adam's moments, or direction
 * and gradient of the search; and one for all the rest (struct extra). */
#include "train/nested/nested_run.h"
#include "train/nested/nested_errors.h"
#include "train/optimise/run.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- options and rows ------------------------------------------------------------------ */

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
    if (o->sweep.on && !train_sweep_options_are_legal(&o->sweep))
        return formats_fail(
            error, TAPER_ERR_ARG,
            "sweeping: check from 1, tolerance and warm-up from 0, fraction above 0, "
            "warm-up and fraction together at most 1");
    if (o->truncation && o->truncation->units != r->net->units)
        return formats_fail(error, TAPER_ERR_ARG, "a truncation of %u units for a code of %u",
                            (unsigned)o->truncation->units, (unsigned)r->net->units);
    if (r->data->inputs != r->net->shape.inputs || r->data->n < 2 || r->data->n > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_ARG,
                            "training needs two or more rows of %u values, there are %zu of %u",
                            (unsigned)r->net->shape.inputs, r->data->n, (unsigned)r->data->inputs);
    return TAPER_OK;
}

static void split_rows(train_nested_run *r) {
    size_t n = r->data->n, most = n / 10;
    for (size_t i = 0; i < n; i++) r->split[i] = (uint32_t)i;
    train_shuffle(r->split, n, r->options->seed, TRAIN_STREAM_SPLIT);
    r->n_validation = r->options->max_validation < most ? r->options->max_validation : most;
    r->n_training = n - r->n_validation;
    r->batch = r->options->batch < r->n_training ? r->options->batch : r->n_training;
    r->steps_per_epoch = r->n_training / r->batch;
    r->steps = r->steps_per_epoch * r->options->epochs;
}

void train_nested_shuffle(train_nested_run *r) {
    uint64_t epoch = r->step / r->steps_per_epoch;
    memcpy(r->shuffled, r->split, r->n_training * sizeof *r->shuffled);
    train_shuffle(r->shuffled, r->n_training, r->options->seed,
                  TRAIN_STREAM_SHUFFLE + (epoch << 8));
    r->shuffled_epoch = 1;
}

/* --- checkpoints ----------------------------------------------------------------------- */

/* What a checkpoint holds beside the three vectors; as floats' bytes in the fourth. */
typedef struct extra {
    double deadline, cg_value, cg_alpha, cg_slope;
    uint64_t looked_at, cg_iterations, cg_since_restart, frozen;
    train_nested_epoch sum;
} extra;

/* Length of a checkpoint's vectors. */
static size_t stored_floats(const train_nested_run *r) {
    size_t rest = sizeof(extra) / sizeof(float) + 2 * (size_t)r->net->units + r->sweep.inputs;
    return rest > r->net->n ? rest : r->net->n;
}

static float **moments(train_nested_run *r, float *vector[2]) {
    int cg = r->options->optimiser == TRAIN_CG;
    vector[0] = cg ? r->cg.direction : r->adam.m;
    vector[1] = cg ? r->cg.gradient : r->adam.v;
    return vector;
}

static taper_status stage(train_nested_run *r, train_checkpoint *c, taper_error *error) {
    c->n = stored_floats(r);
    c->fingerprint = r->fingerprint;
    for (int i = 0; i < TRAIN_CHECKPOINT_VECTORS; i++)
        if (!(c->vector[i] = calloc(c->n, sizeof(float))))
            return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a checkpoint");
    return TAPER_OK;
}

static void unstage(train_checkpoint *c) {
    for (int i = 0; i < TRAIN_CHECKPOINT_VECTORS; i++) free(c->vector[i]);
    free(c->history);
}

/* The curve's entries in the checkpoint's fields. */
static void pack_history(const train_nested_run *r, train_history *h) {
    for (uint32_t i = 0; i < r->epochs; i++) {
        const train_nested_epoch *e = &r->epoch[i];
        h[i] = (train_history){e->loss, e->validation_mse, e->mse, e->full_mse, e->frozen};
    }
}

static void pack(train_nested_run *r, train_checkpoint *c) {
    float *vector[2], *rest = c->vector[3];
    size_t bytes = r->net->n * sizeof(float);
    moments(r, vector);
    memcpy(c->vector[0], r->net->parameter, bytes);
    memcpy(c->vector[1], vector[0], bytes);
    memcpy(c->vector[2], vector[1], bytes);
    extra x = {.deadline = r->sweep.deadline,
               .cg_value = r->cg.value,
               .cg_alpha = r->cg.alpha,
               .cg_slope = r->cg.slope,
               .looked_at = r->sweep.started,
               .cg_iterations = r->cg.iterations,
               .cg_since_restart = r->cg.since_restart,
               .frozen = r->net->frozen,
               .sum = r->sum};
    memcpy(rest, &x, sizeof x);
    rest += sizeof x / sizeof *rest;
    if (r->binariser.state)
        memcpy(rest, r->binariser.state, 2 * (size_t)r->net->units * sizeof *rest);
    memcpy(rest + 2 * r->net->units, r->sweep.looked, r->sweep.inputs * sizeof *rest);
    c->step = r->step;
    c->adam_step = r->adam.step;
    c->n_history = r->epochs;
}

taper_status train_nested_save(train_nested_run *r, taper_error *error) {
    train_checkpoint c = {0};
    taper_status status = stage(r, &c, error);
    c.history = calloc(r->epochs + 1, sizeof *c.history);
    if (status == TAPER_OK && !c.history)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for a checkpoint");
    if (status == TAPER_OK) {
        pack(r, &c);
        pack_history(r, c.history);
        status =
            train_checkpoint_write(r->options->saving.path, &c, r->options->saving.watch, error);
    }
    unstage(&c);
    if (status == TAPER_OK) r->saved = 1, r->saved_step = r->step;
    return status;
}

static taper_status unpack(train_nested_run *r, const train_checkpoint *c, taper_error *error) {
    float *vector[2];
    const float *rest = c->vector[3];
    size_t bytes = r->net->n * sizeof(float);
    extra x;
    memcpy(&x, rest, sizeof x);
    if (c->step > r->steps || c->n_history != c->step / r->steps_per_epoch ||
        c->n_history > r->options->epochs || x.frozen >= r->net->units)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the checkpoint contradicts itself; start without --resume");
    moments(r, vector);
    memcpy(r->net->parameter, c->vector[0], bytes);
    memcpy(vector[0], c->vector[1], bytes);
    memcpy(vector[1], c->vector[2], bytes);
    rest += sizeof x / sizeof *rest;
    if (r->binariser.state)
        memcpy(r->binariser.state, rest, 2 * (size_t)r->net->units * sizeof *rest);
    if (r->binariser.state) train_nested_take_thresholds(r, 0, r->net->units);
    memcpy(r->sweep.looked, rest + 2 * r->net->units, r->sweep.inputs * sizeof *rest);
    r->sweep.deadline = x.deadline, r->sweep.started = x.looked_at;
    r->cg.value = x.cg_value, r->cg.alpha = x.cg_alpha, r->cg.slope = x.cg_slope;
    r->cg.iterations = x.cg_iterations, r->cg.since_restart = x.cg_since_restart;
    r->sweep.frozen = r->net->frozen = (uint32_t)x.frozen;
    r->sum = x.sum;
    r->step = c->step;
    r->adam.step = c->adam_step;
    for (uint32_t i = 0; i < c->n_history; i++) {
        const train_history *h = &c->history[i];
        r->epoch[i] = (train_nested_epoch){.loss = h->loss,
                                           .validation_mse = h->validation_loss,
                                           .mse = h->distortion,
                                           .full_mse = h->bits,
                                           .frozen = (uint32_t)h->rate};
    }
    r->epochs = c->n_history;
    return TAPER_OK;
}

static taper_status resume(train_nested_run *r, taper_error *error) {
    const train_nested_options *o = r->options;
    if (!o->saving.resume || !o->saving.path || access(o->saving.path, F_OK) != 0) return TAPER_OK;
    train_checkpoint c = {0};
    taper_status status = stage(r, &c, error);
    if (status == TAPER_OK) status = train_checkpoint_read(o->saving.path, &c, error);
    if (status == TAPER_OK) status = unpack(r, &c, error);
    unstage(&c);
    if (status != TAPER_OK) return status;
    r->saved = 1, r->saved_step = r->step;
    for (uint32_t i = 0; i < r->epochs; i++)
        if (r->callbacks && r->callbacks->epoch)
            r->callbacks->epoch(r->callbacks->user, i + 1, &r->epoch[i]);
    return TAPER_OK;
}

/* Everything that decides what the run computes. */
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
                              (double)s->centre,
                              (double)r->net->scale};
    uint64_t hash = train_fingerprint(2, numbers, sizeof numbers);
    hash = train_fingerprint(hash, &o->seed, sizeof o->seed);
    if (o->truncation)
        hash = train_fingerprint(hash, o->truncation->mass, r->net->units * sizeof(double));
    hash = train_fingerprint(hash, s->width, s->layers * sizeof *s->width);
    hash = train_fingerprint(hash, r->net->mean, s->inputs * sizeof(float));
    hash = train_fingerprint(hash, r->net->parameter, r->net->n * sizeof(float));
    return train_fingerprint(hash, r->data->pixels, r->data->n * r->data->inputs);
}

/* --- thresholds ------------------------------------------------------------------------ */

void train_nested_take_thresholds(train_nested_run *r, uint32_t first, uint32_t end) {
    train_nested_layer last = r->net->layer[r->net->shape.layers - 1];
    for (uint32_t k = first; k < end; k++) {
        last.b[k] = -r->binariser.threshold[k];
        if (r->binariser.spread[k] > 0.0f) r->net->spread[k] = r->binariser.spread[k];
    }
}

/* Every unit's first threshold, from rows before training. */
static taper_status first_thresholds(train_nested_run *r) {
    enum { ROWS = 1000 };
    size_t n = r->n_training < ROWS ? r->n_training : ROWS, units = r->net->units;
    float *a = malloc(n * units * sizeof *a);
    taper_status status =
        a ? train_nested_codes(r->net, r->data, r->split, n, 1, a) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK)
        status = train_binariser_update(&r->binariser, a, n, units, 0, (uint32_t)units);
    free(a);
    if (status == TAPER_OK) train_nested_take_thresholds(r, 0, (uint32_t)units);
    return status;
}

taper_status train_nested_settle(train_nested_run *r, taper_error *error) {
    enum { MOST = 1 << 26 }; /* numbers held at once */
    size_t units = r->net->units, n = r->n_training;
    if (n > MOST / units) n = MOST / units;
    float *a = malloc(n * units * sizeof *a), *column = malloc(n * sizeof *column);
    taper_status status =
        a && column ? train_nested_codes(r->net, r->data, r->split, n, 1, a) : TAPER_ERR_NOMEM;
    train_nested_layer last = r->net->layer[r->net->shape.layers - 1];
    for (size_t k = 0; k < units && status == TAPER_OK; k++) {
        for (size_t i = 0; i < n; i++) column[i] = a[i * units + k];
        last.b[k] = -train_exact_quantile(column, n, r->options->beta);
    }
    free(a), free(column);
    return status == TAPER_OK ? status
                              : formats_fail(error, status, "no memory for the thresholds");
}

/* --- begin and end --------------------------------------------------------------------- */

static taper_status take_memory(train_nested_run *r) {
    const train_nested_network *net = r->net;
    int cg = r->options->optimiser == TRAIN_CG;
    size_t inputs = net->layer[net->shape.layers - 1].inputs;
    r->sweep.looked = calloc(inputs, sizeof *r->sweep.looked);
    r->split = malloc(r->data->n * sizeof *r->split);
    r->shuffled = malloc(r->data->n * sizeof *r->shuffled);
    r->epoch = calloc(r->options->epochs, sizeof *r->epoch);
    r->lambda = calloc(net->units, sizeof *r->lambda);
    r->kept_parameter = cg ? malloc(net->n * sizeof(float)) : NULL;
    if (!r->sweep.looked || !r->split || !r->shuffled || !r->epoch || !r->lambda ||
        (cg && !r->kept_parameter))
        return TAPER_ERR_NOMEM;
    split_rows(r);
    train_sweep_begin(&r->sweep, &r->options->sweep, r->steps, net->units, inputs, r->sweep.looked);
    r->kept = calloc(r->batch, sizeof *r->kept);
    if (!r->kept) return TAPER_ERR_NOMEM;
    TAPER_TRY(cg ? train_cg_create(&r->cg, net->n) : train_adam_create(&r->adam, net->n));
    if (!net->shape.binary) return TAPER_OK;
    return train_binariser_create(&r->binariser, net->units, r->options->beta, 1.0);
}

taper_status train_nested_begin(train_nested_run *r, taper_error *error) {
    TAPER_TRY(check(r, error));
    taper_status status = take_memory(r);
    r->net->frozen = 0;
    if (r->options->saving.path) r->fingerprint = fingerprint_of(r);
    if (status == TAPER_OK && r->net->shape.binary) status = first_thresholds(r);
    if (status != TAPER_OK)
        return formats_fail(error, status, "no memory for training this network");
    return resume(r, error);
}

void train_nested_end(train_nested_run *r) {
    train_adam_free(&r->adam);
    train_cg_free(&r->cg);
    train_binariser_free(&r->binariser);
    free(r->sweep.looked);
    free(r->split), free(r->shuffled), free(r->kept), free(r->epoch);
    free(r->kept_parameter), free(r->lambda);
}

taper_status train_nested_diverged(const train_nested_run *r, double loss, taper_error *error) {
    unsigned long long step = (unsigned long long)r->step + 1, saved = r->saved_step;
    if (r->saved)
        return formats_fail(error, TAPER_ERR_ARG,
                            "training diverged in step %llu (loss %g, or a gradient that is not "
                            "finite); the last good checkpoint, after step %llu, is %s; lower the "
                            "rate",
                            step, loss, saved, r->options->saving.path);
    return formats_fail(error, TAPER_ERR_ARG,
                        "training diverged in step %llu (loss %g, or a gradient that is not "
                        "finite); no checkpoint was written before; lower the rate",
                        step, loss);
}

/* --- measures -------------------------------------------------------------------------- */

void train_nested_statistics(const train_pixels *data, float *mean, float *scale) {
    double squares = 0.0;
    for (size_t j = 0; j < data->inputs; j++) {
        double sum = 0.0, sum2 = 0.0, n = (double)(data->n ? data->n : 1);
        for (size_t i = 0; i < data->n; i++) {
            double y = data->pixels[i * data->inputs + j];
            sum += y, sum2 += y * y;
        }
        mean[j] = (float)(sum / n);
        squares += sum2 / n - sum / n * (sum / n);
    }
    double deviation = sqrt(fmax(squares / data->inputs, 0.0));
    *scale = deviation > 1.0 ? (float)deviation : 1.0f;
}

taper_status train_nested_validate(train_nested_network *net, const train_truncation *truncation,
                                   const train_pixels *data, const uint32_t *order, size_t n,
                                   double *expected, double *full) {
    enum { PLACES = 64 };
    uint32_t length[PLACES + 1], lengths = 0, units = net->units;
    for (uint32_t i = 0; i <= PLACES; i++) {
        /* closer at the short end, where errors fall fast */
        double at = (double)i / PLACES;
        uint32_t b = truncation ? (uint32_t)(units * at * at + 0.5) : units;
        if (!lengths || b > length[lengths - 1]) length[lengths++] = b;
    }
    double mse[PLACES + 1];
    TAPER_TRY(train_nested_errors(net, data, order, n, length, lengths, mse));
    *full = *expected = mse[lengths - 1];
    if (!truncation) return TAPER_OK;
    double sum = 0.0;
    for (uint32_t b = 1, at = 1; b <= units; b++) {
        while (length[at] < b) at++;
        double part = (double)(b - length[at - 1]) / (length[at] - length[at - 1]);
        sum += truncation->mass[b - 1] * (mse[at - 1] + part * (mse[at] - mse[at - 1]));
    }
    *expected = sum;
    return TAPER_OK;
}
