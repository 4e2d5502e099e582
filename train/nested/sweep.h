/* sweep.h -- unit sweeping: which units are finished (Rippel et al. 2014, section 4.1).
 *
 * Under a decaying p_B late units are seldom kept and learn slowly, while later ones disturb an
 * early unit ever less. So units are frozen from the front, one after the other, and the truncation
 * is drawn from what is left.
 *
 * The unit in front is frozen when its row of the code layer has converged, or when its time is
 * over: what is left of (warmup + fraction) x steps, shared evenly among the units left, so that
 * what one leaves goes to those after it. Converged: every `check` steps the row is looked at; the
 * cosine between its last two moves, from look to look, lies below `tolerance`. A row on its way
 * moves on in one direction (cosines of 0.5 and more are seen), one that has arrived goes to and
 * fro with its minibatches (around 0), whatever the rate and its length are. The last unit is never
 * frozen. */
#ifndef TRAIN_SWEEP_H
#define TRAIN_SWEEP_H
#include "train/device/operations.h"

typedef struct train_sweep_options {
    int on;           /* default 0 */
    uint32_t check;   /* default 10 steps; 1.. */
    double tolerance; /* default 0.1; -1..1; -1: never converged, time alone */
    double warmup;    /* default 0.05: of the steps before the first unit is frozen */
    double fraction;  /* default 0.95: of the steps, for all units; warmup + fraction <= 1 */
} train_sweep_options;

/* What a checkpoint holds, beside `looked`. */
typedef struct train_sweep_state {
    uint64_t frozen;  /* units */
    double deadline;  /* step at which the front unit's time is over */
    uint64_t started; /* 1 + the step at which the front unit was last looked at; 0: never */
    uint64_t moves;   /* of the front unit, from look to look */
} train_sweep_state;

typedef struct train_sweep {
    train_sweep_options options;
    uint64_t steps; /* of the run */
    uint32_t units;
    size_t inputs;
    train_sweep_state state;
    train_stream *stream;
    float *looked;    /* [3][inputs] on the device: the front unit's row when it was last looked at,
                         its move before that, and room */
    double *products; /* [3] on the device: room for products of two moves */
} train_sweep;

/* TAPER_ERR_ARG-like 0 when options are out of range. */
int train_sweep_options_are_legal(const train_sweep_options *options);
/* The stream and what is on its device, looked[3][inputs] and products[3], are borrowed. */
void train_sweep_begin(train_sweep *sweep, const train_sweep_options *options, uint64_t steps,
                       uint32_t units, size_t inputs, train_stream *stream, float *looked,
                       double *products);
/* After `step` steps: freeze what is due, in state.frozen. weights are the code layer's,
 * [units][inputs], on the device. A look waits for the device. TAPER_ERR_DEVICE. */
taper_status train_sweep_after_step(train_sweep *sweep, uint64_t step, const float *weights);
#endif
