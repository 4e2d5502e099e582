/* plain_classifier.c -- see plain_classifier.h. */
#include "train/supervised/plain_classifier.h"
#include "formats/bytes.h"
#include "train/embedding/drawn_start.h"
#include "train/embedding/row_codes.h"
#include "train/labelling/teaching.h"
#include "train/optimise/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t hidden[] = {500, 500};
enum {
    LAYERS = sizeof hidden / sizeof *hidden,
    TIMED_ROWS = 1000,
    LEAST_TIMED_ROWS = 50,
    TIMED_VALUES = 4000000,
    TIMED_EPOCHS = 3,
    MOST_LATE = 4, /* times as long as asked */
    MOST_BEGINNING = 16,
    MOST_COPIED = 256 * 1000000 /* values */
};

/* Training rows, one after the other: a second copy of pixels that are in memory. */
typedef struct copied {
    uint8_t *pixels;
    uint32_t *label;
    train_pixels rows;
} copied;

static taper_status copy_rows(copied *to, const train_pixels *from,
                              const train_embedding_rows *rows) {
    const size_t n = rows->n_training, d = from->inputs;
    if (n > MOST_COPIED / d) return TAPER_ERR_LIMIT;
    to->pixels = malloc(formats_larger(n * d, 1));
    to->label = malloc(formats_larger(n, 1) * sizeof *to->label);
    if (!to->pixels || !to->label) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        memcpy(to->pixels + i * d, from->pixels + rows->all[i] * d, d);
        to->label[i] = from->label[rows->all[i]];
    }
    to->rows =
        (train_pixels){.pixels = to->pixels, .n = n, .inputs = from->inputs, .label = to->label};
    return TAPER_OK;
}

typedef struct job {
    const train_embedding_stage *stage;
    const train_pixels *rows;
    codec_network *net;
    train_teaching_options options;
    train_plain_run *run;
} job;

/* From the start, on the first n rows. */
static taper_status learn(job *j, size_t n, uint32_t epochs, taper_error *error) {
    train_pixels rows = *j->rows;
    rows.n = n;
    j->options.epochs = epochs;
    const train_embedding_callbacks *c = &j->stage->hooks->training;
    const train_teaching_callbacks callbacks = {c->user, c->step, NULL};
    train_drawn_start(j->net, j->options.seed);
    return train_teaching(&j->options, &rows, j->stage->device, j->net, &callbacks,
                          &j->run->stopped, error);
}

/* The seconds of an epoch, without those that every training takes to begin. If the beginning takes
 * longer than most_seconds, it is with those. */
static taper_status time_epoch(job *j, double most_seconds, double *epoch, taper_error *error) {
    const size_t n = j->rows->n, most = formats_smaller(TIMED_ROWS, TIMED_VALUES / j->rows->inputs);
    const size_t timed = formats_smaller(n, formats_larger(most, LEAST_TIMED_ROWS));
    double seconds[2] = {0};
    for (uint32_t i = 0; i < 2 && !j->run->stopped && seconds[0] <= most_seconds; i++) {
        const double begun = train_seconds();
        TAPER_TRY(learn(j, timed, i ? TIMED_EPOCHS : 1, error));
        seconds[i] = train_seconds_since(begun);
    }
    const double least = seconds[0] / 20; /* clocks are coarse */
    const double one = seconds[1] > 0 ? (seconds[1] - seconds[0]) / (TIMED_EPOCHS - 1) : seconds[0];
    *epoch = fmax(one, least) * (double)n / (double)formats_larger(timed, 1);
    return TAPER_OK;
}

static taper_status learn_in(job *j, double seconds, taper_error *error) {
    const size_t n = j->rows->n;
    double epoch;
    TAPER_TRY(time_epoch(j, MOST_BEGINNING * seconds, &epoch, error));
    if (j->run->stopped) return TAPER_OK;
    if (epoch > MOST_LATE * seconds)
        return formats_fail(error, TAPER_ERR_LIMIT, "a pass over %zu images takes %.0f s", n,
                            epoch);
    j->run->epochs = (uint32_t)fmax(1.0, fmin(train_teaching_epochs(n), seconds / epoch));
    return learn(j, n, j->run->epochs, error);
}

/* Held-out rows and their classes by the network. */
typedef struct naming {
    const uint32_t *row, *label;
    uint32_t classes;
    uint8_t *wrong;
} naming;

static void name_rows(void *user, size_t first, size_t n, const float *logit) {
    const naming *to = user;
    for (size_t i = first; i < first + n; i++, logit += to->classes) {
        uint32_t best = 0;
        for (uint32_t c = 1; c < to->classes; c++)
            if (logit[c] > logit[best]) best = c;
        to->wrong[i] = best != to->label[to->row[i]];
    }
}

static taper_status count(const job *j, const train_embedding_rows *rows, uint8_t *wrong,
                          taper_error_rate *rate, taper_error *error) {
    const train_pixels *all = j->stage->pixels;
    const size_t n = rows->n - rows->n_training;
    naming to = {rows->all + rows->n_training, all->label, rows->classes, wrong};
    TAPER_TRY(train_explain(train_take_codes(j->net, j->stage->be, all, to.row, n, name_rows, &to),
                            error, "classes of %zu images", n));
    *rate = (taper_error_rate){.size = sizeof *rate, .tested = n};
    for (size_t i = 0; i < n; i++) rate->wrong += wrong[i];
    return TAPER_OK;
}

taper_status train_plain_classifier_judge(train_embedding_stage *stage,
                                          const train_embedding_rows *rows, uint64_t seed,
                                          double seconds, uint8_t *wrong, taper_error_rate *rate,
                                          train_plain_run *run, taper_error *error) {
    codec_network net = {0};
    copied own = {0};
    job j = {stage, &own.rows, &net, train_teaching_defaults(), run};
    j.options.reach = 0.0f, j.options.seed = seed;
    *run = (train_plain_run){0};
    taper_status status = copy_rows(&own, stage->pixels, rows);
    if (status == TAPER_OK)
        status = codec_network_alloc(&net, own.rows.inputs, rows->classes, CODEC_ENCODER, hidden,
                                     LAYERS, NULL, 0);
    status = train_explain(status, error, "a classifier of %u classes", (unsigned)rows->classes);
    if (status == TAPER_OK) status = learn_in(&j, seconds, error);
    if (status == TAPER_OK && !run->stopped) status = count(&j, rows, wrong, rate, error);
    codec_network_free(&net);
    free(own.pixels), free(own.label);
    return status;
}
