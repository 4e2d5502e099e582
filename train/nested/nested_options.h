/* nested_options.h -- options, progress and result of a nested-dropout run. */
#ifndef TRAIN_NESTED_OPTIONS_H
#define TRAIN_NESTED_OPTIONS_H
#include "train/nested/nested_gradient.h"
#include "train/nested/regulariser.h"
#include "train/nested/sweep.h"
#include "train/objectives/prefixes.h"
#include "train/optimise/loop.h"
#include "train/sampling/truncation.h"

typedef struct train_nested_options {
    /* p_B over the network's units; NULL: every example keeps all units, as in a standard
     * autoencoder. */
    const train_truncation *truncation;
    train_sweep_options sweep;     /* default off */
    train_regulariser regulariser; /* of W_L's rows; default none */
    /* Default 0 and 0; the paper's are 0.1 and 0.2. */
    float corruption, dropout;
    /* Default 0: weight of equation 14, which compares margins of binary units
     * (train_unit_moves_fn). */
    float invariance;
    /* Default 0.01: variance of the noise of equation 14. */
    float perturbation;
    /* Default 0.5: fraction of ones in binary networks. */
    double beta;
    /* Default 0. 1: the decoder's rows are kept orthonormal (orthonormal.h). Requires linear units,
     * one layer, Adam, and no sweep. */
    int orthonormal;
    /* Default 0. If above 0, the first class_units units also learn from labels (nested_classes.h).
     * Requires a binary network with straight_through and no sweep. */
    uint32_t class_units;
    /* Prefix lengths for it, rising to class_units; if there are none: 8, 16, 32 .. and all. */
    train_prefix_list class_lengths;
    /* Default 1: of that loss against mse / scale^2; at least 0. */
    float class_weight;
    /* Default 1; 0: no gradient through thresholds, as in the paper. */
    int straight_through;
    train_optimiser optimiser; /* default TRAIN_ADAM */
    uint32_t epochs;           /* default 20 */
    /* Default 250 rows; the paper has 10,000 for TRAIN_CG. */
    uint32_t batch;
    /* Default 3: TRAIN_CG steps on each minibatch. */
    uint32_t line_searches;
    /* Default 5e-3: Adam's peak; a cosine decay to 0.001 of it. */
    float rate;
    /* Default 2000 rows are held out; 0: none. */
    uint32_t max_validation;
    uint64_t seed; /* default 1 */
    /* Checkpoints, after every epoch and every checkpoint_seconds. */
    train_saving saving;
    double checkpoint_seconds; /* default 60 */
} train_nested_options;

/* One epoch's entry of the learning curve. */
typedef struct train_nested_epoch {
    /* Means over the epoch, see train_nested_loss. */
    double loss, mse, invariance;
    /* Expectation over the truncation's lengths (equation 16). */
    double validation_mse;
    double full_mse; /* on validation rows with all units */
    uint32_t frozen; /* units frozen so far */
    /* Since the start of this process; 0: before a resume. */
    double seconds;
    /* Of a step's matrix products, mean, per row. */
    double multiply_adds;
    uint64_t steps;                    /* so far */
    double step_seconds, host_seconds; /* parts of `seconds`, as in loop.h */
} train_nested_epoch;

typedef struct train_nested_callbacks {
    void *user;
    /* Called for every step, possibly later and for several steps in a row. loss: mean of the epoch
     * so far. seconds_left: until all epochs are done. Return nonzero to stop. */
    int (*step)(void *user, uint64_t step, uint64_t steps, uint32_t frozen, double loss,
                double seconds_left);
    void (*epoch)(void *user, uint32_t epoch, const train_nested_epoch *entry);
    /* Called before the first step if memory is short. The device takes `rows` rows at a time,
     * fewer than the `wanted` rows of a batch or an evaluation. Sums are then in another order, so
     * results differ in their last places. Runs with equal `rows` give the same bits. */
    void (*fewer_rows)(void *user, const char *device, size_t rows, size_t wanted);
    /* A message about the run, for example that its images do not fit the device. */
    void (*say)(void *user, const char *words);
} train_nested_callbacks;

typedef struct train_nested_result {
    uint64_t steps; /* done */
    uint32_t epochs, stopped;
    train_nested_epoch last;
    double seconds;
} train_nested_result;

#endif
