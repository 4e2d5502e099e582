/* settle.h -- what a run does before its first step and after its last: room for its rows,
 * thresholds of binary units, and the decoder refitted. */
#ifndef TRAIN_SETTLE_H
#define TRAIN_SETTLE_H
#include "train/nested/nested_errors.h"
#include "train/nested/nested_step.h"

/* The rows that are held out; none: n is 0. */
train_nested_data train_nested_validation_rows(train_nested_run *r);
/* Rows that a run would have go through at once: those of a batch, or of a look if these are more,
 * at most as many as the device takes. */
size_t train_nested_rows_wanted(const train_nested_run *r);
/* Before training: room for them, or for as many as the device has memory for
 * (callbacks->fewer_rows). The rows are fed by then. */
taper_status train_nested_take_rows(train_nested_run *r);
/* Before training: every unit's first threshold, from some rows. Of binary networks; others are
 * left alone. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE, as of all here. */
taper_status train_nested_first_thresholds(train_nested_run *r);
/* At the end: exact quantiles over the training rows. */
taper_status train_nested_settle(train_nested_run *r, taper_error *error);
/* At the end: the decoder of one untied layer of bits anew (refit.h), where rows were held out to
 * judge it. */
taper_status train_nested_refit_run(train_nested_run *r, taper_error *error);
#endif
