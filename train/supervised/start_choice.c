/* start_choice.c -- see start_choice.h. */
#include "train/supervised/start_choice.h"
#include "formats/bytes.h"
#include "train/embedding/drawn_start.h"
#include "train/optimise/run.h"
#include "train/supervised/trial_errors.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* After so many steps the errors of two starts differ as they do at the end. */
enum { LINEAR_STEPS = 60, DEEP_STEPS = 30 };
enum { FOLDS = 4, MOST_ROWS = 4000, LEARNED = 0, DRAWN = 1, STARTS = 2 };

typedef struct trial {
    train_embedding_stage *stage;
    const train_embedding_choice *choice;
    train_embedding_options options; /* of a trial */
    train_embedding_hooks hooks;     /* without learning curves */
    const train_pixels *rows;
    uint32_t *order; /* [n] rows that take part, in random order */
    size_t n;
    uint32_t *label;           /* [rows->n] of a fold's training rows only */
    train_embedding_rows fold; /* training rows, then held-out ones */
    uint32_t folds;
    int stopped; /* by a callback */
} trial;

/* --- networks --------------------------------------------------------------------------------- */

static void copy_stack(const codec_stack *from, codec_stack *to) {
    for (uint32_t l = 0; l < from->depth; l++) {
        const codec_layer *a = &from->layer[l], *b = &to->layer[l];
        memcpy(b->weight, a->weight, (size_t)a->outputs * a->inputs * sizeof *b->weight);
        memcpy(b->bias, a->bias, a->outputs * sizeof *b->bias);
    }
}

static void copy_network(const codec_network *from, codec_network *to) {
    memcpy(to->mean, from->mean, from->inputs * sizeof *to->mean);
    to->hidden = from->hidden, to->code = from->code;
    copy_stack(&from->encoder, &to->encoder);
    copy_stack(&from->decoder, &to->decoder);
}

/* A network of the same shape; free it. */
static taper_status make_like(const codec_network *net, codec_network *to, taper_error *error) {
    const codec_stack *f = &net->encoder, *g = &net->decoder;
    uint32_t up[CODEC_MAX_LAYERS], down[CODEC_MAX_LAYERS];
    for (uint32_t l = 0; l + 1 < f->depth; l++) up[l] = f->layer[l].outputs;
    for (uint32_t l = 0; l + 1 < g->depth; l++) down[l] = g->layer[l].outputs;
    const taper_status status =
        codec_network_alloc(to, net->inputs, net->units, g->depth ? CODEC_DIRECT : CODEC_ENCODER,
                            up, f->depth - 1, down, g->depth ? g->depth - 1 : 0);
    return train_explain(status, error, "a second network of %u units", (unsigned)net->units);
}

/* Random weights, for a linear map at the scale of the learned one. */
static taper_status draw(const trial *t, codec_network *net, taper_error *error) {
    const train_embedding_choice *c = t->choice;
    train_linear_options linear = c->linear;
    if (train_embedding_is_deep(c)) {
        train_drawn_start(net, c->training.seed);
        net->code = CODEC_LINEAR;
        return TAPER_OK;
    }
    linear.kind = TRAIN_START_RANDOM;
    return train_linear_start(&linear, t->rows, t->stage->device, net, error);
}

/* --- trials ----------------------------------------------------------------------------------- */

/* The rows that options train on, MOST_ROWS at most. */
static taper_status take_rows(trial *t, const train_embedding_options *o, taper_error *error) {
    train_embedding_rows all = {0};
    const size_t n = formats_larger(t->rows->n, 1);
    TAPER_TRY(train_embedding_rows_take(&all, o, t->rows, error));
    t->n = formats_smaller(all.n_training - all.guesses, MOST_ROWS);
    t->folds = t->n < MOST_ROWS ? FOLDS : 1;
    t->order = all.all, all.all = NULL;
    t->fold.classes = all.classes;
    train_embedding_rows_free(&all);
    t->label = malloc(n * sizeof *t->label);
    t->fold.all = malloc(n * sizeof *t->fold.all);
    return train_explain(t->label && t->fold.all ? TAPER_OK : TAPER_ERR_NOMEM, error,
                         "rows of %zu images", n);
}

/* Every FOLDS-th row from `fold` on is held out. */
static void take_fold(trial *t, uint32_t fold) {
    train_embedding_rows *f = &t->fold;
    f->n = 0;
    for (size_t i = 0; i < t->rows->n; i++) t->label[i] = TRAIN_UNLABELLED;
    for (size_t i = 0; i < t->n; i++) {
        if (i % FOLDS == fold) continue;
        f->all[f->n++] = t->order[i];
        t->label[t->order[i]] = t->rows->label[t->order[i]];
    }
    f->n_training = f->n;
    for (size_t i = fold; i < t->n; i += FOLDS) f->all[f->n++] = t->order[i];
}

/* Trains a copy of the start on a fold, and adds its errors. */
static taper_status try_fold(trial *t, const codec_network *start, taper_error_rate *sum,
                             taper_error *error) {
    train_pixels known = *t->rows;
    train_embedding_result result = {0};
    taper_error_rate rate = {.size = sizeof rate};
    taper_model m = {.cells = {t->choice->cells, t->choice->cells}};
    known.label = t->label, known.guessed = NULL;
    TAPER_TRY(make_like(start, &m.network, error));
    copy_network(start, &m.network);
    taper_status status = train_embedding(&t->options, &known, t->stage->device, &m.network,
                                          &t->hooks.training, &result, error);
    t->stopped = (int)result.stopped;
    if (status == TAPER_OK && t->stopped)
        status = formats_fail(error, TAPER_ERR_ARG, "stopped while starts were compared");
    if (status == TAPER_OK)
        status = train_embedding_judge(t->stage, &m, t->choice->units, &t->fold, &t->options, NULL,
                                       &rate, error);
    codec_network_free(&m.network);
    if (status != TAPER_OK) return status;
    train_error_rate_add(sum, &rate);
    return TAPER_OK;
}

/* rate->tested 0: a trial diverged, or a fold has too few labels to train on. */
static taper_status try_start(trial *t, const codec_network *start, taper_error_rate *rate,
                              taper_error *error) {
    taper_status status = TAPER_OK;
    taper_error why = {0};
    for (uint32_t f = 0; f < t->folds && status == TAPER_OK; f++) {
        take_fold(t, f);
        status = try_fold(t, start, rate, &why);
    }
    if (status == TAPER_OK) return TAPER_OK;
    *rate = (taper_error_rate){.size = sizeof *rate};
    if (status == TAPER_ERR_ARG && !t->stopped) return TAPER_OK;
    return formats_fail_as(error, status, &why, "%s", why.text);
}

/* Nonzero if random weights have fewer errors by more than a standard deviation of the difference.
 * A tie would otherwise be decided by rounding, which differs with the number of processes. */
static int is_drawn_better(const train_embedding_start_trial *s) {
    const double learned = (double)s->learned.wrong, drawn = (double)s->drawn.wrong;
    if (!s->drawn.tested || !s->learned.tested) return s->drawn.tested > 0;
    return drawn + sqrt(learned + drawn) < learned;
}

static taper_status try_both(trial *t, codec_network *net, codec_network *drawn,
                             taper_error *error) {
    train_embedding_start_trial *s = &t->stage->start;
    TAPER_TRY(draw(t, drawn, error));
    TAPER_TRY(try_start(t, net, &s->learned, error));
    TAPER_TRY(try_start(t, drawn, &s->drawn, error));
    s->is_drawn = is_drawn_better(s);
    if (s->is_drawn) copy_network(drawn, net);
    return TAPER_OK;
}

static train_embedding_options options_of(const train_embedding_choice *c,
                                          const train_embedding_options *given) {
    train_embedding_options o = *given;
    o.validation_fraction = 0.0f;
    o.saving = (train_saving){0};
    o.epochs = 1, o.least_steps = train_embedding_is_deep(c) ? DEEP_STEPS : LINEAR_STEPS;
    return o;
}

taper_status train_start_choose(train_embedding_stage *stage, const train_embedding_choice *c,
                                const train_embedding_options *options, const train_pixels *rows,
                                codec_network *net, taper_error *error) {
    trial t = {.stage = stage,
               .choice = c,
               .options = options_of(c, options),
               .hooks = *stage->hooks,
               .rows = rows};
    codec_network drawn = {0};
    const double begun = train_seconds();
    t.hooks.training.epoch = NULL, t.hooks.training.say = NULL;
    stage->start = (train_embedding_start_trial){.learned.size = sizeof(taper_error_rate),
                                                 .drawn.size = sizeof(taper_error_rate)};
    taper_status status = take_rows(&t, options, error);
    if (status == TAPER_OK) status = make_like(net, &drawn, error);
    if (status == TAPER_OK) status = try_both(&t, net, &drawn, error);
    codec_network_free(&drawn);
    train_embedding_rows_free(&t.fold);
    free(t.order), free(t.label);
    stage->start.seconds = train_seconds_since(begun);
    return status;
}
