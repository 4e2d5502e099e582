/* steps.h -- the loop by which a small network learns: Adam with a cosine rate, running means of
 * the loss, progress, and checkpoints. The caller draws a step's examples, numbered by (seed,
 * step), so a checkpoint needs step, weights and moments alone.
 *
 * The room train/optimise/: how weights move.
 *   steps run              the loop that small networks share; what every loop needs
 *   checkpoint             a run on disk
 *   adam                   the optimiser of most; conjugate_gradient line_search: the paper's */
#ifndef TRAIN_STEPS_H
#define TRAIN_STEPS_H
#include "codec/backend/backend.h"
#include "train/optimise/adam.h"
#include "train/optimise/checkpoint.h"

/* What a step has seen, without and with the network: bits, or squared errors. */
typedef struct train_steps_sums {
    double now, before;
} train_steps_sums;

typedef struct train_steps_progress {
    uint64_t step, steps;
    double now, before; /* running means of the sums */
    double seconds_left;
} train_steps_progress;

/* Return nonzero to stop: the state is checkpointed, and what has been learned so far is used. */
typedef int train_steps_progress_fn(void *user, const train_steps_progress *progress);

/* Add the loss's gradient at step `step` to the gradient, and the losses to *sums; both are zero
 * before. */
typedef taper_status train_step_fn(void *context, uint64_t step, train_steps_sums *sums,
                                   taper_error *error);

typedef struct train_steps {
    const char *what;            /* in messages: "a conditional model" */
    float *parameter, *gradient; /* [n], borrowed */
    size_t n;
    float rate; /* Adam's peak: up over 100 steps or a twentieth of all, then a cosine down
                   to 0.001 of it */
    uint64_t step, steps; /* taken, and in all; at least 1 */
    uint64_t fingerprint; /* of options, shape and data (run.h) */
    train_saving saving;
    train_steps_sums mean;
} train_steps;

/* Take the steps that are left. *stopped (or NULL): whether progress (or NULL) ended them before.
 * TAPER_ERR_ARG: diverged; TAPER_ERR_NOMEM; what train_checkpoint_read and _write return, and what
 * a step did. The parameters are then undefined. */
taper_status train_steps_take(train_steps *s, codec_backend *be, train_step_fn *one, void *context,
                              train_steps_progress_fn *progress, void *user, int *stopped,
                              taper_error *error);

#endif
