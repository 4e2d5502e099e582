/* nested_step.h -- the steps of a nested-dropout run, for its loop (nested_trainer.c). */
#ifndef TRAIN_NESTED_STEP_H
#define TRAIN_NESTED_STEP_H
#include "train/nested/nested_classes.h"
#include "train/nested/nested_options.h"
#include "train/nested/nested_part.h"
#include "train/nested/orthonormal.h"
#include "train/optimise/conjugate_gradient.h"
#include "train/optimise/loop.h"
#include "train/sampling/dataset.h"

typedef struct train_nested_run {
    const train_nested_options *options;
    const train_pixels *data;
    train_nested_network *net;
    const train_nested_callbacks *callbacks;
    train_learner learner;
    train_loop loop;
    train_cg cg;
    train_sweep sweep;
    train_orthonormal orthonormal; /* if enabled in the options */
    train_nested_part part;
    size_t batch;       /* rows of a step, of all ranks */
    uint32_t *kept;     /* [batch] truncations of the step */
    uint32_t *own_kept; /* those of the rows that are here */
    /* [batch] labels of the step; NULL without classes */
    uint32_t *label;
    train_nested_classes classes;
    train_nested_epoch last;
    /* on the device */
    train_arena arena;
    double *lambda; /* [units] coefficients of a line search */
    /* of the step in progress */
    uint64_t step;
    size_t first, n; /* its rows that are here, in part.own */
    train_fed rows;
    double *losses; /* on the device */
    int line_begins;
    train_nested_loss line_loss;
    taper_error *error; /* for messages of other ranks */
} train_nested_run;

/* The settings of the step in progress: run->step, run->kept, and the rows from `first` on. */
train_nested_step train_nested_step_of(train_nested_run *run);
/* The learner's functions (loop.h), by either optimiser. */
taper_status train_nested_compute(void *run, uint64_t step, double *losses, taper_error *error);
taper_status train_nested_move(void *run, train_loop *loop, const double *losses,
                               taper_error *error);
#endif
