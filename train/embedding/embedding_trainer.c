/* embedding_trainer.c -- functions for the loop: batches, losses and updates, reports; see
 * embedding_trainer.h.
 *
 * All random numbers depend on (seed, epoch), so a run has no state but the loop's. */
#include "train/embedding/embedding_trainer.h"
#include "train/embedding/embedding_errors.h"
#include "train/optimise/conjugate_gradient.h"
#include "train/optimise/rank_sums.h"
#include "train/optimise/run.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Losses are about 1, those of MCML about 10: a run with a loss above this has diverged. */
static const double divergence_limit = 1e12;

typedef struct run {
    const train_embedding_options *options;
    uint32_t *epochs; /* of the options */
    const train_pixels *data;
    const train_embedding_callbacks *callbacks;
    train_embedding_rows rows;
    train_embedder embedder;
    /* Those that are here: of rows.all, as one batch, and of the epoch's batches. */
    train_own_rows looked, own;
    /* Their places, the positions of `own`, rows.shuffled, the data and their labels, on the
     * device. */
    train_order all, own_order, positions, shuffled;
    train_mirror labels;
    train_feed feed;
    train_cg cg;
    train_arena arena;
    double *line_losses; /* [2] on the device: at a point of a line */
    double *losses;      /* of the step, on the device */
    taper_error *error;  /* for messages of other ranks */
    train_loop loop;
} run;

static void say(const run *r, const char *words) {
    if (*words && r->callbacks && r->callbacks->say) r->callbacks->say(r->callbacks->user, words);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* The rows of each batch that are here. */
static void pick_own(run *r) {
    for (size_t k = 0; k < r->rows.batches; k++) {
        size_t first, labelled;
        const size_t n = train_embedding_batch(&r->rows, k, &first, &labelled);
        train_own_rows_add(&r->own, r->data, k, r->rows.shuffled + first, n);
    }
}

static taper_status begin_epoch(void *self, uint64_t epoch, taper_error *error) {
    run *r = self;
    train_stream *s = &r->embedder.stream;
    taper_status status = train_embedding_rows_shuffle(&r->rows, r->options->seed, epoch);
    if (status == TAPER_OK) status = train_order_update(&r->shuffled, s);
    if (status == TAPER_OK && r->data->ranks) {
        pick_own(r);
        status = train_order_update(&r->own_order, s);
    }
    if (status == TAPER_OK && r->data->ranks) status = train_order_update(&r->positions, s);
    return train_explain(status, error, "the order of rows was not taken");
}

/* Loads the rows of batch k that are here; the batch has n rows, with labels of this order. */
static taper_status load_part(run *r, size_t k, const uint32_t *label, const uint32_t *order,
                              size_t n) {
    train_embedder *e = &r->embedder;
    const size_t first = r->own.begin[k], here = train_own_count(&r->own, k);
    const uint32_t *there = r->positions.there.at;
    train_fed fed;
    TAPER_TRY(train_embedder_expect(e, r->own.position + first, there + first, label, order, n));
    TAPER_TRY(train_feed_take(&r->feed, &e->stream, &r->own_order, first, here, &fed));
    return train_embedder_load(e, fed.rows, fed.order, NULL, NULL, here);
}

static taper_status load_batch(run *r, uint64_t step) {
    train_embedder *e = &r->embedder;
    size_t first, labelled;
    const size_t k = step % r->rows.batches,
                 n = train_embedding_batch(&r->rows, k, &first, &labelled);
    const uint32_t *label = r->labels.at, *order = r->shuffled.there.at;
    train_fed fed;
    e->noisy = 1, e->step = step;
    if (r->data->ranks) {
        TAPER_TRY(load_part(r, k, label, order + first, n));
    } else {
        TAPER_TRY(train_feed_take(&r->feed, &e->stream, &r->shuffled, first, n, &fed));
        TAPER_TRY(train_embedder_load(e, fed.rows, fed.order, label, order + first, n));
    }
    e->labelled = labelled;
    return TAPER_OK;
}

/* Losses and gradient of the batch, of all ranks. */
static taper_status compute_batch(run *r, double *losses) {
    train_embedder *e = &r->embedder;
    train_ranks *ranks = r->data->ranks;
    TAPER_TRY(train_embedder_compute(e, losses));
    TAPER_TRY(train_sum_doubles_there(&e->stream, ranks, losses, 2, r->error));
    return train_sum_floats_there(&e->stream, ranks, e->weights.gradient, e->weights.n, r->error);
}

/* With conjugate gradients this does nothing: the move computes gradients at points of a line. */
static taper_status compute(void *self, uint64_t step, double *losses, taper_error *error) {
    run *r = self;
    train_embedder *e = &r->embedder;
    e->objective.holds_alpha = step < r->rows.batches;
    e->as_numbers = (double)step < r->options->numbers_first * (double)r->loop.steps;
    r->losses = losses;
    r->error = error;
    taper_status status = train_zero(&e->stream, losses, TRAIN_LOSSES * sizeof *losses);
    if (status == TAPER_OK) status = load_batch(r, step);
    if (status == TAPER_OK && r->options->optimiser == TRAIN_ADAM)
        status = compute_batch(r, losses);
    return train_explain(status, error, "training step %llu could not be computed",
                         (unsigned long long)step + 1);
}

static taper_status line_objective(void *self, double *value) {
    run *r = self;
    TAPER_TRY(compute_batch(r, r->line_losses));
    return train_download(&r->embedder.stream, value, r->line_losses, sizeof *value);
}

/* The losses of a step are those at the end of its line searches. */
static taper_status search_lines(run *r) {
    train_cg_options options = train_cg_defaults();
    train_cg_result result = {0};
    for (uint32_t i = 0; i < r->options->line_searches; i++) {
        options.same_objective = i > 0;
        TAPER_TRY(train_cg_step(&r->cg, line_objective, r, &options, &result));
        if (!(result.alpha > 0.0)) break;
    }
    const double loss[2] = {result.value, result.value};
    return train_upload(&r->embedder.stream, r->losses, loss, sizeof loss);
}

static taper_status move(void *self, train_loop *loop, const double *losses, taper_error *error) {
    run *r = self;
    const train_range everything = {0, r->embedder.weights.n};
    taper_status status;
    r->error = error;
    if (r->options->optimiser == TRAIN_ADAM) {
        const float rate = train_cosine_rate(r->options->rate, loop->step, loop->steps, 0);
        status = train_loop_adam(loop, rate, &everything, 1, losses);
    } else {
        status = search_lines(r);
        if (status == TAPER_ERR_ARG) {
            loop->diverged = loop->step + 1;
            return TAPER_OK;
        }
    }
    return train_explain(status, error, "training step %llu could not be taken",
                         (unsigned long long)loop->step + 1);
}

/* --- measures and reports --------------------------------------------------------------------- */

static taper_status held_out_error(run *r, double *rate, taper_error *error) {
    const train_embedding_look look = {.embedder = &r->embedder,
                                       .feed = &r->feed,
                                       .own = &r->looked,
                                       .order = &r->all,
                                       .rows = &r->rows,
                                       .label = r->data->label,
                                       .k = r->options->k,
                                       .balanced = r->options->balanced,
                                       .threads = r->options->threads};
    return train_embedding_error(&look, rate, error);
}

/* figure: error on held-out rows, alpha. If alpha is too small, the run ends before its checkpoint
 * is written. */
static taper_status measure(void *self, train_history *entry, taper_error *error) {
    run *r = self;
    double *alpha = &entry->figure[1];
    r->embedder.as_numbers = 0;
    TAPER_TRY(held_out_error(r, &entry->figure[0], error));
    taper_status status = train_embedder_alpha(&r->embedder, TRAIN_MOST_ALPHA, alpha);
    if (status != TAPER_OK) return train_explain(status, error, "alpha could not be read");
    if (r->options->objective.student && !(*alpha >= TRAIN_LEAST_ALPHA))
        return formats_fail(error, TAPER_ERR_ARG,
                            "alpha fell to %.2g, where distances have no effect; the last "
                            "checkpoint is from before. Hold alpha, or lower the rate",
                            *alpha);
    return TAPER_OK;
}

static int report_step(void *self, const train_loop *l, uint64_t step, const double *mean,
                       double seconds_left) {
    const run *r = self;
    const train_embedding_callbacks *c = r->callbacks;
    return c && c->step ? c->step(c->user, step, l->steps, mean[0], seconds_left) : 0;
}

static train_embedding_epoch entry_of(const train_history *h, double seconds) {
    return (train_embedding_epoch){h->loss[0], h->loss[1], h->figure[0], h->figure[1], seconds};
}

static void report_epoch(void *self, const train_loop *l, uint32_t epoch,
                         const train_history *entry, double seconds) {
    const run *r = self;
    const train_embedding_callbacks *c = r->callbacks;
    const train_embedding_epoch e = entry_of(entry, seconds);
    (void)l;
    if (c && c->epoch) c->epoch(c->user, epoch, &e);
}

static const train_learner learner = {.what = "the embedding",
                                      .sums = 1,
                                      .begin_epoch = begin_epoch,
                                      .compute = compute,
                                      .move = move,
                                      .measure = measure,
                                      .progress = report_step,
                                      .epoch = report_epoch};

/* The first epoch with as few errors as the returned network, from 1; 0: the start. */
static uint32_t first_best(const run *r) {
    const train_loop *l = &r->loop;
    if (!r->embedder.weights.best || !(l->best_loss < l->start_loss)) return 0;
    for (uint32_t i = 0; i < l->n_history; i++)
        if (l->history[i].figure[0] == l->best_loss) return i + 1;
    return 0;
}

/* The epoch of the returned network, from 1; 0: the start. */
static uint32_t best_epoch(const run *r) {
    const train_loop *l = &r->loop;
    if (!r->embedder.weights.best) return l->n_history;
    for (uint32_t i = l->n_history; i-- > 0;)
        if (l->history[i].figure[0] == l->best_loss) return i + 1;
    return 0;
}

static void fill_result(const run *r, train_embedding_result *result) {
    const train_loop *l = &r->loop;
    const train_embedding_rows *rows = &r->rows;
    const int measured = rows->n > rows->n_training;
    if (!result) return;
    *result = (train_embedding_result){.rows = rows->n_training,
                                       .held_out = rows->n - rows->n_training,
                                       .classes = rows->distinct,
                                       .guessed = rows->guesses,
                                       .start_error = measured ? l->start_loss : NAN,
                                       .best_error = measured ? l->best_loss : NAN,
                                       .best_epoch = best_epoch(r),
                                       .first_best = first_best(r),
                                       .epochs = l->n_history,
                                       .stopped = (uint32_t)l->stopped,
                                       .alpha = r->options->objective.alpha,
                                       .seconds = l->seconds};
    if (!l->n_history) return;
    result->loss = l->history[l->n_history - 1].loss[0];
    if (result->best_epoch)
        result->alpha = entry_of(&l->history[result->best_epoch - 1], 0.0).alpha;
}

/* --- begin and end ---------------------------------------------------------------------------- */

static void fill_loop(run *r, const codec_network *net) {
    const train_embedding_options *o = r->options;
    r->loop = (train_loop){.learner = &learner,
                           .self = r,
                           .stream = &r->embedder.stream,
                           .weights = &r->embedder.weights,
                           .ranks = r->data->ranks,
                           .steps = (uint64_t)r->rows.batches * o->epochs,
                           .steps_per_epoch = r->rows.batches,
                           .most_loss = divergence_limit,
                           .saving = o->saving,
                           .checkpoint_seconds = o->checkpoint_seconds,
                           .start_loss = INFINITY};
    if (o->saving.path) r->loop.fingerprint = train_embedding_fingerprint(o, r->data, net);
    if (o->optimiser != TRAIN_CG) return;
    r->loop.remedy = "take Adam, which goes by smaller steps";
    r->loop.part[r->loop.parts++] =
        (train_checkpoint_part){&r->cg.state, sizeof r->cg.state / 8, 8, 0, 0};
}

/* Extends the fingerprint by the rows. */
static taper_status hash_rows(run *r, taper_error *error) {
    uint64_t rows;
    if (!r->loop.saving.path) return TAPER_OK;
    TAPER_TRY(train_hash_rows(r->data, &rows, error));
    r->loop.fingerprint = train_fingerprint(r->loop.fingerprint, &rows, sizeof rows);
    return TAPER_OK;
}

static taper_status make_network(run *r, train_device *device, const codec_network *net) {
    const train_embedding_options *o = r->options;
    const train_embedding_rows *rows = &r->rows;
    train_embedder_options options = {.batch = train_embedding_largest_batch(rows),
                                      .objective = o->objective,
                                      .binary = o->binary,
                                      .prefixes = o->prefixes.lengths ? &o->prefixes : NULL,
                                      .l2 = o->l2,
                                      .part = o->reconstruct,
                                      .free_units = o->free_units,
                                      .noise = o->noise,
                                      .cells = o->cells,
                                      .ranks = r->data->ranks,
                                      .use = rows->n > rows->n_training ? TRAIN_WEIGHTS_BEST
                                                                        : TRAIN_WEIGHTS_TRAIN};
    options.noise.seed = o->seed;
    TAPER_TRY(train_embedder_create(&r->embedder, net, device, &options));
    train_stream *s = &r->embedder.stream;
    train_arena_take(&r->arena, 2, 1, sizeof *r->line_losses);
    TAPER_TRY(train_arena_alloc(&r->arena, device));
    r->line_losses = (double *)r->arena.memory;
    if (o->optimiser != TRAIN_CG) return TAPER_OK;
    TAPER_TRY(train_cg_create(&r->cg, s, &r->embedder.weights));
    r->cg.ranks = r->data->ranks;
    return TAPER_OK;
}

/* Lists the rows that are here. */
static taper_status take_own(run *r) {
    const train_embedding_rows *rows = &r->rows;
    TAPER_TRY(train_own_rows_open(&r->looked, r->data, rows->all, rows->n, 1));
    train_own_rows_pick(&r->looked, r->data, rows->all, rows->n, rows->n);
    if (!r->data->ranks) return TAPER_OK;
    TAPER_TRY(train_own_rows_open(&r->own, r->data, NULL, rows->epoch_rows, rows->batches));
    pick_own(r);
    return TAPER_OK;
}

static taper_status give_orders(run *r) {
    train_stream *s = &r->embedder.stream;
    TAPER_TRY(train_order_open(&r->all, s, r->looked.place, r->looked.room));
    if (!r->data->ranks) return TAPER_OK;
    TAPER_TRY(train_order_open(&r->own_order, s, r->own.place, r->own.room));
    return train_order_open(&r->positions, s, r->own.position, r->own.room);
}

/* Opens the feed after all other allocations, because it uses the remaining memory. */
static taper_status feed_device(run *r) {
    train_stream *s = &r->embedder.stream;
    const train_pixels *data = r->data;
    char words[160];
    TAPER_TRY(give_orders(r));
    TAPER_TRY(train_order_open(&r->shuffled, s, r->rows.shuffled, r->rows.epoch_rows));
    TAPER_TRY(train_mirror_open(&r->labels, s, data->label, data->n * sizeof *data->label));
    TAPER_TRY(train_feed_open(&r->feed, s, data->pixels, train_rows_here(data), data->inputs,
                              r->embedder.batch));
    train_feed_say(&r->feed, s->device, words, sizeof words);
    say(r, words);
    return TAPER_OK;
}

static void say_classes(const run *r) {
    char words[160];
    snprintf(words, sizeof words,
             "%zu of %zu classes have one image alone to learn from, which has no neighbour of its "
             "own",
             r->rows.singletons, r->rows.learned);
    if (r->rows.singletons) say(r, words);
    snprintf(words, sizeof words,
             "%zu of %zu classes have held-out images alone, which count as errors",
             r->rows.distinct - r->rows.learned, r->rows.distinct);
    if (r->rows.distinct > r->rows.learned) say(r, words);
    const size_t unlabelled = r->data->n - r->rows.n;
    snprintf(words, sizeof words, "%zu image%s without a label %s", unlabelled,
             formats_plural(unlabelled, "s"),
             r->rows.n_others ? "are reconstructed, too"
                              : "are not learned from; --guess-labels does");
    if (unlabelled) say(r, words);
    snprintf(words, sizeof words, "%zu image%s without a label %s learned from by a guess",
             r->rows.guesses, formats_plural(r->rows.guesses, "s"),
             r->rows.guesses == 1 ? "is" : "are");
    if (r->rows.guesses) say(r, words);
}

static taper_status begin(run *r, train_device *device, const codec_network *net,
                          taper_error *error) {
    TAPER_TRY(train_embedding_check(r->options, net, error));
    const train_jitter *j = &r->options->noise.jitter;
    const uint32_t values =
        r->options->cells.across ? j->width * j->height * j->channels : net->inputs;
    if (r->data->inputs != values)
        return formats_fail(error, TAPER_ERR_ARG, "rows of %u values for a network of %u",
                            (unsigned)r->data->inputs, (unsigned)values);
    TAPER_TRY(train_embedding_rows_take(&r->rows, r->options, r->data, error));
    *r->epochs = train_embedding_epochs(r->options, r->rows.batches);
    say_classes(r);
    taper_status status = train_embedding_rows_shuffle(&r->rows, r->options->seed, 0);
    if (status == TAPER_OK) status = take_own(r);
    if (status == TAPER_OK) status = make_network(r, device, net);
    if (status == TAPER_OK) status = feed_device(r);
    if (status != TAPER_OK)
        return train_explain(status, error, "an embedding of %u units from batches of %zu rows",
                             (unsigned)net->units, train_embedding_largest_batch(&r->rows));
    fill_loop(r, net);
    TAPER_TRY(hash_rows(r, error));
    double rate;
    TAPER_TRY(held_out_error(r, &rate, error));
    if (isfinite(rate)) r->loop.start_loss = rate;
    return TAPER_OK;
}

static void end(run *r) {
    train_loop_free(&r->loop);
    train_cg_free(&r->cg);
    train_feed_close(&r->feed);
    train_order_free(&r->all);
    train_order_free(&r->own_order);
    train_order_free(&r->positions);
    train_own_rows_free(&r->looked);
    train_own_rows_free(&r->own);
    train_order_free(&r->shuffled);
    train_mirror_free(&r->labels);
    train_arena_free(&r->arena);
    train_embedder_free(&r->embedder);
    train_embedding_rows_free(&r->rows);
}

static taper_status diverged(const run *r, taper_error *error) {
    char words[768];
    train_loop_diverged(&r->loop, NULL, words, sizeof words);
    return formats_fail(error, TAPER_ERR_ARG, "%s", words);
}

taper_status train_embedding(const train_embedding_options *options, const train_pixels *data,
                             train_device *device, codec_network *net,
                             const train_embedding_callbacks *callbacks,
                             train_embedding_result *result, taper_error *error) {
    train_embedding_options fitted = *options;
    run r = {.options = &fitted, .data = data, .callbacks = callbacks, .epochs = &fitted.epochs};
    taper_status status = begin(&r, device, net, error);
    if (status == TAPER_OK) status = train_loop_run(&r.loop, error);
    if (status == TAPER_OK && r.loop.diverged) status = diverged(&r, error);
    if (status == TAPER_OK) {
        const train_weights *w = &r.embedder.weights;
        status = train_embedder_export(&r.embedder, w->best ? w->best : w->parameter, net);
        if (status != TAPER_OK)
            train_explain(status, error, "the network could not be taken from the device");
    }
    if (status == TAPER_OK) fill_result(&r, result);
    end(&r);
    return status;
}
