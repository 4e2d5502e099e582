/* loop.c -- see loop.h. */
#include "train/optimise/loop.h"
#include "train/optimise/rank_sums.h"
#include "train/optimise/run.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t epochs_of(const train_loop *l) { return l->steps / l->steps_per_epoch; }

/* --- memory ---------------------------------------------------------------------------- */

static void lay_out(train_loop *l) {
    l->losses = train_arena_take(&l->arena, TRAIN_MOST_LOOK, TRAIN_LOSSES, sizeof *l->losses);
    l->squares = train_arena_take(&l->arena, 1, 1, sizeof *l->squares);
    l->verdict = train_arena_take(&l->arena, 1, 1, sizeof *l->verdict);
}

static taper_status begin(train_loop *l, taper_error *error) {
    lay_out(l);
    taper_status status = train_arena_alloc(&l->arena, l->stream->device);
    if (status == TAPER_OK) lay_out(l);
    l->history = calloc((size_t)epochs_of(l) + 1, sizeof *l->history);
    if (status == TAPER_OK && !l->history) status = TAPER_ERR_NOMEM;
    if (status == TAPER_OK && l->weights->best)
        status = train_copy(l->stream, l->weights->best, l->weights->parameter,
                            l->weights->n * sizeof(float));
    l->best_loss = l->start_loss;
    return train_explain(status, error, "training %s cannot begin", l->learner->what);
}

/* Ranks on different processors may have computed different initial weights. */
static taper_status share_weights(train_loop *l, taper_error *error) {
    const train_weights *w = l->weights;
    return train_broadcast_there(l->stream, l->ranks, w->parameter, w->n * sizeof *w->parameter,
                                 error);
}

void train_loop_free(train_loop *l) {
    train_arena_free(&l->arena);
    free(l->history);
    l->history = NULL;
}

/* --- checkpoints ----------------------------------------------------------------------- */

enum { OWN_PARTS = 4, MOST_PARTS = OWN_PARTS + TRAIN_CHECKPOINT_PARTS };

/* Lists the weights' vectors, then the learner's parts. */
static uint32_t list_parts(const train_loop *l, train_checkpoint_part part[MOST_PARTS]) {
    const train_weights *w = l->weights;
    float *const vector[OWN_PARTS] = {w->parameter, w->m, w->v, w->best};
    uint32_t n = 0;
    for (int i = 0; i < OWN_PARTS; i++)
        if (vector[i]) part[n++] = (train_checkpoint_part){vector[i], w->n, sizeof(float), 1, 1};
    for (uint32_t i = 0; i < l->parts; i++) part[n++] = l->part[i];
    return n;
}

static taper_status save(train_loop *l, taper_error *error) {
    train_checkpoint_part part[MOST_PARTS];
    if (!l->saving.path || !train_is_first(l->ranks)) return TAPER_OK;
    train_checkpoint c = {.fingerprint = l->fingerprint,
                          .step = l->step,
                          .stale_epochs = l->stale_epochs,
                          .best_loss = l->best_loss,
                          .start_loss = l->start_loss,
                          .history = l->history,
                          .n_history = l->n_history,
                          .part = part,
                          .parts = list_parts(l, part),
                          .stream = l->stream};
    memcpy(c.sum, l->sum, sizeof c.sum);
    TAPER_TRY(train_checkpoint_write(l->saving.path, &c, l->saving.watch, error));
    l->saved_at = train_seconds();
    l->saved = 1, l->saved_step = l->step;
    return TAPER_OK;
}

static taper_status take_up(train_loop *l, const train_checkpoint *c, taper_error *error) {
    if (c->step > l->steps || c->n_history > epochs_of(l) ||
        c->n_history != c->step / l->steps_per_epoch)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the checkpoint contradicts itself; start without --resume");
    l->step = l->looked = c->step;
    l->stale_epochs = c->stale_epochs;
    l->best_loss = c->best_loss, l->start_loss = c->start_loss;
    memcpy(l->sum, c->sum, sizeof l->sum);
    if (c->n_history) memcpy(l->history, c->history, c->n_history * sizeof *l->history);
    l->n_history = c->n_history;
    l->saved = 1, l->saved_step = l->step;
    return l->learner->resumed ? l->learner->resumed(l->self, l, error) : TAPER_OK;
}

/* The numbers of a checkpoint, from the first rank to the others. */
typedef struct shared_state {
    uint64_t found, step, n_history;
    double best_loss, start_loss, sum[TRAIN_LOSSES];
    uint64_t stale_epochs;
} shared_state;

static taper_status share_part(train_loop *l, const train_checkpoint_part *part,
                               taper_error *error) {
    const size_t bytes = part->n * part->size;
    if (part->on_device)
        return train_broadcast_there(l->stream, l->ranks, part->memory, bytes, error);
    return train_broadcast(l->ranks, part->memory, bytes, 0, error);
}

/* Gives all ranks the checkpoint that the first has read, if it has found one. */
static taper_status share_checkpoint(train_loop *l, train_checkpoint *c, int *found,
                                     taper_error *error) {
    shared_state all = {(uint64_t)*found, c->step, c->n_history,   c->best_loss,
                        c->start_loss,    {0},     c->stale_epochs};
    memcpy(all.sum, c->sum, sizeof all.sum);
    TAPER_TRY(train_broadcast(l->ranks, &all, sizeof all, 0, error));
    *found = (int)all.found;
    if (!all.found) return TAPER_OK;
    c->step = all.step, c->n_history = (uint32_t)all.n_history;
    c->best_loss = all.best_loss, c->start_loss = all.start_loss;
    c->stale_epochs = (uint32_t)all.stale_epochs;
    memcpy(c->sum, all.sum, sizeof c->sum);
    const size_t bytes = c->n_history * sizeof *c->history;
    if (!train_is_first(l->ranks) && !(c->history = malloc(bytes + 1)))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the learning curve");
    TAPER_TRY(train_broadcast(l->ranks, c->history, bytes, 0, error));
    for (uint32_t i = 0; i < c->parts; i++) TAPER_TRY(share_part(l, &c->part[i], error));
    return TAPER_OK;
}

/* On the first rank: *found is 1 if there was a checkpoint to resume. */
static taper_status read_checkpoint(train_loop *l, train_checkpoint *c, int *found,
                                    taper_error *error) {
    if (!l->saving.resume) return train_checkpoint_replaces(l->saving.path, error);
    if (access(l->saving.path, F_OK) != 0) return TAPER_OK;
    *found = 1;
    return train_checkpoint_read(l->saving.path, c, error);
}

static taper_status resume(train_loop *l, taper_error *error) {
    train_checkpoint_part part[MOST_PARTS];
    int found = 0;
    if (!l->saving.path) return TAPER_OK;
    train_checkpoint c = {.fingerprint = l->fingerprint,
                          .part = part,
                          .parts = list_parts(l, part),
                          .stream = l->stream};
    if (train_is_first(l->ranks)) TAPER_TRY(read_checkpoint(l, &c, &found, error));
    taper_status status = l->ranks ? share_checkpoint(l, &c, &found, error) : TAPER_OK;
    if (status == TAPER_OK && found) status = take_up(l, &c, error);
    free(c.history);
    return status;
}

/* --- one step -------------------------------------------------------------------------- */

taper_status train_loop_adam(train_loop *l, float rate, const train_range *range, size_t ranges,
                             const double *losses) {
    const train_adam_ranges of = {range,  ranges,       rate,       l->step + 1, l->max_norm,
                                  losses, l->most_loss, l->squares, l->verdict};
    return train_adam_take(l->stream, l->weights, &of);
}

static taper_status compute_and_move(train_loop *l, taper_error *error) {
    const train_learner *learner = l->learner;
    double *losses = l->losses + (l->step - l->looked) * TRAIN_LOSSES;
    TAPER_TRY(learner->compute(l->self, l->step, losses, error));
    if (!learner->sums) {
        TAPER_TRY(train_sum_floats_there(l->stream, l->ranks, l->weights->gradient, l->weights->n,
                                         error));
        TAPER_TRY(train_sum_doubles_there(l->stream, l->ranks, losses, TRAIN_LOSSES, error));
    }
    if (learner->move) return learner->move(l->self, l, losses, error);
    train_range all = {0, l->weights->n};
    float rate = train_cosine_rate(l->rate, l->step, l->steps, l->warmup);
    taper_status status = train_loop_adam(l, rate, &all, 1, losses);
    return train_explain(status, error, "step %llu could not be taken",
                         (unsigned long long)l->step + 1);
}

static taper_status take_step(train_loop *l, taper_error *error) {
    const double begun = train_seconds();
    if (l->step == l->looked) l->left_at = begun;
    taper_status status = compute_and_move(l, error);
    l->host_seconds += train_seconds_since(begun);
    return status;
}

/* Adds the losses of step `step` (from 0) to the epoch's sums or to the running means. */
static void add_losses(train_loop *l, const double *losses, uint64_t step) {
    double keep = step < 200 ? (double)step / (double)(step + 1) : 0.995;
    for (int i = 0; i < TRAIN_LOSSES; i++)
        l->sum[i] = l->running ? keep * l->sum[i] + (1 - keep) * losses[i] : l->sum[i] + losses[i];
}

static void report_step(train_loop *l, uint64_t step) {
    double mean[TRAIN_LOSSES], elapsed = train_seconds_since(l->started);
    uint64_t in_epoch = (step - 1) % l->steps_per_epoch + 1;
    if (!l->learner->progress) return;
    for (int i = 0; i < TRAIN_LOSSES; i++)
        mean[i] = l->running ? l->sum[i] : l->sum[i] / (double)in_epoch;
    l->seconds = elapsed;
    double left = elapsed / (double)(l->step - l->first_step) * (double)(l->steps - step);
    if (l->learner->progress(l->self, l, step, mean, left)) l->stopped = 1;
}

/* All ranks stop, and save, in the same step: that in which one of them was asked to. */
static taper_status agree(train_loop *l, taper_error *error) {
    const train_request *request = l->saving.path ? l->saving.request : NULL;
    const int wanted = request ? request->wanted : 0;
    uint64_t asked[3] = {l->stopped != 0, wanted == TRAIN_SAVE, wanted == TRAIN_SAVE_AND_END};
    TAPER_TRY(train_sum_integers(l->ranks, asked, 3, error));
    l->stopped = asked[0] != 0;
    l->wanted = asked[2] ? TRAIN_SAVE_AND_END : asked[1] ? TRAIN_SAVE : 0;
    return TAPER_OK;
}

/* Downloads the losses since the last download, and checks for divergence. */
static taper_status look(train_loop *l, taper_error *error) {
    double losses[TRAIN_MOST_LOOK][TRAIN_LOSSES];
    train_verdict verdict;
    uint64_t n = l->step - l->looked;
    taper_status status =
        train_download(l->stream, losses, l->losses, (size_t)n * sizeof losses[0]);
    if (status == TAPER_OK)
        status = train_download(l->stream, &verdict, l->verdict, sizeof verdict);
    if (status != TAPER_OK)
        return train_explain(status, error, "step %llu could not be taken",
                             (unsigned long long)l->step);
    l->step_seconds += train_seconds_since(l->left_at);
    if (!l->diverged) l->diverged = verdict.diverged;
    uint64_t end = l->diverged ? l->diverged - 1 : l->step;
    for (uint64_t i = 0; l->looked < end; i++, l->looked++) {
        add_losses(l, losses[i], l->looked);
        report_step(l, l->looked + 1);
    }
    l->step = l->looked = end;
    return agree(l, error);
}

/* --- epochs ---------------------------------------------------------------------------- */

static void report_epoch(train_loop *l, uint32_t epoch, double seconds) {
    if (l->learner->epoch) l->learner->epoch(l->self, l, epoch, &l->history[epoch - 1], seconds);
}

static taper_status keep_best(train_loop *l, double loss) {
    l->stale_epochs++;
    if (!(loss <= l->best_loss)) return TAPER_OK; /* also for NaN; among equals the last is kept */
    l->best_loss = loss;
    l->stale_epochs = 0;
    if (!l->weights->best) return TAPER_OK;
    return train_copy(l->stream, l->weights->best, l->weights->parameter,
                      l->weights->n * sizeof(float));
}

static taper_status finish_epoch(train_loop *l, taper_error *error) {
    train_history *entry = &l->history[l->n_history];
    for (int i = 0; i < TRAIN_LOSSES; i++)
        entry->loss[i] = l->running ? l->sum[i] : l->sum[i] / (double)l->steps_per_epoch;
    if (!l->running) memset(l->sum, 0, sizeof l->sum);
    entry->figure[0] = INFINITY;
    if (l->learner->measure) TAPER_TRY(l->learner->measure(l->self, entry, error));
    taper_status status = keep_best(l, entry->figure[0]);
    if (status != TAPER_OK)
        return train_explain(status, error, "the best network could not be kept");
    l->n_history++;
    report_epoch(l, l->n_history, train_seconds_since(l->started));
    return TAPER_OK;
}

static taper_status begin_epoch(train_loop *l, taper_error *error) {
    if (!l->learner->begin_epoch || l->step >= l->steps) return TAPER_OK;
    return l->learner->begin_epoch(l->self, l->step / l->steps_per_epoch, error);
}

static int must_save(const train_loop *l, int epoch_ends) {
    return epoch_ends || l->stopped || l->wanted ||
           train_seconds_since(l->saved_at) >= l->checkpoint_seconds ||
           (l->checkpoint_steps && l->step - l->saved_step >= l->checkpoint_steps);
}

static int is_over(const train_loop *l) {
    return l->step >= l->steps || l->stopped || l->diverged ||
           (l->patience && l->stale_epochs >= l->patience);
}

/* After the checkpoint that a signal asked for. */
static taper_status answer(train_loop *l, taper_error *error) {
    train_request *request = l->saving.request;
    const int wanted = l->wanted;
    if (wanted == TRAIN_SAVE && request->wanted == TRAIN_SAVE) request->wanted = 0;
    l->wanted = 0;
    if (wanted != TRAIN_SAVE_AND_END) return TAPER_OK;
    request->wanted = wanted; /* another rank may have been asked, and all end alike */
    return formats_fail(error, TAPER_ERR_IO,
                        "stopped by a signal after step %llu of %llu, which is in the checkpoint; "
                        "--resume continues from it",
                        (unsigned long long)l->step, (unsigned long long)l->steps);
}

static taper_status take_steps(train_loop *l, taper_error *error) {
    const uint32_t every = l->stream->device->look_every;
    while (!is_over(l)) {
        TAPER_TRY(take_step(l, error));
        l->step++;
        int epoch_ends = l->step % l->steps_per_epoch == 0;
        if (!epoch_ends && !l->diverged && l->step - l->looked < every) continue;
        TAPER_TRY(look(l, error));
        if (l->diverged) break;
        if (epoch_ends) TAPER_TRY(finish_epoch(l, error));
        if (must_save(l, epoch_ends)) TAPER_TRY(save(l, error));
        if (l->wanted) TAPER_TRY(answer(l, error));
        if (epoch_ends) TAPER_TRY(begin_epoch(l, error));
    }
    return TAPER_OK;
}

static taper_status loop(train_loop *l, taper_error *error) {
    train_request *request = l->saving.path ? l->saving.request : NULL;
    l->started = l->saved_at = train_seconds();
    l->first_step = l->step;
    for (uint32_t i = 1; i <= l->n_history; i++) report_epoch(l, i, 0.0);
    TAPER_TRY(begin_epoch(l, error));
    if (request) request->heard = 1;
    const taper_status status = take_steps(l, error);
    if (request) request->heard = 0;
    l->seconds = train_seconds_since(l->started);
    return status;
}

taper_status train_loop_run(train_loop *l, taper_error *error) {
    TAPER_TRY(share_weights(l, error));
    TAPER_TRY(begin(l, error));
    TAPER_TRY(resume(l, error));
    return loop(l, error);
}

void train_loop_diverged(const train_loop *l, const char *kept, char *words, size_t size) {
    char saved[512] = "no checkpoint was written before it";
    if (l->saved)
        snprintf(saved, sizeof saved, "the last good checkpoint, after step %llu, is %.400s",
                 (unsigned long long)l->saved_step, l->saving.path);
    snprintf(words, size,
             "training %s diverged in step %llu of %llu (a loss or gradient is not finite) and was "
             "stopped there; %s%s%s; %s",
             l->learner->what, (unsigned long long)l->diverged, (unsigned long long)l->steps,
             kept ? kept : "", kept ? " is kept, " : "", saved,
             l->remedy ? l->remedy : "lower the rate");
}
