/* steps.c -- see steps.h. */
#include "train/optimise/run.h"
#include "train/optimise/steps.h"
#include <math.h>

static const double checkpoint_seconds = 60.0;
enum { CHECKPOINTS = 16 }; /* also in runs of less than a minute, as on GPUs */
static const float max_norm = 100.0f;

/* Adds a message to a failure of the device. */
static taper_status explain(taper_status status, uint64_t step, taper_error *error) {
    if (status == TAPER_OK) return status;
    return train_explain(status, error, "training step %llu could not be taken",
                         (unsigned long long)step + 1);
}

static taper_status compute(void *self, uint64_t step, double *losses, taper_error *error) {
    train_steps *s = self;
    const train_weights *w = s->weights;
    taper_status status = train_zero(s->stream, w->gradient, w->n * sizeof *w->gradient);
    if (status == TAPER_OK) status = train_zero(s->stream, losses, TRAIN_LOSSES * sizeof *losses);
    TAPER_TRY(explain(status, step, error));
    return s->compute(s->self, step, losses, error);
}

static int report(void *self, const train_loop *loop, uint64_t step, const double *mean,
                  double seconds_left) {
    train_steps *s = self;
    train_steps_progress p = {.step = step,
                              .steps = loop->steps,
                              .now = mean[0],
                              .before = s->before > 0 ? s->before : mean[1],
                              .seconds = loop->seconds,
                              .seconds_left = seconds_left};
    return s->progress && s->progress(s->user, &p);
}

static taper_status say_diverged(const train_loop *loop, taper_error *error) {
    char words[sizeof error->text];
    train_loop_diverged(loop, NULL, words, sizeof words);
    return formats_fail(error, TAPER_ERR_ARG, "%s", words);
}

taper_status train_steps_take(train_steps *s, int *stopped, taper_error *error) {
    train_learner learner = {.what = s->what, .compute = compute, .progress = report};
    train_loop loop = {.learner = &learner,
                       .self = s,
                       .stream = s->stream,
                       .weights = s->weights,
                       .ranks = s->ranks,
                       .steps = s->steps,
                       .steps_per_epoch = s->steps,
                       .rate = s->rate,
                       .max_norm = max_norm,
                       .warmup = s->steps / 20 < 100 ? s->steps / 20 : 100,
                       .most_loss = INFINITY,
                       .running = 1,
                       .fingerprint = s->fingerprint,
                       .saving = s->saving,
                       .checkpoint_seconds = checkpoint_seconds,
                       .checkpoint_steps = (s->steps + CHECKPOINTS - 1) / CHECKPOINTS,
                       .start_loss = INFINITY};
    taper_status status = train_loop_run(&loop, error);
    if (status == TAPER_OK && loop.diverged) status = say_diverged(&loop, error);
    if (status == TAPER_OK && stopped) *stopped = loop.stopped;
    train_loop_free(&loop);
    return status;
}
