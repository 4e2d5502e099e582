/* nested_run.h -- the state of a nested-dropout run, shared by its loop (nested_trainer.c) and by
 * its beginning, checkpoints and end (nested_run.c). */
#ifndef TRAIN_NESTED_RUN_H
#define TRAIN_NESTED_RUN_H
#include "train/nested/binariser.h"
#include "train/nested/nested_options.h"
#include "train/optimise/adam.h"
#include "train/optimise/conjugate_gradient.h"

typedef struct train_nested_run {
    const train_nested_options *options;
    const train_pixels *data;
    train_nested_network *net;
    const train_nested_callbacks *callbacks;
    train_adam adam;
    train_cg cg;
    train_binariser binariser;
    train_sweep sweep;
    uint32_t *split;      /* all rows: [training | validation] */
    uint32_t *shuffled;   /* this epoch's training rows */
    const uint32_t *rows; /* this step's, in shuffled */
    uint32_t *kept;       /* [batch] truncations */
    int shuffled_epoch;   /* shuffled holds the epoch of `step` */
    size_t n_training, n_validation, batch;
    uint64_t step, steps, steps_per_epoch;
    train_nested_epoch sum;    /* of the epoch under way */
    train_nested_epoch *epoch; /* [options->epochs] */
    uint32_t epochs;           /* finished */
    uint64_t fingerprint, saved_step;
    int stop, saved;
    double seconds;
    /* line search */
    float *kept_parameter; /* [n] */
    double *lambda;        /* [units] */
    int line_begins;
    train_nested_loss line_loss;
} train_nested_run;

taper_status train_nested_begin(train_nested_run *run, taper_error *error);
void train_nested_end(train_nested_run *run);
void train_nested_shuffle(train_nested_run *run);
taper_status train_nested_save(train_nested_run *run, taper_error *error);
/* Thresholds of units first .. end - 1 from the binariser into the network. */
void train_nested_take_thresholds(train_nested_run *run, uint32_t first, uint32_t end);
/* Exact quantiles over the training rows into the network. */
taper_status train_nested_settle(train_nested_run *run, taper_error *error);
/* The message of a run that left the finite numbers. */
taper_status train_nested_diverged(const train_nested_run *run, double loss, taper_error *error);
#endif
