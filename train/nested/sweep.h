/* sweep.h -- unit sweeping: decides which units are frozen (Rippel et al. 2014, section 4.1).
 *
 * Under a decreasing p_B, late units are seldom kept and learn slowly, while they disturb early
 * units less and less. So units are frozen in order, and the truncation is drawn from the others.
 *
 * The first unfrozen unit is frozen when its row of the code layer has converged or its time is
 * over. Its time is an equal share of what remains of (warmup + fraction) x steps, so time that a
 * unit does not use goes to later units. Every `check` steps, the row is compared with its last
 * value. It has converged if the cosine between its last two moves is below `tolerance`. A row that
 * still learns moves in one direction (cosines of 0.5 and more were observed). A converged one
 * fluctuates with its minibatches (around 0), independent of the rate and of its length. The last
 * unit is never frozen. */
#ifndef TRAIN_SWEEP_H
#define TRAIN_SWEEP_H
#include "train/device/operations.h"

typedef struct train_sweep_options {
    int on;         /* default 0 */
    uint32_t check; /* default 10 steps; at least 1 */
    /* Default 0.1; -1..1; -1: never converged, only time counts. */
    double tolerance;
    /* Default 0.05: fraction of the steps before the first unit is frozen. */
    double warmup;
    /* Default 0.95: of the steps, for all units; warmup + fraction <= 1. */
    double fraction;
} train_sweep_options;

/* The state in a checkpoint, together with `looked`. */
typedef struct train_sweep_state {
    uint64_t frozen; /* units */
    /* Step at which the first unfrozen unit's time is over. */
    double deadline;
    /* 1 + the step at which that unit was last checked; 0: never */
    uint64_t started;
    uint64_t moves; /* of that unit, between checks */
} train_sweep_state;

typedef struct train_sweep {
    train_sweep_options options;
    uint64_t steps; /* of the run */
    uint32_t units;
    size_t inputs;
    train_sweep_state state;
    train_stream *stream;
    /* [3][inputs] on the device: the first unfrozen unit's row at its last check, its move before
     * that, and scratch. */
    float *looked;
    /* [3] on the device: scratch for products of two moves */
    double *products;
} train_sweep;

/* Returns 0 if options are out of range, else 1. */
int train_sweep_options_are_legal(const train_sweep_options *options);
/* stream, looked[3][inputs] and products[3] on its device are borrowed. */
void train_sweep_begin(train_sweep *sweep, const train_sweep_options *options, uint64_t steps,
                       uint32_t units, size_t inputs, train_stream *stream, float *looked,
                       double *products);
/* Call it after `step` steps: freezes the units that are due, in state.frozen. weights are the code
 * layer's [units][inputs], on the device. A check waits for the device. TAPER_ERR_DEVICE. */
taper_status train_sweep_after_step(train_sweep *sweep, uint64_t step, const float *weights);
#endif
