/* dense_trainer.c -- functions for the loop: batches, validation, reports; see dense_trainer.h.
 *
 * All random numbers depend on (seed, epoch, step, row), so a run has no state but the loop's. */
#include "train/dense/dense_trainer.h"
#include "train/dense/population.h"
#include "train/device/feed.h"
#include "train/optimise/run.h"
#include "train/sampling/jitter.h"
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
    /* the data, and these two orders, on the device */
    train_feed feed;
    train_order split, order;
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
    return TAPER_OK;
}

static taper_status begin_epoch(void *self, uint64_t epoch, taper_error *error) {
    run *r = self;
    memcpy(r->shuffled, r->rows, r->n_training * sizeof *r->shuffled);
    train_shuffle(r->shuffled, r->n_training, r->options->seed,
                  TRAIN_STREAM_SHUFFLE + (epoch << 8));
    taper_status status = train_order_update(&r->order, &r->ae.stream);
    return train_explain(status, error, "the order of rows was not taken");
}

/* --- one batch -------------------------------------------------------------------------------- */

/* Losses of the n loaded rows at the cuts numbered (step, first ..); gradient 1: also their
 * gradient. */
static taper_status batch_loss(run *r, uint64_t step, uint64_t first, size_t n, int gradient,
                               double *sums) {
    uint32_t units = r->ae.view.units;
    if (r->requantiser) {
        TAPER_TRY(train_autoencoder_codes(&r->ae, r->codes));
        uint64_t draw = step * (r->data->n / r->batch + 2) + first / r->batch;
        TAPER_TRY(r->requantiser->fn(r->requantiser->user, r->codes, n, units, r->options->seed,
                                     draw, r->dequantised));
        return train_autoencoder_decode_loss(&r->ae, r->dequantised, gradient, sums);
    }
    for (size_t i = 0; i < n; i++)
        r->cuts[i] = train_cut_draw(&r->range, units, r->options->seed, step, first + i);
    TAPER_TRY(train_autoencoder_forward(&r->ae, r->cuts, sums));
    return gradient ? train_autoencoder_backward(&r->ae) : TAPER_OK;
}

/* Labels of the rows of an order from `first` on. */
static taper_status label_rows(run *r, const train_order *order, size_t first) {
    const uint32_t *there = order->there.at;
    return train_autoencoder_label(&r->ae, r->labels.at, there + first);
}

/* The loss on validation rows, at the same cuts each time. */
static taper_status validate(run *r, double *loss) {
    double sum = 0.0, sums[TRAIN_LOSSES];
    train_fed fed;
    for (size_t i = 0; i < r->n_validation; i += r->batch) {
        size_t n = r->n_validation - i < r->batch ? r->n_validation - i : r->batch;
        TAPER_TRY(train_feed_take(&r->feed, &r->ae.stream, &r->split, r->n_training + i, n, &fed));
        TAPER_TRY(train_autoencoder_load(&r->ae, fed.rows, fed.order, n));
        TAPER_TRY(label_rows(r, &r->split, r->n_training + i));
        TAPER_TRY(batch_loss(r, validation_step, i, n, 0, r->ae.sums));
        TAPER_TRY(train_download(&r->ae.stream, sums, r->ae.sums, sizeof sums));
        sum += train_autoencoder_means(&r->ae, sums, (double)n).loss * (double)n;
    }
    *loss = sum / (double)r->n_validation;
    return TAPER_OK;
}

/* Loads this step's training rows into the autoencoder, with jitter if requested. */
static taper_status load_batch(run *r, uint64_t step) {
    train_stream *s = &r->ae.stream;
    const size_t first = step % r->steps_per_epoch * r->batch;
    train_fed fed;
    TAPER_TRY(train_feed_take(&r->feed, s, &r->order, first, r->batch, &fed));
    if (r->moved) {
        TAPER_TRY(s->ops->jitter(s, &r->jitter, r->batch, fed.rows, fed.order, r->options->seed,
                                 step, r->moved));
        fed = (train_fed){r->moved, NULL};
    }
    TAPER_TRY(train_autoencoder_load(&r->ae, fed.rows, fed.order, r->batch));
    return label_rows(r, &r->order, first);
}

static taper_status compute(void *self, uint64_t step, double *losses, taper_error *error) {
    run *r = self;
    taper_status status = load_batch(r, step);
    if (status == TAPER_OK) status = batch_loss(r, step, 0, r->batch, 1, losses);
    return train_explain(status, error, "training step %llu could not be computed",
                         (unsigned long long)step + 1);
}

static taper_status measure(void *self, train_history *entry, taper_error *error) {
    run *r = self;
    taper_status status = validate(r, &entry->figure[0]);
    entry->figure[1] = (double)train_cosine_rate(r->options->rate, r->loop.step, r->loop.steps, 0);
    return train_explain(status, error, "validation could not be computed");
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
    taper_status status = train_order_open(&r->split, s, r->rows, data->n);
    if (status == TAPER_OK) status = train_order_open(&r->order, s, r->shuffled, r->n_training);
    if (status == TAPER_OK && data->label)
        status = train_mirror_open(&r->labels, s, data->label, data->n * sizeof *data->label);
    if (status == TAPER_OK)
        status = train_feed_open(&r->feed, s, data->pixels, data->n, data->inputs, r->batch);
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

static taper_status begin(run *r, train_device *device, const codec_network *net,
                          taper_error *error) {
    const train_dense_options *o = r->options;
    TAPER_TRY(split_rows(r, error));
    TAPER_TRY(make_network(r, device, net, error));
    TAPER_TRY(take_memory(r, error));
    TAPER_TRY(feed_device(r, error));
    train_autoencoder_set_trade(&r->ae, &(train_trade){o->lambda, o->gradient_floor, o->balance});
    fill_loop(r, net);
    taper_status status = validate(r, &r->loop.start_loss);
    return train_explain(status, error, "validation could not be computed");
}

static void end(run *r) {
    train_loop_free(&r->loop);
    train_feed_close(&r->feed);
    train_order_free(&r->split);
    train_order_free(&r->order);
    train_mirror_free(&r->labels);
    train_autoencoder_free(&r->ae);
    train_population_free(&r->population);
    train_arena_free(&r->moved_arena);
    free(r->codes);
    free(r->dequantised);
    free(r->rows);
    free(r->shuffled);
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
