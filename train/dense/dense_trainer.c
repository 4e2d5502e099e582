/* dense_trainer.c -- the training loop, its validation, its checkpoints; see dense_trainer.h.
 *
 * All that is random is numbered by (seed, epoch, step, row), so a run has no hidden state:
 * step number, parameters, moments and the epoch's sums are all that a checkpoint needs. */
#include "train/dense/dense_trainer.h"
#include "train/dense/population.h"
#include "train/optimise/adam.h"
#include "train/optimise/run.h"
#include "train/sampling/jitter.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARMUP = 200, MEASURED_ROWS = 8192 };

/* The qualities that training is for, unless told: so many dB above that of images without code. */
static const double low_above_empty = 4.0, high_above_empty = 13.0;
static const uint64_t validation_step = UINT64_MAX >> 8; /* numbers the draws of validation */

/* One run under way. Stage one trains everything; stage two (requantise given) the decoder. */
typedef struct run {
    const train_dense_options *options;
    const train_pixels *data;
    const train_callbacks *callbacks;
    train_requantise_fn *requantise;
    void *requantise_user;
    train_autoencoder ae;
    train_adam adam;
    train_objective objective;
    train_cut_range range;
    train_population population; /* range's lengths, where a truncation is given */
    float *best;                 /* [ae.n] */
    float *codes, *dequantised;  /* [batch][units], stage two */
    uint32_t *rows;              /* all rows: [training | validation] */
    uint32_t *shuffled;          /* this epoch's training rows */
    size_t n_training, n_validation, batch;
    uint64_t steps_per_epoch;
    train_cut *cuts; /* [batch] */
    train_jitter jitter;
    uint8_t *moved;         /* [batch][inputs]; NULL: nothing is moved */
    train_checkpoint state; /* step, losses, history: what a checkpoint holds */
    double started, saved;  /* clock */
    uint64_t first_step;    /* of this process */
    uint64_t saved_step;    /* in the checkpoint on disk; 0: none was written or read */
    uint64_t diverged;      /* step, from 1; 0: none */
    int stop;
} run;

train_dense_options train_dense_defaults(void) {
    return (train_dense_options){.epochs = 40,
                                 .batch = 256,
                                 .rate = 1e-3f,
                                 .max_norm = 50.0f,
                                 .lambda = 0.2f,
                                 .gradient_floor = 1.0f,
                                 .balance = 0.7f,
                                 .rho = 0.95f,
                                 .validation_fraction = 0.05f,
                                 .max_validation = 4096,
                                 .seed = 1,
                                 .checkpoint_seconds = 60.0};
}

static taper_status check_options(const train_dense_options *o, const train_pixels *data,
                                  const codec_network *net, taper_error *error) {
    if (!o->epochs || o->epochs > TRAIN_CHECKPOINT_MAX_HISTORY || !o->batch || o->batch > 1u << 20)
        return formats_fail(error, TAPER_ERR_ARG,
                            "epochs and batch must lie between 1 and 1,048,576");
    if (!(o->rate > 0.0f) || !(o->rate <= 1.0f) || !(o->max_norm >= 0.0f) || !(o->lambda >= 0.0f) ||
        !(o->gradient_floor >= 0.0f) || !(o->balance >= 0.0f && o->balance <= 1.0f))
        return formats_fail(error, TAPER_ERR_ARG,
                            "rate must lie in (0, 1], balance in [0, 1]; "
                            "max norm, lambda and gradient floor from 0 up");
    if (!(o->rho >= 0.0f && o->rho <= 1.0f) ||
        !(o->truncated_fraction >= 0.0f && o->truncated_fraction <= 1.0f) ||
        !(o->validation_fraction >= 0.0f && o->validation_fraction <= 0.5f))
        return formats_fail(error, TAPER_ERR_ARG,
                            "rho and truncated fraction must lie in [0, 1], "
                            "validation fraction in [0, 0.5]");
    if (!(o->psnr_low >= 0.0 && o->psnr_low < 100.0) ||
        !(o->psnr_high >= 0.0 && o->psnr_high < 100.0) ||
        (o->psnr_high > 0.0 && o->psnr_high < o->psnr_low))
        return formats_fail(error, TAPER_ERR_ARG,
                            "the quality range must rise and lie in 0 to 100 dB");
    if (!(o->jitter >= 0.0f && o->jitter <= 1.0f) ||
        (o->jitter > 0.0f &&
         (!o->width || !o->height || data->inputs % ((uint64_t)o->width * o->height) != 0)))
        return formats_fail(error, TAPER_ERR_ARG,
                            "jitter must lie in [0, 1], and windows of %u values cannot be %u x %u "
                            "pixels",
                            (unsigned)data->inputs, (unsigned)o->width, (unsigned)o->height);
    if (data->inputs != net->inputs || data->n < 2 || data->n > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_ARG,
                            "training needs two or more windows of %u values, there are %zu of %u",
                            (unsigned)net->inputs, data->n, (unsigned)data->inputs);
    return TAPER_OK;
}

/* --- rows: split and shuffle ------------------------------------------------------------------ */

static size_t validation_rows(const train_dense_options *o, size_t n) {
    size_t rows = (size_t)((double)n * (double)o->validation_fraction);
    if (rows < o->batch && o->validation_fraction > 0.0f)
        rows = n / 10 < o->batch ? n / 10 : o->batch;
    if (rows > o->max_validation) rows = o->max_validation;
    return rows ? rows : 1; /* something must tell better from worse */
}

static taper_status split_rows(run *r, taper_error *error) {
    size_t n = r->data->n;
    r->rows = malloc(n * sizeof *r->rows);
    r->shuffled = malloc(n * sizeof *r->shuffled);
    if (!r->rows || !r->shuffled)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to order %zu rows", n);
    for (size_t i = 0; i < n; i++) r->rows[i] = (uint32_t)i;
    train_shuffle(r->rows, n, r->options->seed, TRAIN_STREAM_SPLIT);
    r->n_validation = validation_rows(r->options, n);
    r->n_training = n - r->n_validation;
    r->batch = r->options->batch < r->n_training ? r->options->batch : r->n_training;
    r->steps_per_epoch = r->n_training / r->batch;
    return TAPER_OK;
}

static void shuffle_epoch(run *r, uint64_t epoch) {
    memcpy(r->shuffled, r->rows, r->n_training * sizeof *r->shuffled);
    train_shuffle(r->shuffled, r->n_training, r->options->seed,
                  TRAIN_STREAM_SHUFFLE + (epoch << 8));
}

/* --- one batch -------------------------------------------------------------------------------- */

/* Loss of the loaded rows at the cuts numbered (step, first ..); forward alone. */
static taper_status batch_loss(run *r, uint64_t step, uint64_t first, size_t n, int gradient,
                               train_loss *out) {
    if (r->requantise) {
        TAPER_TRY(train_autoencoder_codes(&r->ae, r->codes));
        uint64_t draw = step * (r->data->n / r->batch + 2) + first / r->batch;
        TAPER_TRY(r->requantise(r->requantise_user, r->codes, n, r->ae.weights.units,
                                r->options->seed, draw, r->dequantised));
        return train_autoencoder_decode_loss(&r->ae, r->dequantised, gradient, out);
    }
    for (size_t i = 0; i < n; i++)
        r->cuts[i] =
            train_cut_draw(&r->range, r->ae.weights.units, r->options->seed, step, first + i);
    TAPER_TRY(train_autoencoder_forward(&r->ae, &r->objective, r->cuts, out));
    return gradient ? train_autoencoder_backward(&r->ae) : TAPER_OK;
}

/* The validation rows' loss, always at the same cuts. */
static taper_status validate(run *r, double *loss) {
    double sum = 0.0;
    for (size_t i = 0; i < r->n_validation; i += r->batch) {
        size_t n = r->n_validation - i < r->batch ? r->n_validation - i : r->batch;
        train_loss part;
        train_autoencoder_load(&r->ae, r->data->pixels, r->rows + r->n_training + i, n);
        TAPER_TRY(batch_loss(r, validation_step, i, n, 0, &part));
        sum += part.loss * (double)n;
    }
    *loss = sum / (double)r->n_validation;
    return TAPER_OK;
}

/* This step's training rows into the autoencoder, moved if that is asked for. */
static void load_batch(run *r) {
    const uint32_t *order = r->shuffled + r->state.step % r->steps_per_epoch * r->batch;
    if (!r->moved) {
        train_autoencoder_load(&r->ae, r->data->pixels, order, r->batch);
        return;
    }
    train_jitter_rows(&r->jitter, r->ae.be->pool, r->data->pixels, order, r->batch,
                      r->options->seed, r->state.step, r->moved);
    train_autoencoder_load(&r->ae, r->moved, NULL, r->batch);
}

static taper_status train_step(run *r) {
    const train_dense_options *o = r->options;
    train_checkpoint *s = &r->state;
    uint64_t steps = r->steps_per_epoch * o->epochs;
    train_loss loss;
    load_batch(r);
    TAPER_TRY(batch_loss(r, s->step, 0, r->batch, 1, &loss));
    uint64_t warmup = steps / 10 < WARMUP ? steps / 10 : WARMUP;
    double norm = loss.loss; /* not finite: no step is made */
    taper_status status = TAPER_OK;
    if (isfinite(loss.loss))
        status =
            train_adam_step(&r->adam, r->ae.be, train_cosine_rate(o->rate, s->step, steps, warmup),
                            o->max_norm, r->ae.gradient, r->ae.parameter, &norm);
    if (!isfinite(norm)) {
        r->diverged = s->step + 1;
        return TAPER_OK;
    }
    s->sum_loss += loss.loss * (double)r->batch;
    s->sum_distortion += loss.distortion * (double)r->batch;
    s->sum_bits += loss.bits * (double)r->batch;
    s->sum_rows += r->batch;
    s->step++;
    return status;
}

/* --- checkpoints ------------------------------------------------------------------------------ */

/* Everything that decides what the run computes. */
static uint64_t fingerprint_of(const run *r) {
    const train_dense_options *o = r->options;
    const double numbers[] = {o->epochs,
                              o->batch,
                              (double)o->rate,
                              (double)o->max_norm,
                              (double)o->lambda,
                              (double)o->gradient_floor,
                              (double)o->balance,
                              o->psnr_low,
                              o->psnr_high,
                              (double)o->rho,
                              (double)o->truncated_fraction,
                              (double)o->validation_fraction,
                              o->max_validation,
                              o->patience,
                              (double)o->jitter,
                              o->width,
                              o->height};
    const uint64_t counts[] = {o->seed, r->data->n, r->data->inputs, r->ae.weights.units, r->ae.n};
    uint64_t hash = train_fingerprint(1, numbers, sizeof numbers);
    hash = train_fingerprint(hash, counts, sizeof counts);
    if (r->range.lengths)
        hash = train_fingerprint(hash, r->population.bytes.mass,
                                 r->population.bytes.units * sizeof(double));
    hash = train_fingerprint(hash, r->ae.weights.mean, r->data->inputs * sizeof(float));
    hash = train_fingerprint(hash, r->ae.parameter,
                             r->ae.n *
                                 sizeof(float)); /* the start: linear path, shapes, first weights */
    return train_fingerprint(hash, r->data->pixels, r->data->n * r->data->inputs);
}

static taper_status save(run *r, taper_error *error) {
    if (!r->options->saving.path || r->requantise) return TAPER_OK;
    r->saved = train_seconds();
    r->state.adam_step = r->adam.step;
    TAPER_TRY(train_checkpoint_write(r->options->saving.path, &r->state, r->options->saving.watch,
                                     error));
    r->saved_step = r->state.step;
    return TAPER_OK;
}

static taper_status resume(run *r, taper_error *error) {
    const train_dense_options *o = r->options;
    if (!o->saving.resume || !o->saving.path || r->requantise || access(o->saving.path, F_OK) != 0)
        return TAPER_OK;
    train_checkpoint loaded = r->state; /* fingerprint, shape and vectors */
    TAPER_TRY(train_checkpoint_read(o->saving.path, &loaded, error));
    uint64_t steps = r->steps_per_epoch * o->epochs;
    if (loaded.step > steps || loaded.n_history > o->epochs ||
        loaded.n_history != loaded.step / r->steps_per_epoch) {
        free(loaded.history);
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the checkpoint contradicts itself; start without --resume");
    }
    memcpy(r->state.history, loaded.history, loaded.n_history * sizeof *loaded.history);
    free(loaded.history);
    loaded.history = r->state.history;
    r->state = loaded;
    r->adam.step = loaded.adam_step;
    r->saved_step = loaded.step;
    return TAPER_OK;
}

/* --- making and ending a run ------------------------------------------------------------------ */

static taper_status choose_thresholds(run *r, const codec_network *net, const train_start *start,
                                      taper_error *error) {
    const train_dense_options *o = r->options;
    double empty = train_psnr_without_code(start, net->inputs, net->units);
    double low = o->psnr_low > 0.0 ? o->psnr_low : empty + low_above_empty,
           high = o->psnr_high > 0.0 ? o->psnr_high : empty + high_above_empty;
    r->range = (train_cut_range){
        .threshold_low = train_threshold_for_psnr(start, net->inputs, net->units, high),
        .threshold_high = train_threshold_for_psnr(start, net->inputs, net->units, low),
        .rho = o->rho,
        .truncated_fraction = o->truncated_fraction};
    if (r->range.threshold_high < r->range.threshold_low)
        r->range.threshold_high = r->range.threshold_low;
    if (!o->truncation) return TAPER_OK;
    TAPER_TRY(train_population_make(&r->population, o->truncation, start, net->units,
                                    r->range.threshold_low, error));
    r->range.lengths = &r->population.bytes;
    r->range.threshold_at = r->population.threshold_at;
    return TAPER_OK;
}

static taper_status take_memory(run *r, taper_error *error) {
    size_t codes = r->requantise ? r->batch * r->ae.weights.units : 1;
    r->best = malloc(r->ae.n * sizeof *r->best);
    r->codes = malloc(codes * sizeof *r->codes);
    r->dequantised = malloc(codes * sizeof *r->dequantised);
    r->cuts = malloc(r->batch * sizeof *r->cuts);
    int moves = r->options->jitter > 0.0f;
    if (moves) {
        const train_dense_options *o = r->options;
        r->jitter =
            (train_jitter){o->width, o->height, r->data->inputs / o->width / o->height, o->jitter};
        r->moved = malloc(r->batch * r->data->inputs);
    }
    r->state.history = calloc(r->options->epochs, sizeof *r->state.history);
    if (!r->best || !r->codes || !r->dequantised || !r->cuts || (moves && !r->moved) ||
        !r->state.history)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a network of %zu weights",
                            r->ae.n);
    return TAPER_OK;
}

static taper_status begin(run *r, codec_backend *be, const codec_network *net, taper_error *error) {
    TAPER_TRY(split_rows(r, error));
    train_start start;
    taper_status status = train_start_measure(&start, net, be, r->data, MEASURED_ROWS);
    if (status == TAPER_OK) {
        taper_status chosen = choose_thresholds(r, net, &start, error);
        if (chosen == TAPER_OK)
            status =
                train_autoencoder_create(&r->ae, net, be, r->batch, start.scale, start.magnitude);
        train_start_free(&start);
        TAPER_TRY(chosen);
    }
    if (status == TAPER_OK) status = train_adam_create(&r->adam, r->ae.n);
    if (status != TAPER_OK)
        return formats_fail(error, status, "no memory for training this network");
    TAPER_TRY(take_memory(r, error));
    memcpy(r->best, r->ae.parameter, r->ae.n * sizeof *r->best);
    r->objective =
        (train_objective){r->options->lambda, r->options->gradient_floor, r->options->balance};
    r->state.n = r->ae.n;
    r->state.vector[0] = r->ae.parameter;
    r->state.vector[1] = r->adam.m;
    r->state.vector[2] = r->adam.v;
    r->state.vector[3] = r->best;
    if (r->options->saving.path && !r->requantise) r->state.fingerprint = fingerprint_of(r);
    TAPER_TRY(validate(r, &r->state.start_loss));
    r->state.best_loss = r->state.start_loss;
    return TAPER_OK;
}

static void end(run *r) {
    train_autoencoder_free(&r->ae);
    train_adam_free(&r->adam);
    train_population_free(&r->population);
    free(r->best);
    free(r->codes);
    free(r->dequantised);
    free(r->rows);
    free(r->shuffled);
    free(r->cuts);
    free(r->moved);
    free(r->state.history);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void report_step(run *r) {
    const train_checkpoint *s = &r->state;
    if (!r->callbacks || !r->callbacks->progress) return;
    uint64_t steps = r->steps_per_epoch * r->options->epochs, done = s->step - r->first_step;
    double elapsed = train_seconds() - r->started, rows = s->sum_rows ? (double)s->sum_rows : 1.0;
    double rate = elapsed > 0.0 ? (double)done / elapsed : 0.0;
    train_progress p = {(uint32_t)((s->step - (s->step > 0)) / r->steps_per_epoch) + 1,
                        r->options->epochs,
                        s->step,
                        steps,
                        s->sum_loss / rows,
                        s->sum_distortion / rows,
                        s->sum_bits / rows,
                        s->n_history ? s->history[s->n_history - 1].validation_loss : s->start_loss,
                        rate > 0.0 ? (double)(steps - s->step) / rate : 0.0};
    if (r->callbacks->progress(r->callbacks->user, &p)) r->stop = 1;
}

static void report_epoch(run *r, uint32_t epoch, double seconds) {
    if (r->callbacks && r->callbacks->epoch)
        r->callbacks->epoch(r->callbacks->user, epoch, &r->state.history[epoch - 1], seconds);
}

static taper_status finish_epoch(run *r) {
    train_checkpoint *s = &r->state;
    double rows = (double)s->sum_rows;
    train_history *entry = &s->history[s->n_history];
    TAPER_TRY(validate(r, &entry->validation_loss));
    entry->loss = s->sum_loss / rows;
    entry->distortion = s->sum_distortion / rows;
    entry->bits = s->sum_bits / rows;
    entry->rate = (double)train_cosine_rate(r->options->rate, s->step,
                                            r->steps_per_epoch * r->options->epochs, 0);
    s->n_history++;
    s->sum_loss = s->sum_distortion = s->sum_bits = 0.0;
    s->sum_rows = 0;
    s->stale_epochs++;
    if (entry->validation_loss < s->best_loss) { /* false for NaN */
        s->best_loss = entry->validation_loss;
        s->stale_epochs = 0;
        memcpy(r->best, r->ae.parameter, r->ae.n * sizeof *r->best);
    }
    report_epoch(r, s->n_history, train_seconds() - r->started);
    return TAPER_OK;
}

/* The epoch whose network is kept, from 1; 0: the start. */
static uint32_t best_epoch(const train_checkpoint *s) {
    for (uint32_t i = 0; i < s->n_history; i++)
        if (s->history[i].validation_loss == s->best_loss) return i + 1;
    return 0;
}

static void report_divergence(const run *r) {
    char kept[64] = "its start", saved[512] = "no checkpoint was written before it";
    uint32_t epoch = best_epoch(&r->state);
    if (!r->callbacks || !r->callbacks->diverged) return;
    if (epoch) snprintf(kept, sizeof kept, "the network of epoch %u", (unsigned)epoch);
    if (r->saved_step)
        snprintf(saved, sizeof saved, "the last good checkpoint, after step %llu, is %.400s",
                 (unsigned long long)r->saved_step, r->options->saving.path);
    char words[768];
    snprintf(words, sizeof words,
             "training diverged in step %llu of %llu (a loss or gradient is not finite) and was "
             "stopped there; %s is kept, %s; lower the rate",
             (unsigned long long)r->diverged,
             (unsigned long long)(r->steps_per_epoch * r->options->epochs), kept, saved);
    r->callbacks->diverged(r->callbacks->user, words);
}

static int out_of_patience(const run *r) {
    return r->options->patience && r->state.stale_epochs >= r->options->patience;
}

static taper_status loop(run *r, taper_error *error) {
    train_checkpoint *s = &r->state;
    const uint64_t steps = r->steps_per_epoch * r->options->epochs;
    r->started = r->saved = train_seconds();
    r->first_step = s->step;
    for (uint32_t i = 1; i <= s->n_history; i++) report_epoch(r, i, 0.0);
    if (s->step < steps) shuffle_epoch(r, s->step / r->steps_per_epoch);
    while (s->step < steps && !r->stop && !r->diverged && !out_of_patience(r)) {
        taper_status status = train_step(r);
        if (status != TAPER_OK)
            return formats_fail(error, status, "training step %llu could not be computed: %s",
                                (unsigned long long)s->step, formats_status_name(status));
        if (r->diverged) {
            report_divergence(r);
            break;
        }
        report_step(r);
        if (s->step % r->steps_per_epoch == 0) {
            status = finish_epoch(r);
            if (status != TAPER_OK)
                return formats_fail(error, status, "validation could not be computed: %s",
                                    formats_status_name(status));
            TAPER_TRY(save(r, error));
            if (s->step < steps) shuffle_epoch(r, s->step / r->steps_per_epoch);
        } else if (r->stop || train_seconds() - r->saved >= r->options->checkpoint_seconds) {
            TAPER_TRY(save(r, error));
        }
    }
    return TAPER_OK;
}

static void report_result(const run *r, train_result *result) {
    if (!result) return;
    const train_checkpoint *s = &r->state;
    *result = (train_result){
        s->start_loss,     s->best_loss, !(s->best_loss < s->start_loss), s->n_history,
        (uint32_t)r->stop, r->diverged,  r->range.threshold_low,          r->range.threshold_high};
}

/* net becomes the best network, unless that is what it was. */
static taper_status carry_out(run *r, codec_backend *be, codec_network *net, train_result *result,
                              taper_error *error) {
    taper_status status = begin(r, be, net, error);
    if (status == TAPER_OK) status = resume(r, error);
    if (status == TAPER_OK) status = loop(r, error);
    if (status == TAPER_OK) {
        const train_checkpoint *s = &r->state;
        if (s->best_loss < s->start_loss) train_autoencoder_export(&r->ae, r->best, net);
        report_result(r, result);
    }
    end(r);
    return status;
}

taper_status train_dense(const train_dense_options *options, const train_pixels *data,
                         codec_backend *be, codec_network *net, const train_callbacks *callbacks,
                         train_result *result, taper_error *error) {
    TAPER_TRY(check_options(options, data, net, error));
    train_initialise_stacks(net, options->seed);
    run r = {.options = options, .data = data, .callbacks = callbacks};
    return carry_out(&r, be, net, result, error);
}

taper_status train_dense_decoder(const train_dense_options *options, const train_pixels *data,
                                 codec_backend *be, codec_network *net,
                                 train_requantise_fn *requantise, void *requantise_user,
                                 const train_callbacks *callbacks, train_result *result,
                                 taper_error *error) {
    TAPER_TRY(check_options(options, data, net, error));
    if (net->synthesis == net->analysis || !requantise)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a tied decoder cannot be tuned alone; train it untied");
    run r = {.options = options,
             .data = data,
             .callbacks = callbacks,
             .requantise = requantise,
             .requantise_user = requantise_user};
    return carry_out(&r, be, net, result, error);
}
