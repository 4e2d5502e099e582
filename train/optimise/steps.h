/* steps.h -- what small networks ask of the loop (loop.h): Adam with a cosine rate, no epochs,
 * running means of two losses. */
#ifndef TRAIN_STEPS_H
#define TRAIN_STEPS_H
#include "train/optimise/loop.h"

typedef struct train_steps_progress {
    uint64_t step, steps;
    double now, before; /* running means: of what is lost with the network, and without */
    double seconds_left;
} train_steps_progress;

/* Return nonzero to stop: the state is checkpointed, and what has been learned so far is used. */
typedef int train_steps_progress_fn(void *user, const train_steps_progress *progress);

typedef struct train_steps {
    const char *what; /* in messages: "a conditional model" */
    train_stream *stream;
    train_weights *weights;
    float rate;     /* Adam's peak: up over 100 steps or a twentieth of all, then a cosine down to
                       0.001 of it */
    uint64_t steps; /* at least 1 */
    uint64_t fingerprint; /* of options, shape and data (run.h) */
    train_saving saving;
    double before; /* what a step loses without the network; 0: losses[1] says */
    /* Step `step` (from 0): add the loss's gradient to the weights' gradient, and the losses to
     * losses[0 .. 1] on the device; all are zero before. */
    taper_status (*compute)(void *self, uint64_t step, double *losses, taper_error *error);
    void *self;
    train_steps_progress_fn *progress; /* may be NULL */
    void *user;
} train_steps;

/* Take the steps that are left. *stopped (or NULL): whether progress ended them before.
 * TAPER_ERR_ARG: diverged; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; what train_checkpoint_read and _write
 * return, and what a step did. The parameters are then undefined. */
taper_status train_steps_take(train_steps *steps, int *stopped, taper_error *error);

#endif
