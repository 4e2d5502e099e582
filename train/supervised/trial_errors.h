/* trial_errors.h -- which held-out rows are errors of which trial of a search, to count errors by
 * class and by half of the rows. */
#ifndef TRAIN_TRIAL_ERRORS_H
#define TRAIN_TRIAL_ERRORS_H
#include "train/embedding/embedding_errors.h"
#include "train/supervised/embedding_choice.h"

typedef struct train_trial_errors {
    uint32_t *label; /* [n] of held-out rows, fold after fold */
    uint8_t *half;   /* [n] 0 or 1: every other row of a fold */
    uint32_t *wrong; /* [n] bit t: an error of trial t */
    size_t n, room;
    uint32_t classes;
} train_trial_errors;

_Static_assert((int)TRAIN_EMBEDDING_TRIALS <= 32, "a bit for each trial");

enum { TRAIN_BOTH_HALVES = 2 };

/* For folds of so many rows in all. TAPER_ERR_NOMEM. Free it after a failure too. */
taper_status train_trial_errors_open(train_trial_errors *errors, size_t rows, uint32_t classes,
                                     taper_error *error);
void train_trial_errors_free(train_trial_errors *errors); /* zeroed is fine */

/* A trial's errors on the held-out rows of a fold: wrong[held out], label[] of all rows. All trials
 * have the same folds, in the same order, from fold 0 on. */
void train_trial_errors_add(train_trial_errors *errors, uint32_t trial, uint32_t fold,
                            const train_embedding_rows *rows, const uint32_t *label,
                            const uint8_t *wrong);

/* Adds a trial's errors on one half of the rows, 0 or 1, or on both, to the tally. */
void train_trial_errors_count(const train_trial_errors *errors, uint32_t trial, int half,
                              train_class_tally *tally);
/* The mean over classes, 0..1; NaN: no row, or no memory. */
double train_trial_errors_mean(const train_trial_errors *errors, uint32_t trial, int half);

/* Adds counts of errors, with the rate of all and its 95 % interval. of->tested is above 0. */
void train_error_rate_add(taper_error_rate *to, const taper_error_rate *of);

/* found->expected and expected_classes: the error of the best options is too low on the images that
 * chose them, so each half of the held-out images evaluates the options that the other half would
 * have chosen. balanced: they choose by the mean over classes. TAPER_ERR_NOMEM. */
taper_status train_trial_errors_expect(const train_trial_errors *errors, int balanced,
                                       train_embedding_found *found, taper_error *error);

#endif
