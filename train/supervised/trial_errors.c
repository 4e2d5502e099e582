/* trial_errors.c -- see trial_errors.h. */
#include "train/supervised/trial_errors.h"
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
