/* embedding_search.c -- see embedding_search.h.
 *
 * Budget. WANTED_STEPS is the number of steps after which more gained little on sets of 1,000 to
 * 60,000 images (bench/results/README.md). If these do not fit into the time limit, each remaining
 * trial has an equal share of the remaining time. */
#include "train/supervised/embedding_search.h"
#include "formats/bytes.h"
#include "train/supervised/embedding_recipes.h"
#include "train/optimise/run.h"
#include "train/supervised/plain_classifier.h"
#include "train/supervised/trial_errors.h"
#include "train/supervised/trial_folds.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_FOLDS = 4,
    FEW_ROWS = 4000,   /* up to this many rows: four folds */
    SOME_ROWS = 16000, /* up to this many rows: two folds */
    WANTED_STEPS = 2400,
    LEAST_EPOCHS = 20,
    MOST_EPOCHS = 400,
    MOST_COMPONENTS = 1024,    /* inputs; principal components of more take too long */
    LIKELY_TRIALS = 8,         /* recipes that have an effect and take long */
    MOST_IN_VAIN = 5,          /* changes without gain, after which trials end */
    LEAST_ROWS = 3000,         /* fewer are not representative */
    TIMED_ROWS = 8000,         /* with more the time per row hardly falls */
    MOST_PIXELS = 64 * 1000000 /* size limit of the search for neighbours by pixels */
};
static const double share_of_trials = 0.5, share_of_classifier = 1.0 / 16; /* of trials' time */

typedef struct recipe {
    train_embedding_choice choice; /* its hidden is set before training */
    uint32_t width[CODEC_MAX_LAYERS];
} recipe;

typedef struct search {
    train_embedding_stage *stage;
    const train_pixels *pixels;
    train_embedding_found *found;
    double begun, seconds; /* start; time limit */
    recipe at, best;       /* to which changes are applied; with the fewest errors */
    recipe tried[TRAIN_EMBEDDING_TRIALS];
    double at_rate, least;     /* trial.judged of `at` and of `best` */
    train_trial_errors errors; /* of all trials */
    uint32_t k;                /* requested number of votes */
    int stopped;               /* by a callback */
    double row_seconds;        /* per row in an epoch of the last trial */
    double start_seconds;      /* before its first epoch */
    size_t labelled;           /* rows for the final training */
    uint32_t *order;           /* [labelled] in random order; trials use the first ones */
    uint32_t *label;           /* [pixels->n] labels of a fold's training rows only */
    uint8_t *part;             /* [labelled] of `order`, see trial_folds.h */
    uint8_t *wrong;            /* [pixels->n] of a fold's held-out rows, in their order */
    train_embedding_rows rows; /* of a fold */
} search;

static double left_for_trials(const search *s) {
    return share_of_trials * s->seconds - (train_seconds_since(s->begun));
}

/* --- training on a fold --------------------------------------------------------------------- */

/* Only training rows have labels then. */
static void know_training_rows(search *s) {
    const train_embedding_rows *r = &s->rows;
    for (size_t i = 0; i < s->pixels->n; i++) s->label[i] = TRAIN_UNLABELLED;
    for (size_t i = 0; i < r->n_training; i++) s->label[r->all[i]] = s->pixels->label[r->all[i]];
}

static void take_fold(search *s, uint32_t fold) {
    train_trial_fold(s->order, s->part, s->found->rows, fold, &s->rows);
    know_training_rows(s);
}

/* rate NULL: only the time is measured. */
static taper_status learn_fold(search *s, const recipe *r, taper_error_rate *rate,
                               taper_error *error) {
    train_embedding_choice choice = r->choice, *c = &choice;
    train_pixels known = *s->pixels;
    train_embedding_result result = {0};
    taper_model *m = calloc(1, sizeof *m);
    const double begun = train_seconds();
    known.label = s->label;
    c->hidden = r->width;
    taper_status status = train_explain(m ? TAPER_OK : TAPER_ERR_NOMEM, error, "a model");
    if (status == TAPER_OK) status = train_embedding_learn(s->stage, c, &known, m, &result, error);
    if (c->training.epochs) {
        s->row_seconds = result.seconds / ((double)c->training.epochs * (double)s->rows.n_training);
        s->start_seconds = train_seconds_since(begun) - result.seconds;
    }
    s->stopped = (int)result.stopped;
    if (status == TAPER_OK && s->stopped)
        status = formats_fail(error, TAPER_ERR_ARG, "stopped while recipes were tried");
    if (status == TAPER_OK && rate)
        status =
            train_embedding_judge(s->stage, m, 0, &s->rows, &c->training, s->wrong, rate, error);
    taper_model_free(m);
    return status;
}

/* Number of epochs of so many rows that take this long, at most the wanted number. */
static uint32_t epochs_of(const search *s, size_t rows, double seconds) {
    const double batches = (double)train_embedding_batches(&s->at.choice.training, rows);
    const double wanted = fmin(fmax(WANTED_STEPS / batches, LEAST_EPOCHS), MOST_EPOCHS);
    const double fitting = (seconds - s->start_seconds) / (s->row_seconds * (double)rows);
    return (uint32_t)fmax(1.0, fmin(wanted, fitting));
}

static taper_status try_recipe(search *s, recipe *r, double seconds, train_embedding_trial *trial,
                               taper_error *error) {
    train_embedding_options *o = &r->choice.training;
    const double begun = train_seconds();
    const uint32_t number = s->found->trials - 1;
    taper_status status = TAPER_OK;
    for (uint32_t f = 0; f < s->found->folds && status == TAPER_OK; f++) {
        taper_error_rate rate = {.size = sizeof(taper_error_rate)};
        take_fold(s, f);
        if (!f && o->epochs) {
            o->epochs = 1; /* measures the time of an epoch */
            status = learn_fold(s, r, NULL, error);
            o->epochs = epochs_of(s, s->rows.n_training, seconds / s->found->folds);
        }
        if (status == TAPER_OK) status = learn_fold(s, r, &rate, error);
        if (status != TAPER_OK) break;
        train_error_rate_add(&trial->error, &rate);
        for (size_t i = 0; i < rate.tested; i++)
            trial->half[i % 2].tested++, trial->half[i % 2].wrong += s->wrong[i];
        train_trial_errors_add(&s->errors, number, f, &s->rows, s->pixels->label, s->wrong);
    }
    trial->judged = o->balanced ? train_trial_errors_mean(&s->errors, number, TRAIN_BOTH_HALVES)
                                : trial->error.rate;
    trial->seconds = train_seconds_since(begun);
    return status;
}

/* --- trials --------------------------------------------------------------------------------- */

static int is_tried(const search *s, const recipe *r) {
    for (uint32_t i = 0; i < s->found->trials; i++)
        if (train_embedding_same_recipe(&s->tried[i].choice, s->tried[i].width, &r->choice,
                                        r->width))
            return 1;
    return 0;
}

/* Changes are applied to the best options so far. Options with hidden layers may replace a linear
 * map even with somewhat more errors, because they gain more from later changes. */
static int is_better_line(const search *s, const recipe *r, const train_embedding_trial *trial) {
    const double handicap =
        train_embedding_is_deep(&r->choice) && !train_embedding_is_deep(&s->at.choice) ? 1.5 : 1.0;
    return s->found->trials == 1 ||
           (r->choice.training.epochs && trial->judged < handicap * s->at_rate);
}

/* Gives the window its cells, of at least 2 pixels a side, and linear maps their start. */
static void fit_inputs(const search *s, train_embedding_choice *c) {
    const codec_window w = s->stage->window;
    c->cells = (uint32_t)formats_smaller(c->cells, formats_smaller(w.width, w.height) / 2);
    const codec_cells cells = {c->cells, c->cells};
    const uint32_t inputs = c->cells ? codec_gradients_count(w, cells) : s->pixels->inputs;
    c->linear.kind = inputs <= MOST_COMPONENTS ? TRAIN_START_PCA : TRAIN_START_RANDOM;
}

/* The time for the trial of recipe i: an equal part of what is left, but at least that of
 * LIKELY_TRIALS, as changes without effect take none; or some of these parts. */
static double share_of(const search *s, uint32_t i) {
    const uint32_t left = train_embedding_recipes() - i;
    const int shares = train_embedding_recipe_of(i)->shares;
    return left_for_trials(s) * (shares > 1 ? shares : 1) /
           (double)formats_larger(shares, formats_smaller(left, LIKELY_TRIALS));
}

/* The last trial has ended. */
static void tell(const search *s, const recipe *r) {
    const train_embedding_hooks *h = s->stage->hooks;
    train_embedding_choice choice = r->choice;
    choice.hidden = r->width;
    if (h->trial) h->trial(h->user, s->found, &choice);
}

/* Tries a change, unless the same options were tried. If training diverges or the model exceeds the
 * work limit, the trial has no error rate, unless it is the first. Other failures end the
 * search. */
static taper_status try_change(search *s, uint32_t i, taper_error *error) {
    const train_embedding_recipe *next = train_embedding_recipe_of(i);
    train_embedding_found *f = s->found;
    train_embedding_trial *trial = &f->trial[f->trials];
    recipe r = s->at;
    taper_error why = {0};
    next->apply(&r.choice, r.width);
    fit_inputs(s, &r.choice);
    if (is_tried(s, &r)) return TAPER_OK;
    *trial = (train_embedding_trial){.words = next->words};
    s->tried[f->trials++] = r;
    if (s->stage->hooks->stage) s->stage->hooks->stage(s->stage->hooks->user, trial->words, -1.0);
    taper_status status = try_recipe(s, &r, share_of(s, i), trial, &why);
    if ((status == TAPER_ERR_ARG || status == TAPER_ERR_LIMIT) && f->trials > 1 && !s->stopped) {
        trial->error = trial->half[0] = trial->half[1] =
            (taper_error_rate){.size = sizeof(taper_error_rate)};
        tell(s, &r);
        return TAPER_OK;
    }
    if (status != TAPER_OK) return formats_fail_as(error, status, &why, "%s", why.text);
    trial->kept = f->trials == 1 || trial->judged < s->least;
    if (trial->kept) s->best = r, f->error = trial->error, s->least = trial->judged;
    f->in_vain = trial->kept || next->is_complete ? 0 : f->in_vain + 1;
    if (is_better_line(s, &r, trial)) s->at = r, s->at_rate = trial->judged;
    tell(s, &r);
    return TAPER_OK;
}

/* --- the search ----------------------------------------------------------------------------- */

/* Fewer votes if a class has fewer images than votes: otherwise most votes would be of other
 * classes, and all trials would fail. */
static uint32_t votes_of(uint32_t k, size_t rows, size_t classes) {
    const size_t of_class =
        rows * (TRAIN_TRIAL_PARTS - 1) / TRAIN_TRIAL_PARTS / formats_larger(classes, 1);
    return (uint32_t)formats_larger(1, formats_smaller(k, of_class));
}

static taper_status take_rows(search *s, taper_error *error) {
    train_embedding_rows all = {0};
    const train_embedding_options *o = &s->at.choice.training;
    const size_t n = s->pixels->n;
    taper_status status = train_embedding_rows_take(&all, o, s->pixels, error);
    s->label = malloc(n * sizeof *s->label);
    s->wrong = malloc(n * sizeof *s->wrong);
    s->rows.all = malloc(n * sizeof *s->rows.all);
    if (status == TAPER_OK && (!s->label || !s->wrong || !s->rows.all))
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for labels of %zu images", n);
    s->rows.classes = all.classes;
    s->order = all.all, all.all = NULL;
    s->part = malloc(formats_larger(all.n, 1));
    if (status == TAPER_OK)
        status = train_explain(
            s->part ? train_trial_parts(s->order, all.n, s->pixels->label, all.classes, s->part)
                    : TAPER_ERR_NOMEM,
            error, "parts of %zu images", all.n);
    s->at.choice.training.k = votes_of(s->at.choice.training.k, all.n, all.distinct);
    s->found->rows = s->labelled = all.n;
    s->found->folds = all.n < FEW_ROWS ? MOST_FOLDS : all.n < SOME_ROWS ? 2 : 1;
    train_embedding_rows_free(&all);
    return status;
}

/* Reduces the number of images such that LEAST_EPOCHS fit into a trial's share of the time. It
 * measures one epoch of the first options with hidden layers. If these exceed the work limit, it
 * does nothing, because linear maps are fast. */
static taper_status fit_rows(search *s, taper_error *error) {
    train_embedding_found *f = s->found;
    recipe r = s->at;
    const size_t all = f->rows;
    train_embedding_deep_of_gradients(&r.choice, r.width);
    fit_inputs(s, &r.choice);
    r.choice.training.epochs = 1;
    f->rows = formats_smaller(all, TIMED_ROWS);
    take_fold(s, 0);
    const taper_status status = learn_fold(s, &r, NULL, error);
    if (status == TAPER_ERR_LIMIT) {
        f->rows = all;
        return TAPER_OK;
    }
    TAPER_TRY(status);
    const double share = left_for_trials(s) / LIKELY_TRIALS / f->folds;
    const double fitting = share / (LEAST_EPOCHS * s->row_seconds);
    f->rows =
        formats_smaller(all, formats_larger((size_t)fmax(0.0, fmin(fitting, 1e9)), LEAST_ROWS));
    return TAPER_OK;
}

/* Counts errors on the held-out rows of a fold. */
typedef taper_status judge_fn(search *s, taper_error_rate *rate, taper_error *error);

static taper_status judge_pixels(search *s, taper_error_rate *rate, taper_error *error) {
    return train_embedding_judge(s->stage, NULL, 0, &s->rows, &s->at.choice.training, s->wrong,
                                 rate, error);
}

static taper_status judge_classifier(search *s, taper_error_rate *rate, taper_error *error) {
    const double seconds = share_of_classifier * share_of_trials * s->seconds / s->found->folds;
    train_plain_run run;
    TAPER_TRY(train_plain_classifier_judge(s->stage, &s->rows, s->at.choice.training.seed, seconds,
                                           s->wrong, rate, &run, error));
    s->found->classifier_epochs = run.epochs, s->stopped = run.stopped;
    if (!s->stopped) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG, "stopped while a classifier was trained");
}

/* The errors of all folds of at most so many rows; and what trials are compared by. */
static taper_status judge_folds(search *s, judge_fn *judge, size_t most, taper_error_rate *sum,
                                double *judged, taper_error *error) {
    train_embedding_found *f = s->found;
    const size_t rows = f->rows;
    train_class_tally tally = {0};
    taper_status status = train_class_tally_open(&tally, s->rows.classes, error);
    f->rows = formats_smaller(rows, most);
    for (uint32_t k = 0; k < f->folds && status == TAPER_OK; k++) {
        taper_error_rate rate = {.size = sizeof(taper_error_rate)};
        take_fold(s, k);
        status = judge(s, &rate, error);
        if (status != TAPER_OK) break;
        train_error_rate_add(sum, &rate);
        train_embedding_tally(&s->rows, s->pixels->label, s->wrong, &tally);
    }
    f->rows = rows;
    *judged = s->at.choice.training.balanced ? train_class_tally_mean(&tally) : sum->rate;
    train_class_tally_free(&tally);
    return status;
}

/* What the trials are compared with. If the classifier diverges or exceeds a limit, its error is
 * not known. */
static taper_status judge_yardsticks(search *s, taper_error *error) {
    train_embedding_found *f = s->found;
    const train_embedding_hooks *h = s->stage->hooks;
    taper_error why = {0};
    TAPER_TRY(judge_folds(s, judge_pixels, MOST_PIXELS / s->pixels->inputs, &f->pixels,
                          &f->pixels_judged, error));
    if (h->stage) h->stage(h->user, "a plain classifier", -1.0);
    const double begun = train_seconds();
    const taper_status status =
        judge_folds(s, judge_classifier, f->rows, &f->classifier, &f->classifier_judged, &why);
    f->classifier_seconds = train_seconds_since(begun);
    if (status == TAPER_OK) return TAPER_OK;
    f->classifier = (taper_error_rate){.size = sizeof f->classifier};
    if ((status == TAPER_ERR_ARG || status == TAPER_ERR_LIMIT) && !s->stopped) return TAPER_OK;
    return formats_fail_as(error, status, &why, "%s", why.text);
}

/* The first n labelled rows are trained on, none is held out. */
static void take_first(search *s, size_t n) {
    s->rows.n_training = s->rows.n = n;
    memcpy(s->rows.all, s->order, n * sizeof *s->order);
    know_training_rows(s);
}

/* Sets the best options, with the number of epochs that fit into the remaining time. One epoch is
 * run to measure it: with all rows, or four times as many as trials had. */
static taper_status choose_epochs(search *s, taper_error *error) {
    train_embedding_found *f = s->found;
    train_embedding_options *o = &s->best.choice.training;
    if (o->epochs) {
        o->epochs = 1;
        take_first(s, formats_smaller(s->labelled, 4 * f->rows));
        TAPER_TRY(learn_fold(s, &s->best, NULL, error));
        o->epochs = epochs_of(s, s->labelled, 0.9 * (s->seconds - (train_seconds_since(s->begun))));
    }
    f->k = o->k;
    f->choice = s->best.choice;
    f->choice.training.k = s->k;
    memcpy(f->width, s->best.width, sizeof f->width);
    f->choice.hidden = f->width;
    return TAPER_OK;
}

static taper_status find(search *s, taper_error *error) {
    TAPER_TRY(take_rows(s, error));
    TAPER_TRY(fit_rows(s, error));
    TAPER_TRY(train_trial_errors_open(&s->errors, s->found->rows, s->rows.classes, error));
    TAPER_TRY(judge_yardsticks(s, error));
    const uint32_t recipes = train_embedding_recipes();
    for (uint32_t i = 0; i < recipes && (!i || left_for_trials(s) > 0.0); i++) {
        TAPER_TRY(try_change(s, i, error));
        const int is_over = s->found->in_vain >= MOST_IN_VAIN || !(s->least > 0.0);
        s->found->ended_early = is_over && i + 1 < recipes;
        if (s->found->ended_early) break;
    }
    s->found->judged = s->least;
    TAPER_TRY(
        train_trial_errors_expect(&s->errors, s->at.choice.training.balanced, s->found, error));
    return choose_epochs(s, error);
}

taper_status train_embedding_search(train_embedding_stage *stage, double minutes,
                                    const train_embedding_choice *base,
                                    train_embedding_found *found, taper_error *error) {
    train_embedding_hooks hooks = *stage->hooks; /* without learning curves of trials */
    train_embedding_stage trials = *stage;
    hooks.training.epoch = NULL, hooks.training.say = NULL;
    trials.hooks = &hooks;
    search s = {.stage = &trials,
                .pixels = stage->pixels,
                .found = found,
                .begun = train_seconds(),
                .seconds = 60.0 * minutes,
                .k = base->training.k};
    *found = (train_embedding_found){0};
    s.at.choice = train_embedding_first_choice(base, s.pixels->inputs);
    const taper_status status = find(&s, error);
    train_embedding_rows_free(&s.rows);
    train_trial_errors_free(&s.errors);
    free(s.order), free(s.part), free(s.label), free(s.wrong);
    stage->gradients = trials.gradients;
    stage->pretraining_seconds = 0.0;
    return status;
}
