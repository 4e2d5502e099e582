/* nested_setup.h -- what a run does before its first step and after its last: memory for its rows,
 * thresholds of binary units, and the refit of the decoder. */
#ifndef TRAIN_NESTED_SETUP_H
#define TRAIN_NESTED_SETUP_H
#include "train/nested/nested_errors.h"
#include "train/nested/nested_step.h"

/* Rows that a run processes at once: those of a batch or of an evaluation, whichever is more, but
 * at most block_rows of the device. */
size_t train_nested_rows_wanted(const train_nested_run *r);
/* Before training: allocates memory for these rows, or for fewer if memory is short
 * (callbacks->fewer_rows). The feed must be open. */
taper_status train_nested_take_rows(train_nested_run *r);
/* Before training of a binary network: the first threshold of every unit, from some rows. Does
 * nothing for others. All functions here: TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_nested_first_thresholds(train_nested_run *r);
/* After training: thresholds are exact quantiles over the training rows. */
taper_status train_nested_exact_thresholds(train_nested_run *r, taper_error *error);
/* After training of a binary network of one untied layer: refits the decoder (refit.h), if rows
 * were held out to evaluate it. */
taper_status train_nested_refit_run(train_nested_run *r, taper_error *error);
#endif
