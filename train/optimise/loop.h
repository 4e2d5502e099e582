/* loop.h -- the training loop of all networks: steps, epochs, the best network, detection of
 * divergence, progress, checkpoints.
 *
 * A learner defines what a step computes. All random numbers depend on (seed, step), so a
 * checkpoint only needs the number of the step and the learner's vectors, and a resumed run gives
 * the same bits. A step's losses and verdict remain on the device; they are downloaded every few
 * steps (train_device.look_every) and at the end of an epoch. A step whose loss or gradient is not
 * finite changes nothing, nor do later ones (train_judge_fn).
 *
 * With several ranks (train/parallel/ranks.h) each computes a part of the step's rows. Gradients
 * and losses are added up before the weights move, so that all ranks have the same weights. The
 * first rank alone reads and writes checkpoints, which do not depend on the number of ranks.
 *
 * Directory train/optimise/: optimisation of weights.
 *   loop run               the loop; helpers for the start of a run
 *   rank_sums              sums over ranks of arrays on the device
 *   steps                  a simplified interface for small networks
 *   checkpoint             a run in a file
 *   weights adam           the vectors; the optimiser of most networks
 *   conjugate_gradient line_search     the optimiser of the nested-dropout paper */
#ifndef TRAIN_LOOP_H
#define TRAIN_LOOP_H
#include "train/device/operations.h"
#include "train/optimise/adam.h"
#include "train/optimise/checkpoint.h"
#include "train/parallel/ranks.h"

typedef struct train_loop train_loop;

/* The optimiser of a learner: Adam, or conjugate gradients (conjugate_gradient.h). */
typedef enum train_optimiser { TRAIN_ADAM = 0, TRAIN_CG = 1 } train_optimiser;

/* The functions of a learner. They return TAPER_OK, or another status with *error filled in. `self`
 * is the learner. */
typedef struct train_learner {
    const char *what; /* in messages: "a conditional model" */
    /* 1: compute and move add up what the ranks have computed; 0: the loop does so after compute.
     */
    int sums;
    /* Before epoch `epoch` (from 0), or before the rest of it after a resume: orders its rows. May
     * be NULL. */
    taper_status (*begin_epoch)(void *self, uint64_t epoch, taper_error *error);
    /* Step `step` (from 0): its gradient into the weights' gradient, its losses into losses[0 ..
     * TRAIN_LOSSES) on the device. losses[0] is checked for divergence. */
    taper_status (*compute)(void *self, uint64_t step, double *losses, taper_error *error);
    /* Updates the weights, usually by train_loop_adam. NULL: Adam on all of them. */
    taper_status (*move)(void *self, train_loop *loop, const double *losses, taper_error *error);
    /* After an epoch: fills entry->figure. figure[0] is the loss on held-out rows, by which the
     * best network is chosen if the weights keep one. May be NULL. */
    taper_status (*measure)(void *self, train_history *entry, taper_error *error);
    /* After a resume: checks the parts of the checkpoint. May be NULL. */
    taper_status (*resumed)(void *self, const train_loop *loop, taper_error *error);
    /* After step `step` (from 1; possibly later and for several steps in a row).
     * mean[TRAIN_LOSSES]: of the losses, over the epoch so far or running. Return nonzero to stop:
     * the state is saved. May be NULL. */
    int (*progress)(void *self, const train_loop *loop, uint64_t step, const double *mean,
                    double seconds_left);
    /* After every epoch, from 1, including those before a resume, whose seconds are 0. May be
     * NULL. */
    void (*epoch)(void *self, const train_loop *loop, uint32_t epoch, const train_history *entry,
                  double seconds);
} train_learner;

struct train_loop {
    /* --- filled by the caller --- */
    const train_learner *learner;
    void *self;
    train_stream *stream;
    train_weights *weights;
    train_ranks *ranks; /* NULL: one */
    /* At least 1 each; equal for learners without epochs. */
    uint64_t steps, steps_per_epoch;
    /* Adam's peak; limit of the gradient's norm, 0: none. */
    float rate, max_norm;
    /* Steps in which the rate rises (adam.h). */
    uint64_t warmup;
    /* Losses of this magnitude count as diverged; or INFINITY. */
    double most_loss;
    /* For divergence; NULL: "lower the rate". */
    const char *remedy;
    /* Epochs without gain after which it ends; 0: never. */
    uint32_t patience;
    /* 1: losses are running means over about 200 steps; 0: means of the epoch */
    int running;
    /* Of options, shape and data (run.h); 0 without checkpoints. */
    uint64_t fingerprint;
    train_saving saving;
    /* Between two checkpoints within an epoch, at most. */
    double checkpoint_seconds;
    uint64_t checkpoint_steps;                          /* likewise, steps; 0: no limit */
    train_checkpoint_part part[TRAIN_CHECKPOINT_PARTS]; /* further state of the learner */
    uint32_t parts;
    /* On held-out rows, before the first step; INFINITY: unknown. */
    double start_loss;
    /* --- set by the loop, readable --- */
    uint64_t step; /* steps taken */
    /* First step, from 1, that diverged; a move may set it; 0: none. */
    uint64_t diverged;
    /* Of the checkpoint on disk, if `saved`. */
    uint64_t saved_step;
    int saved;   /* 1: this run has written a checkpoint */
    int stopped; /* by progress */
    /* On held-out rows; the last epoch among equals. */
    double best_loss;
    uint32_t stale_epochs;  /* since the best */
    train_history *history; /* [epochs] */
    uint32_t n_history;
    double seconds; /* since the start of this process */
    /* Parts of these seconds: in steps, until their losses were downloaded; and of that, until the
     * host had queued the steps. */
    double step_seconds, host_seconds;
    /* --- private --- */
    double sum[TRAIN_LOSSES]; /* of the epoch, or running means */
    int wanted;               /* as in train_request, by any rank */
    /* Steps whose losses have been downloaded. */
    uint64_t looked;
    uint64_t first_step;
    /* left_at: start of the first step after a download */
    double started, saved_at, left_at;
    train_arena arena;
    /* On the device: [TRAIN_MOST_LOOK][TRAIN_LOSSES], [1]. */
    double *losses, *squares;
    train_verdict *verdict; /* on the device */
};

/* Takes the remaining steps, from a checkpoint if there is one to resume. On success the loop's
 * members say how it ended. Divergence is a success: `diverged` is set, the weights are those
 * before that step, and train_loop_diverged has the message. Free the loop after a failure too.
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; errors of checkpoints and of the learner; the weights are then
 * undefined. */
taper_status train_loop_run(train_loop *loop, taper_error *error);
void train_loop_free(train_loop *loop); /* its own memory, not the learner's */

/* For a learner's move: a step of Adam at learning rate `rate` on ranges of the weights, whose
 * gradient is checked and clipped jointly. The other weights and their moments are not changed. */
taper_status train_loop_adam(train_loop *loop, float rate, const train_range *range, size_t ranges,
                             const double *losses);

/* A message: which step diverged, what is kept (or NULL), the last checkpoint, the remedy. */
void train_loop_diverged(const train_loop *loop, const char *kept, char *words, size_t size);

#endif
