/* dense_trainer.c -- functions for the loop: batches, validation, reports; see dense_trainer.h.
 *
 * All random numbers depend on (seed, epoch, step, row), so a run has no state but the loop's. */
#include "train/dense/dense_trainer.h"
#include "train/dense/population.h"
#include "train/device/feed.h"
#include "train/optimise/run.h"
#include "train/sampling/jitter.h"
#include "train/sampling/own_rows.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARMUP = 200, MEASURED_ROWS = 8192 };

/* The default quality range, in dB above the quality of images without code. */
static const double low_above_empty = 4.0, high_above_empty = 13.0;
static const uint64_t validation_step = UINT64_MAX >> 8; /* for random numbers of validation */

/* A run. Stage one trains everything; stage two (with a requantiser) trains the decoder. */
typedef struct run {
    const train_dense_options *options;
    const train_pixels *data;
    const train_callbacks *callbacks;
    const train_requantiser *requantiser;
    train_autoencoder ae;
    train_cut_range range;
    train_population population; /* the lengths of range, if a truncation is given */
    float *codes, *dequantised;  /* [batch][units], stage two */
    uint32_t *rows;              /* all rows: [training | validation] */
    uint32_t *shuffled;          /* this epoch's training rows */
    /* those of both that are here, batch by batch */
    train_own_rows held_out, own;
    uint32_t *label; /* of the rows that are here; NULL: none */
    /* the data, and the places and positions of own rows, on the device */
    train_feed feed;
    train_order split, order, positions;
    train_mirror labels;
    size_t n_training, n_validation, batch;
    uint64_t steps_per_epoch;
    train_cut *cuts; /* [batch] */
    train_jitter jitter;
    train_arena moved_arena;
    uint8_t *moved; /* [batch][inputs] on the device; NULL: no jitter */
    train_loop loop;
} run;

/* --- rows: split and shuffle ------------------------------------------------------------------ */

static size_t validation_rows(const train_dense_options *o, size_t n) {
    size_t rows = (size_t)((double)n * (double)o->validation_fraction);
    if (rows < o->batch && o->validation_fraction > 0.0f)
        rows = n / 10 < o->batch ? n / 10 : o->batch;
    if (rows > o->max_validation) rows = o->max_validation;
    return rows ? rows : 1; /* validation needs at least one row */
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
    taper_status status =
        train_own_rows_open(&r->own, r->data, r->rows, r->n_training, r->n_training / r->batch + 1);
    if (status == TAPER_OK)
        status = train_own_rows_open(&r->held_out, r->data, r->rows + r->n_training,
                                     r->n_validation, r->n_validation / r->batch + 1);
    if (status == TAPER_OK) status = train_own_labels(r->data, &r->label);
    if (status != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to order %zu rows", n);
    train_own_rows_pick(&r->held_out, r->data, r->rows + r->n_training, r->n_validation, r->batch);
    return TAPER_OK;
}

static taper_status begin_epoch(void *self, uint64_t epoch, taper_error *error) {
    run *r = self;
    memcpy(r->shuffled, r->rows, r->n_training * sizeof *r->shuffled);
    train_shuffle(r->shuffled, r->n_training, r->options->seed,
                  TRAIN_STREAM_SHUFFLE + (epoch << 8));
    train_own_rows_pick(&r->own, r->data, r->shuffled, r->n_training, r->batch);
    taper_status status = train_order_update(&r->order, &r->ae.stream);
    if (status == TAPER_OK && r->moved) status = train_order_update(&r->positions, &r->ae.stream);
    return train_explain(status, error, "the order of rows was not taken");
}

/* --- one batch -------------------------------------------------------------------------------- */

/* Losses of the n loaded rows, which are at these positions of batch `batch`, at the cuts of
 * (step, row); gradient 1: also their gradient. */
static taper_status batch_loss(run *r, uint64_t step, uint64_t batch, const uint32_t *position,
                               size_t n, int gradient, double *sums) {
    const uint64_t seed = r->options->seed;
    uint32_t units = r->ae.view.units;
    if (r->requantiser) {
        const train_requantise_draw draw = {seed, step * (r->data->n / r->batch + 2) + batch,
                                            position};
        TAPER_TRY(train_autoencoder_codes(&r->ae, r->codes));
        TAPER_TRY(
            r->requantiser->fn(r->requantiser->user, r->codes, n, units, &draw, r->dequantised));
        return train_autoencoder_decode_loss(&r->ae, r->dequantised, gradient, sums);
    }
    for (size_t i = 0; i < n; i++)
        r->cuts[i] = train_cut_draw(&r->range, units, seed, step, batch * r->batch + position[i]);
    TAPER_TRY(train_autoencoder_forward(&r->ae, r->cuts, sums));
    return gradient ? train_autoencoder_backward(&r->ae) : TAPER_OK;
}

/* Labels of the rows of an order from `first` on. */
static taper_status label_rows(run *r, const train_order *order, size_t first) {
    const uint32_t *there = order->there.at;
    return train_autoencoder_label(&r->ae, r->labels.at, there + first);
}

/* Other ranks have all rows of the batch. */
static taper_status take_no_part(run *r) {
    return r->requantiser ? TAPER_OK : train_autoencoder_absent(&r->ae);
}

/* Adds the loss of this rank's rows of a batch of validation rows. */
static taper_status validate_batch(run *r, size_t k, double *sum) {
    const size_t first = r->held_out.begin[k], n = train_own_count(&r->held_out, k);
    double sums[TRAIN_LOSSES];
    train_fed fed;
    if (!n) return take_no_part(r);
    TAPER_TRY(train_feed_take(&r->feed, &r->ae.stream, &r->split, first, n, &fed));
    TAPER_TRY(train_autoencoder_load(&r->ae, fed.rows, fed.order, n));
    TAPER_TRY(label_rows(r, &r->split, first));
    TAPER_TRY(batch_loss(r, validation_step, k, r->held_out.position + first, n, 0, r->ae.sums));
    TAPER_TRY(train_download(&r->ae.stream, sums, r->ae.sums, sizeof sums));
    *sum += train_autoencoder_means(&r->ae, sums, (double)n).loss * (double)n;
    return TAPER_OK;
}

/* The loss on validation rows, at the same cuts each time. */
static taper_status validate(run *r, double *loss, taper_error *error) {
    double sum = 0.0;
    for (size_t k = 0; k * r->batch < r->n_validation; k++)
        TAPER_TRY(
            train_explain(validate_batch(r, k, &sum), error, "validation could not be computed"));
    TAPER_TRY(train_sum_doubles(r->data->ranks, &sum, 1, error));
    *loss = sum / (double)r->n_validation;
    return TAPER_OK;
}

/* Loads the n rows of this step into the autoencoder, with jitter if requested. */
static taper_status load_batch(run *r, uint64_t step, size_t first, size_t n) {
    train_stream *s = &r->ae.stream;
    train_fed fed;
    TAPER_TRY(train_feed_take(&r->feed, s, &r->order, first, n, &fed));
    if (r->moved) {
        r->jitter.position = (const uint32_t *)r->positions.there.at + first;
        TAPER_TRY(s->ops->jitter(s, &r->jitter, n, fed.rows, fed.order, r->options->seed, step,
                                 r->moved));
        fed = (train_fed){r->moved, NULL};
    }
    TAPER_TRY(train_autoencoder_load(&r->ae, fed.rows, fed.order, n));
    return label_rows(r, &r->order, first);
}

/* This rank's part of the gradient of the mean over the batch, given that over its own rows. */
static taper_status weigh_gradient(run *r, size_t n) {
    const train_weights *w = &r->ae.weights;
    train_stream *s = &r->ae.stream;
    if (!r->data->ranks) return TAPER_OK;
    return s->ops->scale(s, w->n, (float)n / (float)r->batch, w->gradient, w->gradient);
}

static taper_status compute_own(run *r, uint64_t step, double *losses) {
    const train_weights *w = &r->ae.weights;
    const size_t k = step % r->steps_per_epoch, first = r->own.begin[k],
                 n = train_own_count(&r->own, k);
    if (!n) {
        TAPER_TRY(take_no_part(r));
        TAPER_TRY(train_zero(&r->ae.stream, losses, TRAIN_LOSSES * sizeof *losses));
        return train_zero(&r->ae.stream, w->gradient, w->n * sizeof *w->gradient);
    }
    TAPER_TRY(load_batch(r, step, first, n));
    TAPER_TRY(batch_loss(r, step, 0, r->own.position + first, n, 1, losses));
    return weigh_gradient(r, n);
}

static taper_status compute(void *self, uint64_t step, double *losses, taper_error *error) {
    taper_status status = compute_own(self, step, losses);
    return train_explain(status, error, "training step %llu could not be computed",
                         (unsigned long long)step + 1);
}

static taper_status measure(void *self, train_history *entry, taper_error *error) {
    run *r = self;
    entry->figure[1] = (double)train_cosine_rate(r->options->rate, r->loop.step, r->loop.steps, 0);
    return validate(r, &entry->figure[0], error);
}

/* --- reports ---------------------------------------------------------------------------------- */

static int report_step(void *self, const train_loop *l, uint64_t step, const double *mean,
                       double seconds_left) {
    run *r = self;
    if (!r->callbacks || !r->callbacks->progress) return 0;
    train_loss loss = train_autoencoder_means(&r->ae, mean, (double)r->batch);
    train_progress p = {(uint32_t)((step - 1) / r->steps_per_epoch) + 1,
                        r->options->epochs,
                        step,
                        l->steps,
                        loss.loss,
                        loss.distortion,
                        loss.bits,
                        l->n_history ? l->history[l->n_history - 1].figure[0] : l->start_loss,
                        seconds_left};
    return r->callbacks->progress(r->callbacks->user, &p);
}

static void report_epoch(void *self, const train_loop *l, uint32_t epoch,
                         const train_history *entry, double seconds) {
    run *r = self;
    (void)l;
    if (!r->callbacks || !r->callbacks->epoch) return;
    train_loss loss = train_autoencoder_means(&r->ae, entry->loss, (double)r->batch);
    train_dense_epoch point = {loss.loss, entry->figure[0], loss.distortion, loss.bits,
                               entry->figure[1]};
    r->callbacks->epoch(r->callbacks->user, epoch, &point, seconds);
}

/* The epoch of the best network, from 1; 0: the start. */
static uint32_t best_epoch(const train_loop *l) {
    for (uint32_t i = l->n_history; i-- > 0;)
        if (l->history[i].figure[0] == l->best_loss) return i + 1;
    return 0;
}

static void report_divergence(const run *r) {
    char kept[64] = "its start", words[768];
    uint32_t epoch = best_epoch(&r->loop);
    if (!r->callbacks || !r->callbacks->diverged) return;
    if (epoch) snprintf(kept, sizeof kept, "the network of epoch %u", (unsigned)epoch);
    train_loop_diverged(&r->loop, kept, words, sizeof words);
    r->callbacks->diverged(r->callbacks->user, words);
}

static const train_learner learner = {.what = "the network",
                                      .begin_epoch = begin_epoch,
                                      .compute = compute,
                                      .measure = measure,
                                      .progress = report_step,
                                      .epoch = report_epoch};

/* --- beginning and ending a run --------------------------------------------------------------- */

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
    const train_dense_options *o = r->options;
    size_t codes = r->requantiser ? r->batch * r->ae.view.units : 1;
    taper_status status = TAPER_OK;
    r->codes = malloc(codes * sizeof *r->codes);
    r->dequantised = malloc(codes * sizeof *r->dequantised);
    r->cuts = malloc(r->batch * sizeof *r->cuts);
    if (!r->codes || !r->dequantised || !r->cuts) status = TAPER_ERR_NOMEM;
    if (status == TAPER_OK && o->jitter > 0.0f) {
        r->jitter = (train_jitter){.width = o->width,
                                   .height = o->height,
                                   .channels = r->data->inputs / o->width / o->height,
                                   .fraction = o->jitter};
        train_arena_take(&r->moved_arena, r->batch, r->data->inputs, 1);
        status = train_arena_alloc(&r->moved_arena, r->ae.stream.device);
        r->moved = (uint8_t *)r->moved_arena.memory;
    }
    return train_explain(status, error, "a network of %zu weights", r->ae.weights.n);
}

/* Measures the network's start on the device. */
static taper_status measure_start(const run *r, train_device *device, const codec_network *net,
                                  train_start *start) {
    train_stream s;
    TAPER_TRY(train_stream_open(&s, device));
    taper_status status = train_start_measure(start, net, &s, r->data, MEASURED_ROWS);
    train_stream_close(&s);
    return status;
}

/* Opens the feed after all other allocations, because it uses the remaining memory. */
static taper_status feed_device(run *r, taper_error *error) {
    train_stream *s = &r->ae.stream;
    const train_pixels *data = r->data;
    char words[160];
    const size_t here = train_rows_here(data);
    taper_status status = train_order_open(&r->split, s, r->held_out.place, r->held_out.room);
    if (status == TAPER_OK) status = train_order_open(&r->order, s, r->own.place, r->own.room);
    if (status == TAPER_OK && r->moved)
        status = train_order_open(&r->positions, s, r->own.position, r->own.room);
    if (status == TAPER_OK && r->label)
        status = train_mirror_open(&r->labels, s, r->label, (here + 1) * sizeof *r->label);
    if (status == TAPER_OK)
        status = train_feed_open(&r->feed, s, data->pixels, here, data->inputs, r->batch);
    train_feed_say(&r->feed, s->device, words, sizeof words);
    if (*words && r->callbacks && r->callbacks->say) r->callbacks->say(r->callbacks->user, words);
    return train_explain(status, error, "%zu rows of %u values could not be given to the device",
                         data->n, (unsigned)data->inputs);
}

static taper_status make_network(run *r, train_device *device, const codec_network *net,
                                 taper_error *error) {
    train_start start = {0};
    taper_status status = measure_start(r, device, net, &start), chosen = TAPER_OK;
    if (status == TAPER_OK) chosen = choose_thresholds(r, net, &start, error);
    train_autoencoder_options options = {.batch = r->batch,
                                         .scale = start.scale,
                                         .rate_scale = start.magnitude,
                                         .ranks = r->data->ranks,
                                         .use = TRAIN_WEIGHTS_BEST,
                                         .also = r->options->also,
                                         .n_also = r->options->n_also};
    if (status == TAPER_OK && chosen == TAPER_OK)
        status = train_autoencoder_create(&r->ae, net, device, &options);
    train_start_free(&start);
    if (status != TAPER_OK)
        return train_explain(status, error, "training this network cannot begin");
    return chosen;
}

static void fill_loop(run *r, const codec_network *net) {
    const train_dense_options *o = r->options;
    train_loop *l = &r->loop;
    l->learner = &learner;
    l->self = r;
    l->stream = &r->ae.stream;
    l->weights = &r->ae.weights;
    l->ranks = r->data->ranks;
    l->steps_per_epoch = r->steps_per_epoch;
    l->steps = r->steps_per_epoch * o->epochs;
    l->rate = o->rate, l->max_norm = o->max_norm;
    l->warmup = l->steps / 10 < WARMUP ? l->steps / 10 : WARMUP;
    l->most_loss = INFINITY;
    l->patience = o->patience;
    l->checkpoint_seconds = o->checkpoint_seconds;
    if (r->requantiser) return; /* short and repeatable: no checkpoint */
    l->saving = o->saving;
    if (o->saving.path) l->fingerprint = train_dense_fingerprint(o, r->data, net, r->range.lengths);
}

/* Extends the fingerprint by the rows. */
static taper_status hash_rows(run *r, taper_error *error) {
    uint64_t rows;
    if (!r->loop.saving.path) return TAPER_OK;
    TAPER_TRY(train_hash_rows(r->data, &rows, error));
    r->loop.fingerprint = train_fingerprint(r->loop.fingerprint, &rows, sizeof rows);
    return TAPER_OK;
}

static taper_status begin(run *r, train_device *device, const codec_network *net,
                          taper_error *error) {
    const train_dense_options *o = r->options;
    TAPER_TRY(split_rows(r, error));
    TAPER_TRY(make_network(r, device, net, error));
    TAPER_TRY(take_memory(r, error));
    TAPER_TRY(feed_device(r, error));
    train_autoencoder_set_trade(&r->ae, &(train_trade){o->lambda, o->gradient_floor, o->balance});
    fill_loop(r, net);
    TAPER_TRY(hash_rows(r, error));
    return validate(r, &r->loop.start_loss, error);
}

static void end(run *r) {
    train_loop_free(&r->loop);
    train_feed_close(&r->feed);
    train_order_free(&r->split);
    train_order_free(&r->order);
    train_order_free(&r->positions);
    train_own_rows_free(&r->held_out);
    train_own_rows_free(&r->own);
    train_mirror_free(&r->labels);
    train_autoencoder_free(&r->ae);
    train_population_free(&r->population);
    train_arena_free(&r->moved_arena);
    free(r->codes);
    free(r->dequantised);
    free(r->rows);
    free(r->shuffled);
    free(r->label);
    free(r->cuts);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void report_result(const run *r, train_result *result) {
    const train_loop *l = &r->loop;
    if (!result) return;
    *result = (train_result){.start_loss = l->start_loss,
                             .best_loss = l->best_loss,
                             .best_is_start = !(l->best_loss < l->start_loss),
                             .epochs = l->n_history,
                             .stopped = (uint32_t)l->stopped,
                             .diverged = l->diverged,
                             .threshold_low = r->range.threshold_low,
                             .threshold_high = r->range.threshold_high};
}

/* Runs the loop; net becomes the best network, unless the start is the best. */
static taper_status carry_out(run *r, train_device *device, codec_network *net,
                              train_result *result, taper_error *error) {
    taper_status status = begin(r, device, net, error);
    if (status == TAPER_OK) status = train_loop_run(&r->loop, error);
    if (status == TAPER_OK && r->loop.diverged) report_divergence(r);
    if (status == TAPER_OK && r->loop.best_loss < r->loop.start_loss) {
        status = train_autoencoder_export(&r->ae, r->ae.weights.best, net);
        if (status != TAPER_OK)
            train_explain(status, error, "the network could not be taken from the device");
    }
    if (status == TAPER_OK) report_result(r, result);
    end(r);
    return status;
}

taper_status train_dense(const train_dense_options *options, const train_pixels *data,
                         train_device *device, codec_network *net, const train_callbacks *callbacks,
                         train_result *result, taper_error *error) {
    TAPER_TRY(train_dense_check(options, data, net, error));
    train_initialise_stacks(net, options->seed);
    run r = {.options = options, .data = data, .callbacks = callbacks};
    return carry_out(&r, device, net, result, error);
}

taper_status train_dense_decoder(const train_dense_options *options, const train_pixels *data,
                                 train_device *device, codec_network *net,
                                 const train_requantiser *requantiser,
                                 const train_callbacks *callbacks, train_result *result,
                                 taper_error *error) {
    TAPER_TRY(train_dense_check(options, data, net, error));
    if (net->synthesis == net->analysis)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a tied decoder cannot be tuned alone; train it untied");
    run r = {.options = options, .data = data, .callbacks = callbacks, .requantiser = requantiser};
    return carry_out(&r, device, net, result, error);
}
