/* teaching.c -- functions for the loop: batches, the teacher's losses, reports; see teaching.h.
 *
 * All random numbers depend on (seed, epoch) or (seed, step). */
#include "train/labelling/teaching.h"
#include "formats/bytes.h"
#include "train/device/feed.h"
#include "train/labelling/folding.h"
#include "train/labelling/teacher.h"
#include "train/optimise/loop.h"
#include "train/optimise/run.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABELLED_BATCH = 100, BATCH = 250 };

/* Rows that are drawn one after the other; each is drawn once before any repeats. */
typedef struct sampler {
    uint32_t *rows, *order; /* [n] row numbers, rising; in a random order */
    size_t n;
} sampler;

typedef struct run {
    const train_teaching_options *options;
    const train_pixels *data;
    const train_teaching_callbacks *callbacks;
    size_t labelled_batch, batch, batches; /* batches: of an epoch */
    sampler own, guesses;                  /* rows with a known label, and with a guess */
    uint32_t *epoch_labelled;              /* [batches][labelled_batch] */
    uint32_t *epoch_rows;                  /* [data->n] in an epoch's order */
    train_order shuffled_labelled, shuffled;
    train_mirror labels;
    train_feed feed;
    train_teacher teacher;
    train_loop loop;
} run;

train_teaching_options train_teaching_defaults(void) {
    return (train_teaching_options){.rate = 2e-3f, .reach = 0.035f, .seed = 1};
}

/* --- rows ------------------------------------------------------------------------------- */

static taper_status list_rows(run *r, uint32_t classes, taper_error *error) {
    const train_pixels *d = r->data;
    const size_t bytes = formats_larger(d->n, 1) * sizeof(uint32_t);
    sampler *own = &r->own, *guesses = &r->guesses;
    own->rows = malloc(bytes), own->order = malloc(bytes);
    guesses->rows = malloc(bytes), guesses->order = malloc(bytes), r->epoch_rows = malloc(bytes);
    if (!own->rows || !own->order || !guesses->rows || !guesses->order || !r->epoch_rows)
        return train_explain(TAPER_ERR_NOMEM, error, "the order of %zu rows", d->n);
    for (size_t i = 0; i < d->n && d->label; i++) {
        sampler *to = d->guessed && d->guessed[i] ? guesses : own;
        if (d->label[i] < classes) to->rows[to->n++] = (uint32_t)i;
    }
    const size_t n = own->n + guesses->n;
    if (n < 2 || d->n > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_ARG, "%zu image%s labelled; a teacher needs 2 or more",
                            n, n == 1 ? " is" : "s are");
    r->batch = formats_smaller(d->n, BATCH);
    r->batches = d->n / r->batch;
    r->labelled_batch = formats_smaller(n, r->options->reach > 0.0f ? LABELLED_BATCH : BATCH);
    r->epoch_labelled = malloc(r->batches * r->labelled_batch * sizeof *r->epoch_labelled);
    return train_explain(r->epoch_labelled ? TAPER_OK : TAPER_ERR_NOMEM, error,
                         "the order of %zu batches", r->batches);
}

/* Draws `count` rows from number `at` on. The rows are shuffled before each pass. first 1: of an
 * epoch, where their order has to be computed. */
static void draw(sampler *d, uint64_t seed, uint64_t at, int first, size_t count, uint32_t *to) {
    for (size_t i = 0; i < count; i++, at++) {
        if ((!i && first) || at % d->n == 0) {
            memcpy(d->order, d->rows, d->n * sizeof *d->order);
            train_shuffle(d->order, d->n, seed, TRAIN_STREAM_SHUFFLE + (at / d->n << 8));
        }
        to[i] = d->order[at % d->n];
    }
}

/* Orders an epoch: all rows once, except a remainder smaller than a batch. Half of a labelled batch
 * are guesses if there are any, because these are many, and mostly of easy images. */
static void shuffle(run *r, uint64_t epoch) {
    const uint64_t seed = r->options->seed;
    const size_t n = r->labelled_batch;
    const size_t of_both = r->own.n ? n / 2 : n;
    const size_t guesses = r->guesses.n ? of_both : 0, own = n - guesses;
    for (size_t i = 0; i < r->data->n; i++) r->epoch_rows[i] = (uint32_t)i;
    train_shuffle(r->epoch_rows, r->data->n, seed, TRAIN_STREAM_SHUFFLE + (epoch << 8));
    for (uint64_t b = 0; b < r->batches; b++) {
        uint32_t *to = r->epoch_labelled + b * n;
        const uint64_t step = epoch * r->batches + b;
        draw(&r->own, seed + 1, step * own, !b, own, to);
        draw(&r->guesses, seed + 2, step * guesses, !b, guesses, to + own);
    }
}

static taper_status begin_epoch(void *self, uint64_t epoch, taper_error *error) {
    run *r = self;
    train_stream *s = &r->teacher.stream;
    shuffle(r, epoch);
    taper_status status = train_order_update(&r->shuffled_labelled, s);
    if (status == TAPER_OK) status = train_order_update(&r->shuffled, s);
    return train_explain(status, error, "the order of rows was not taken");
}

/* --- steps ------------------------------------------------------------------------------ */

static taper_status take(run *r, const train_order *order, size_t first, size_t n,
                         const uint32_t *label) {
    train_fed fed;
    TAPER_TRY(train_feed_take(&r->feed, &r->teacher.stream, order, first, n, &fed));
    return train_teacher_load(&r->teacher, fed.rows, fed.order, label,
                              (const uint32_t *)order->there.at + first, n);
}

static taper_status learn_step(run *r, uint64_t step, double *losses) {
    train_teacher *t = &r->teacher;
    const size_t i = step % r->batches;
    TAPER_TRY(train_zero(&t->stream, losses, TRAIN_LOSSES * sizeof *losses));
    TAPER_TRY(train_zero(&t->stream, t->weights.gradient, t->weights.n * sizeof(float)));
    TAPER_TRY(
        take(r, &r->shuffled_labelled, i * r->labelled_batch, r->labelled_batch, r->labels.at));
    TAPER_TRY(train_teacher_learn_labelled(t, losses));
    if (!(r->options->reach > 0.0f)) return TAPER_OK;
    TAPER_TRY(take(r, &r->shuffled, i * r->batch, r->batch, NULL));
    return train_teacher_learn_unlabelled(t, step, losses);
}

static taper_status compute(void *self, uint64_t step, double *losses, taper_error *error) {
    return train_explain(learn_step(self, step, losses), error, "step %llu could not be computed",
                         (unsigned long long)step + 1);
}

uint32_t train_teaching_epochs(size_t rows) {
    enum { EPOCHS = 15, STEPS = 1000 };
    const size_t batches = formats_larger(rows / BATCH, 1);
    return (uint32_t)formats_larger(EPOCHS, (STEPS + batches - 1) / batches);
}

/* The number of steps, in whole epochs. */
static uint64_t steps_of(const run *r) {
    const uint64_t epochs = r->options->epochs;
    return (epochs ? epochs : train_teaching_epochs(r->data->n)) * r->batches;
}

static int report_step(void *self, const train_loop *l, uint64_t step, const double *mean,
                       double seconds_left) {
    const train_teaching_callbacks *c = ((const run *)self)->callbacks;
    return c && c->step ? c->step(c->user, step, l->steps, mean[0], seconds_left) : 0;
}

static const train_learner learner = {
    .what = "a teacher", .begin_epoch = begin_epoch, .compute = compute, .progress = report_step};

/* --- begin and end ---------------------------------------------------------------------- */

static taper_status check(const run *r, const codec_network *net, taper_error *error) {
    const train_teaching_options *o = r->options;
    if (!(o->rate > 0.0f) || !isfinite(o->rate) || !(o->reach >= 0.0f) || !isfinite(o->reach))
        return formats_fail(error, TAPER_ERR_ARG,
                            "a teacher needs a rate above 0 and a reach of 0 or above");
    if (net->encoder.depth < 2 || net->inputs != r->data->inputs)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a teacher needs hidden layers, and rows of %u values",
                            (unsigned)net->inputs);
    return TAPER_OK;
}

static taper_status feed_device(run *r) {
    train_stream *s = &r->teacher.stream;
    const train_pixels *d = r->data;
    char words[160];
    shuffle(r, 0);
    TAPER_TRY(train_order_open(&r->shuffled, s, r->epoch_rows, d->n));
    TAPER_TRY(train_order_open(&r->shuffled_labelled, s, r->epoch_labelled,
                               r->batches * r->labelled_batch));
    TAPER_TRY(train_mirror_open(&r->labels, s, d->label, d->n * sizeof *d->label));
    TAPER_TRY(train_feed_open(&r->feed, s, d->pixels, d->n, d->inputs, r->teacher.batch));
    train_feed_say(&r->feed, s->device, words, sizeof words);
    if (*words && r->callbacks && r->callbacks->say) r->callbacks->say(r->callbacks->user, words);
    return TAPER_OK;
}

static taper_status begin(run *r, train_device *device, const codec_network *net,
                          taper_error *error) {
    const train_teaching_options *o = r->options;
    TAPER_TRY(check(r, net, error));
    TAPER_TRY(list_rows(r, net->units, error));
    taper_status status =
        train_teacher_create(&r->teacher, net, device, formats_larger(r->batch, r->labelled_batch));
    r->teacher.reach = o->reach * sqrtf((float)net->inputs), r->teacher.seed = o->seed;
    if (status == TAPER_OK) status = feed_device(r);
    if (status != TAPER_OK)
        return train_explain(status, error, "a teacher of %u classes", net->units);
    r->loop = (train_loop){.learner = &learner,
                           .self = r,
                           .stream = &r->teacher.stream,
                           .weights = &r->teacher.weights,
                           .steps = steps_of(r),
                           .steps_per_epoch = r->batches,
                           .rate = o->rate,
                           .most_loss = INFINITY,
                           .start_loss = INFINITY};
    return TAPER_OK;
}

static void end(run *r) {
    train_loop_free(&r->loop);
    train_feed_close(&r->feed);
    train_order_free(&r->shuffled);
    train_order_free(&r->shuffled_labelled);
    train_mirror_free(&r->labels);
    train_teacher_free(&r->teacher);
    free(r->own.rows), free(r->own.order), free(r->guesses.rows), free(r->guesses.order);
    free(r->epoch_labelled), free(r->epoch_rows);
}

static taper_status diverged(const run *r, taper_error *error) {
    char words[768];
    train_loop_diverged(&r->loop, NULL, words, sizeof words);
    return formats_fail(error, TAPER_ERR_ARG, "%s", words);
}

taper_status train_teaching(const train_teaching_options *options, const train_pixels *data,
                            train_device *device, codec_network *net,
                            const train_teaching_callbacks *callbacks, int *stopped,
                            taper_error *error) {
    run r = {.options = options, .data = data, .callbacks = callbacks};
    taper_status status = begin(&r, device, net, error);
    if (status == TAPER_OK) status = train_loop_run(&r.loop, error);
    if (status == TAPER_OK && r.loop.diverged) status = diverged(&r, error);
    if (status == TAPER_OK && !(*stopped = r.loop.stopped)) {
        const train_folding folding = {&r.teacher, &r.feed, &r.shuffled, r.batch, r.batches};
        status = train_explain(train_fold(&folding, net), error, "a teacher's network");
    }
    end(&r);
    return status;
}
