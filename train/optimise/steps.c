/* steps.c -- see steps.h. */
#include "train/optimise/steps.h"
#include "train/optimise/run.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double checkpoint_seconds = 60.0;

typedef struct course {
    train_steps *s;
    codec_backend *be;
    train_adam adam;
    train_step_fn *one;
    void *context;
} course;

static taper_status one_step(course *c, taper_error *error) {
    train_steps *s = c->s;
    train_steps_sums sums = {0, 0};
    uint64_t warmup = s->steps / 20 < 100 ? s->steps / 20 : 100;
    float rate = train_cosine_rate(s->rate, s->step, s->steps, warmup);
    memset(s->gradient, 0, s->n * sizeof *s->gradient);
    TAPER_TRY(c->one(c->context, s->step, &sums, error));
    taper_status status =
        train_adam_step(&c->adam, c->be, rate, 100.0f, s->gradient, s->parameter, NULL);
    if (status == TAPER_ERR_ARG)
        return formats_fail(error, status, "training %s diverged in step %llu; lower its rate",
                            s->what, (unsigned long long)s->step + 1);
    if (status != TAPER_OK) return formats_fail(error, status, "no memory for a training step");
    double keep = s->step < 200 ? (double)s->step / (double)(s->step + 1) : 0.995;
    s->mean.now = keep * s->mean.now + (1 - keep) * sums.now;
    s->mean.before = keep * s->mean.before + (1 - keep) * sums.before;
    s->step++;
    return TAPER_OK;
}

/* --- checkpoints ------------------------------------------------------------------------ */

static train_checkpoint checkpoint_of(course *c) {
    train_steps *s = c->s;
    float *rest = s->gradient; /* the fourth vector is not needed */
    return (train_checkpoint){.fingerprint = s->fingerprint,
                              .step = s->step,
                              .adam_step = c->adam.step,
                              .sum_bits = s->mean.now,
                              .sum_distortion = s->mean.before,
                              .n = s->n,
                              .vector = {s->parameter, c->adam.m, c->adam.v, rest}};
}

static taper_status save(course *c, taper_error *error) {
    train_checkpoint point = checkpoint_of(c);
    if (!c->s->saving.path) return TAPER_OK;
    return train_checkpoint_write(c->s->saving.path, &point, c->s->saving.watch, error);
}

static taper_status resume(course *c, taper_error *error) {
    train_steps *s = c->s;
    if (!s->saving.resume || !s->saving.path || access(s->saving.path, F_OK) != 0) return TAPER_OK;
    train_checkpoint point = checkpoint_of(c);
    TAPER_TRY(train_checkpoint_read(s->saving.path, &point, error));
    free(point.history);
    if (point.step > s->steps)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the checkpoint contradicts itself; start without --resume");
    s->step = point.step, c->adam.step = point.adam_step;
    s->mean = (train_steps_sums){point.sum_bits, point.sum_distortion};
    return TAPER_OK;
}

/* --- the loop --------------------------------------------------------------------------- */

static taper_status loop(course *c, train_steps_progress_fn *progress, void *user, int *stopped,
                         taper_error *error) {
    train_steps *s = c->s;
    double started = train_seconds(), saved = started;
    uint64_t first = s->step;
    int stop = 0;
    while (s->step < s->steps && !stop) {
        TAPER_TRY(one_step(c, error));
        double now = train_seconds();
        double left = (now - started) / (double)(s->step - first) * (double)(s->steps - s->step);
        train_steps_progress p = {s->step, s->steps, s->mean.now, s->mean.before, left};
        stop = progress && progress(user, &p);
        if (stop || s->step == s->steps || now - saved > checkpoint_seconds) {
            TAPER_TRY(save(c, error));
            saved = train_seconds();
        }
    }
    if (stopped) *stopped = stop;
    return TAPER_OK;
}

taper_status train_steps_take(train_steps *s, codec_backend *be, train_step_fn *one, void *context,
                              train_steps_progress_fn *progress, void *user, int *stopped,
                              taper_error *error) {
    course c = {.s = s, .be = be, .one = one, .context = context};
    if (train_adam_create(&c.adam, s->n) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for training %s", s->what);
    taper_status status = resume(&c, error);
    if (status == TAPER_OK) status = loop(&c, progress, user, stopped, error);
    train_adam_free(&c.adam);
    return status;
}
