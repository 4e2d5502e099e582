/* loop.h -- the loop by which every network here learns: steps, epochs, the best network, the test
 * for divergence, progress, checkpoints.
 *
 * A learner says what a step computes; all that is random in it is numbered by (seed, step), so
 * that a checkpoint needs the step's number and the learner's vectors alone, and a resumed run
 * equals an unbroken one bit for bit. A step's losses and the verdict over it stay on the device,
 * and come down every few steps (train_device.look_every) or when an epoch ends. A step whose loss
 * or gradient is not finite moves nothing, nor do those after it (train_judge_fn).
 *
 * The room train/optimise/: how weights move.
 *   loop run               the loop; what beginning a run needs
 *   steps                  what small networks ask of the loop
 *   checkpoint             a run on disk
 *   weights adam           the vectors; the optimiser of most
 *   conjugate_gradient line_search     the paper's */
#ifndef TRAIN_LOOP_H
#define TRAIN_LOOP_H
#include "train/device/operations.h"
#include "train/optimise/adam.h"
#include "train/optimise/checkpoint.h"

typedef struct train_loop train_loop;

/* How a learner moves its weights: Adam, or conjugate gradients (conjugate_gradient.h). */
typedef enum train_optimiser { TRAIN_ADAM = 0, TRAIN_CG = 1 } train_optimiser;

/* What the loop asks of a learner. Functions return a status with *error filled, or TAPER_OK; those
 * that may be NULL say so. `self` is the learner. */
typedef struct train_learner {
    const char *what; /* in messages: "a conditional model" */
    /* Before epoch `epoch` (from 0), or what is left of it after a resume: order its rows. May be
     * NULL. */
    taper_status (*begin_epoch)(void *self, uint64_t epoch, taper_error *error);
    /* Step `step` (from 0): its gradient into the weights' gradient, its losses into losses[0 ..
     * TRAIN_LOSSES) on the device, of which [0] is judged. */
    taper_status (*compute)(void *self, uint64_t step, double *losses, taper_error *error);
    /* Move the weights: usually by train_loop_adam. NULL: by Adam, all of them. */
    taper_status (*move)(void *self, train_loop *loop, const double *losses, taper_error *error);
    /* After an epoch: entry->figure, of which [0] is the loss on held-out rows by which the best
     * network is chosen where the weights keep one. May be NULL. */
    taper_status (*measure)(void *self, train_history *entry, taper_error *error);
    /* After a resume, when the parts of the checkpoint are back: are they legal? May be NULL. */
    taper_status (*resumed)(void *self, const train_loop *loop, taper_error *error);
    /* After step `step` (from 1; maybe some of them late, in a row): mean[TRAIN_LOSSES] of the
     * losses, over the epoch so far or running. Return nonzero to stop: the state is saved. May be
     * NULL. */
    int (*progress)(void *self, const train_loop *loop, uint64_t step, const double *mean,
                    double seconds_left);
    /* After every epoch, from 1, also those before a resume, whose seconds are 0. May be NULL. */
    void (*epoch)(void *self, const train_loop *loop, uint32_t epoch, const train_history *entry,
                  double seconds);
} train_learner;

struct train_loop {
    /* --- filled by the caller --- */
    const train_learner *learner;
    void *self;
    train_stream *stream;
    train_weights *weights;
    uint64_t steps, steps_per_epoch; /* at least 1 each; learners without epochs: the same */
    float rate, max_norm;            /* Adam's peak; its gradient's norm at most, 0: any */
    uint64_t warmup;                 /* steps in which the rate rises (adam.h) */
    double most_loss;                /* a loss of this magnitude has diverged; INFINITY */
    const char *remedy;              /* of a divergence; NULL: "lower the rate" */
    uint32_t patience;               /* epochs without gain after which it ends; 0: never */
    int running; /* 1: the means of losses run on, over about 200 steps; 0: they are an epoch's */
    uint64_t fingerprint; /* of options, shape and data (run.h); 0 where nothing is saved */
    train_saving saving;
    double checkpoint_seconds; /* between two checkpoints within an epoch, at most ... */
    uint64_t checkpoint_steps; /* ... and steps; 0: any number */
    train_checkpoint_part part[TRAIN_CHECKPOINT_PARTS]; /* more of the learner's state */
    uint32_t parts;
    double start_loss; /* on held-out rows, before the first step; INFINITY: unknown */
    /* --- the loop's own, to be read --- */
    uint64_t step;          /* steps taken */
    uint64_t diverged;      /* step, from 1, that diverged; a learner's move may set it; 0: none */
    uint64_t saved_step;    /* in the checkpoint on disk ... */
    int saved;              /* ... if there is one of this run */
    int stopped;            /* by progress */
    double best_loss;       /* on held-out rows; of equals the last epoch is kept */
    uint32_t stale_epochs;  /* since the best */
    train_history *history; /* [epochs] */
    uint32_t n_history;
    double seconds; /* since this process began */
    /* of these: in steps, until what they lost had come down; and of that, until the host had put
     * them on the stream */
    double step_seconds, host_seconds;
    /* --- private --- */
    double sum[TRAIN_LOSSES]; /* of the epoch, or running means */
    uint64_t looked;          /* steps whose losses have come down */
    uint64_t first_step;
    double started, saved_at, left_at; /* left_at: the first step after a look began */
    train_arena arena;
    double *losses, *squares; /* on the device: [TRAIN_MOST_LOOK][TRAIN_LOSSES], [1] */
    train_verdict *verdict;   /* on the device */
};

/* Take the steps that are left, from a checkpoint if there is one to resume. On success the loop's
 * fields say how it ended; `diverged` is a success here, weights are those before that step, and
 * train_loop_diverged has words for it. Free it after a failure, too. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE; what checkpoints and the learner return; the weights are then undefined. */
taper_status train_loop_run(train_loop *loop, taper_error *error);
void train_loop_free(train_loop *loop); /* its memory; the learner's stays */

/* For a learner's move: a step of Adam at learning rate `rate` on parts of the weights, whose
 * gradient is judged and clipped together; the others, moments included, stay as they are. */
taper_status train_loop_adam(train_loop *loop, float rate, const train_range *range, size_t ranges,
                             const double *losses);

/* A sentence: which step diverged, what is kept (or NULL), the last checkpoint, the remedy. */
void train_loop_diverged(const train_loop *loop, const char *kept, char *words, size_t size);

#endif
