/* nested_step.h -- the steps of a nested-dropout run, for its loop (nested_trainer.c). */
#ifndef TRAIN_NESTED_STEP_H
#define TRAIN_NESTED_STEP_H
#include "train/device/feed.h"
#include "train/nested/nested_classes.h"
#include "train/nested/nested_options.h"
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
    size_t n_training, n_validation, batch;
    uint32_t *split;    /* all rows: [training | validation] */
    uint32_t *shuffled; /* this epoch's training rows */
    uint32_t *kept;     /* [batch] truncations of the step */
    /* [batch] labels of the step; NULL without classes */
    uint32_t *label;
    train_nested_classes classes;
    train_nested_epoch last;
    /* on the device */
    train_feed feed;                /* the data */
    train_order split_order, order; /* order: shuffled */
    train_arena arena;
    double *lambda; /* [units] coefficients of a line search */
    /* of the step in progress */
    uint64_t step;
    train_fed rows;
    double *losses; /* on the device */
    int line_begins;
    train_nested_loss line_loss;
} train_nested_run;

/* The settings of the step in progress. */
train_nested_step train_nested_step_of(train_nested_run *run);
/* The learner's functions (loop.h), by either optimiser. */
taper_status train_nested_compute(void *run, uint64_t step, double *losses, taper_error *error);
taper_status train_nested_move(void *run, train_loop *loop, const double *losses,
                               taper_error *error);
#endif
