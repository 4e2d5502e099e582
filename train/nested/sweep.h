/* sweep.h -- unit sweeping: which units are finished (Rippel et al. 2014, section 4.1).
 *
 * Under a decaying p_B late units are seldom kept and learn slowly, while later ones disturb an
 * early unit ever less. So units are frozen from the front, one after the other, as they converge,
 * and the truncation is drawn from what is left.
 *
 * Every `check` steps the front unit is tested. It is frozen when its row of the code layer has
 * moved by less than `tolerance` of its length since the last test, or when it has used its budget
 * of fraction x steps / units steps. The budget may be below 1: several units are then frozen at
 * once. The last unit is never frozen. */
#ifndef TRAIN_SWEEP_H
#define TRAIN_SWEEP_H
#include "train/device/operations.h"

typedef struct train_sweep_options {
    int on;           /* default 0 */
    uint32_t check;   /* default 10 steps; 1.. */
    double tolerance; /* default 1e-3; 0: never converged, budgets alone */
    double warmup;    /* default 0.2: of the run's steps before the first unit is frozen */
    double fraction;  /* default 0.8: of the steps, for all units; warmup + fraction <= 1 */
} train_sweep_options;

/* What a checkpoint holds, beside `looked`. */
typedef struct train_sweep_state {
    uint64_t frozen;  /* units */
    double deadline;  /* step at which the front unit's budget ends */
    uint64_t started; /* 1 + the step at which the front unit was last looked at; 0: never */
} train_sweep_state;

typedef struct train_sweep {
    train_sweep_options options;
    uint64_t steps; /* of the run */
    uint32_t units;
    size_t inputs;
    train_sweep_state state;
    train_stream *stream;
    float *looked;   /* [inputs] on the device: the front unit's row when it was last looked at */
    double *squares; /* [2] on the device: how far it moved */
} train_sweep;

/* TAPER_ERR_ARG-like 0 when options are out of range. */
int train_sweep_options_are_legal(const train_sweep_options *options);
/* The stream and what is on its device, looked[inputs] and squares[2], are borrowed. */
void train_sweep_begin(train_sweep *sweep, const train_sweep_options *options, uint64_t steps,
                       uint32_t units, size_t inputs, train_stream *stream, float *looked,
                       double *squares);
/* After `step` steps: freeze what is due, in state.frozen. weights are the code layer's,
 * [units][inputs], on the device. A test waits for the device. TAPER_ERR_DEVICE. */
taper_status train_sweep_after_step(train_sweep *sweep, uint64_t step, const float *weights);
#endif
