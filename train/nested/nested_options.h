/* nested_options.h -- the options, progress and result of a nested-dropout run. */
#ifndef TRAIN_NESTED_OPTIONS_H
#define TRAIN_NESTED_OPTIONS_H
#include "train/nested/nested_gradient.h"
#include "train/nested/regulariser.h"
#include "train/nested/sweep.h"
#include "train/objectives/prefixes.h"
#include "train/optimise/loop.h"
#include "train/sampling/truncation.h"

typedef struct train_nested_options {
    const train_truncation *truncation; /* p_B over the network's units; NULL: every example keeps
                                           all, a standard autoencoder */
    train_sweep_options sweep;          /* default off */
    train_regulariser regulariser;      /* of W_L's rows; default none */
    float corruption, dropout;          /* default 0 and 0; the paper's are 0.1 and 0.2 */
    float invariance;                   /* default 0: weight of equation 14, which compares binary
                                           units' margins (train_unit_moves_fn) ... */
    float perturbation;                 /* default 0.01: ... and the variance of its noise */
    double beta;                        /* default 0.5: fraction of ones, binary networks */
    int orthonormal; /* default 0; 1: the decoder's rows stay orthonormal (orthonormal.h):
                        linear units, one layer, Adam, no sweep */
    /* Labels: the first class_units units also learn that neighbours share their label
     * (nested_classes.h), by prefixes of class_lengths, which rise to class_units; none are given:
     * 8, 16, 32 .. and all. Of binary networks, straight through; no sweep. Default 0: none do. */
    uint32_t class_units;
    train_prefix_list class_lengths;
    float class_weight;        /* default 1: of that loss against mse / scale^2; 0 .. */
    int straight_through;      /* default 1; 0: no gradient through thresholds, as the paper */
    train_optimiser optimiser; /* default TRAIN_ADAM */
    uint32_t epochs;           /* default 20 */
    uint32_t batch;            /* default 250 rows; the paper's for TRAIN_CG is 10,000 */
    uint32_t line_searches;    /* default 3: TRAIN_CG steps on each minibatch */
    float rate;                /* default 5e-3: Adam's peak; falls by a cosine to 0.001 of it */
    uint32_t max_validation;   /* default 2000 rows, held out from data; 0: none are */
    uint64_t seed;             /* default 1 */
    train_saving saving;       /* after every epoch and ... */
    double checkpoint_seconds; /* default 60: ... when this long has passed */
} train_nested_options;

/* One epoch's entry of the learning curve. */
typedef struct train_nested_epoch {
    double loss, mse, invariance;      /* means over the epoch, see train_nested_loss */
    double validation_mse;             /* expectation over the truncation's lengths (equation 16) */
    double full_mse;                   /* on validation rows with all units */
    uint32_t frozen;                   /* units swept so far */
    double seconds;                    /* since the start of this process; 0: before a resume */
    double multiply_adds;              /* of a step's matrix products, mean, per row */
    uint64_t steps;                    /* so far */
    double step_seconds, host_seconds; /* of `seconds`: as in loop.h */
} train_nested_epoch;

typedef struct train_nested_callbacks {
    void *user;
    /* After every step, maybe some of them late, in a row; loss: mean of the epoch so far. Return
     * nonzero to stop. seconds_left: if all epochs are run. */
    int (*step)(void *user, uint64_t step, uint64_t steps, uint32_t frozen, double loss,
                double seconds_left);
    void (*epoch)(void *user, uint32_t epoch, const train_nested_epoch *entry);
    /* Before the first step: the device has memory for `rows` rows at a time alone, where it would
     * take `wanted` of a batch or a look. Sums have another order then: results are the
     * same but for their last places, and a run repeats bit for bit where as many rows fit. */
    void (*fewer_rows)(void *user, const char *device, size_t rows, size_t wanted);
    /* A sentence on how the run goes about it, such as that its images do not fit the device. */
    void (*say)(void *user, const char *words);
} train_nested_callbacks;

typedef struct train_nested_result {
    uint64_t steps; /* done */
    uint32_t epochs, stopped;
    train_nested_epoch last;
    double seconds;
} train_nested_result;

#endif
