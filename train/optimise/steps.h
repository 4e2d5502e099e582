/* steps.h -- a simplified interface of the loop (loop.h) for small networks: Adam with a cosine
 * rate, no epochs, running means of two losses. */
#ifndef TRAIN_STEPS_H
#define TRAIN_STEPS_H
#include "train/optimise/loop.h"

typedef struct train_steps_progress {
    uint64_t step, steps;
    /* Running means of the loss with the network, and without. */
    double now, before;
    double seconds, seconds_left; /* since the start of this process's steps; to their end */
} train_steps_progress;

/* Return nonzero to stop: the state is saved, and the network trained so far is used. */
typedef int train_steps_progress_fn(void *user, const train_steps_progress *progress);

typedef struct train_steps {
    const char *what; /* in messages: "a conditional model" */
    train_stream *stream;
    train_weights *weights;
    train_ranks *ranks; /* NULL: one; otherwise compute adds this rank's part */
    /* Adam's peak. It is reached after 100 steps or a twentieth of all; then a cosine decay to
     * 0.001 of it. */
    float rate;
    uint64_t steps;       /* at least 1 */
    uint64_t fingerprint; /* of options, shape and data (run.h) */
    train_saving saving;
    /* Loss of a step without the network; 0: it is losses[1]. */
    double before;
    /* Step `step` (from 0): adds its gradient to the weights' gradient, and its losses to
     * losses[0 .. 1] on the device. Both are zeroed before. */
    taper_status (*compute)(void *self, uint64_t step, double *losses, taper_error *error);
    void *self;
    train_steps_progress_fn *progress; /* may be NULL */
    void *user;
} train_steps;

/* Takes the remaining steps. *stopped (or NULL): by progress. TAPER_ERR_ARG: divergence;
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; errors of train_checkpoint_read and _write, and of a step. The
 * parameters are then undefined. */
taper_status train_steps_take(train_steps *steps, int *stopped, taper_error *error);

#endif
