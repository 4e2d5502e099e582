/* trial_errors.c -- see trial_errors.h. */
#include "train/supervised/trial_errors.h"
#include "codec/search/votes.h"
#include "train/optimise/run.h"
#include <math.h>
#include <stdlib.h>

taper_status train_trial_errors_open(train_trial_errors *e, size_t rows, uint32_t classes,
                                     taper_error *error) {
    *e = (train_trial_errors){.label = malloc(rows * sizeof *e->label),
                              .half = malloc(rows * sizeof *e->half),
                              .wrong = calloc(rows, sizeof *e->wrong),
                              .room = rows,
                              .classes = classes};
    return train_explain(e->label && e->half && e->wrong ? TAPER_OK : TAPER_ERR_NOMEM, error,
                         "errors of trials on %zu images", rows);
}

void train_trial_errors_free(train_trial_errors *e) {
    free(e->label), free(e->half), free(e->wrong);
    *e = (train_trial_errors){0};
}

void train_trial_errors_add(train_trial_errors *e, uint32_t trial, uint32_t fold,
                            const train_embedding_rows *rows, const uint32_t *label,
                            const uint8_t *wrong) {
    if (!fold) e->n = 0;
    for (size_t i = 0; i < rows->n - rows->n_training && e->n < e->room; i++, e->n++) {
        const uint32_t bit = 1u << trial;
        e->label[e->n] = label[rows->all[rows->n_training + i]];
        e->half[e->n] = i % 2;
        e->wrong[e->n] = (e->wrong[e->n] & ~bit) | (wrong[i] ? bit : 0);
    }
}

void train_trial_errors_count(const train_trial_errors *e, uint32_t trial, int half,
                              train_class_tally *tally) {
    for (size_t i = 0; i < e->n; i++)
        if (half == TRAIN_BOTH_HALVES || e->half[i] == half)
            train_class_tally_add(tally, e->label[i], e->wrong[i] >> trial & 1);
}

double train_trial_errors_mean(const train_trial_errors *e, uint32_t trial, int half) {
    train_class_tally tally = {0};
    double mean = NAN;
    if (train_class_tally_open(&tally, e->classes, NULL) == TAPER_OK) {
        train_trial_errors_count(e, trial, half, &tally);
        mean = train_class_tally_mean(&tally);
    }
    train_class_tally_free(&tally);
    return mean;
}

/* --- the error to expect ------------------------------------------------------------------ */

void train_error_rate_add(taper_error_rate *to, const taper_error_rate *of) {
    to->tested += of->tested, to->wrong += of->wrong;
    to->rate = (double)to->wrong / (double)to->tested;
    codec_wilson(to->wrong, to->tested, &to->low, &to->high);
}

/* What one half of the held-out images would judge a trial by. */
static double half_rate(const train_trial_errors *e, int balanced, const train_embedding_found *f,
                        uint32_t trial, int half) {
    const taper_error_rate *by = &f->trial[trial].half[half];
    if (!by->tested) return 2.0;
    return balanced ? train_trial_errors_mean(e, trial, half)
                    : (double)by->wrong / (double)by->tested;
}

/* The trial that this half of the images would choose; f->trials: none. */
static uint32_t choice_of_half(const train_trial_errors *e, int balanced,
                               const train_embedding_found *f, int half) {
    uint32_t best = f->trials;
    double least = 2.0;
    for (uint32_t i = 0; i < f->trials; i++) {
        const double rate = half_rate(e, balanced, f, i, half);
        if (rate < least) best = i, least = rate;
    }
    return best;
}

taper_status train_trial_errors_expect(const train_trial_errors *e, int balanced,
                                       train_embedding_found *f, taper_error *error) {
    TAPER_TRY(train_class_tally_open(&f->expected_classes, e->classes, error));
    for (int h = 0; h < 2; h++) {
        const uint32_t best = choice_of_half(e, balanced, f, h);
        if (best == f->trials || !f->trial[best].half[!h].tested) continue;
        train_error_rate_add(&f->expected, &f->trial[best].half[!h]);
        train_trial_errors_count(e, best, !h, &f->expected_classes);
    }
    if (f->expected.tested) return TAPER_OK;
    f->expected = f->error;
    for (uint32_t i = f->trials; i-- > 0;)
        if (f->trial[i].kept) {
            train_trial_errors_count(e, i, TRAIN_BOTH_HALVES, &f->expected_classes);
            break;
        }
    return TAPER_OK;
}
