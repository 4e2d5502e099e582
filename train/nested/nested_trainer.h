/* nested_trainer.h -- training by nested dropout as in Rippel, Gelbart & Adams (2014): truncation,
 * unit sweeping, adaptive regularisation, binarisation, invariance, corruption, dropout, and either
 * of two optimisers.
 *
 *     train_nested_options options = train_nested_defaults();
 *     train_nested_network net;
 *     TAPER_TRY(train_nested_create(&net, &shape, &be, mean, scale, options.seed));
 *     TAPER_TRY(train_nested(&options, &data, &net, NULL, &result, error));
 *
 * Deterministic: the same options, data, network and kind of device give the same weights bit for
 * bit, for any number of threads, interrupted and resumed or not.
 *
 * The room train/nested/: the autoencoders of the paper, over whole units.
 *   nested_trainer      the loop; nested_run: how it begins, is saved and ends
 *   nested_network      the network; nested_gradient: one step, nested_errors: errors at every
 *                       length, nested_parts:
 *                       what the three share
 *   sweep               units frozen one after the other
 *   regulariser         weight decay with a coefficient for each unit
 *   binariser           thresholds that set a unit's share of ones */
#ifndef TRAIN_NESTED_TRAINER_H
#define TRAIN_NESTED_TRAINER_H
#include "train/nested/nested_network.h"
#include "train/nested/regulariser.h"
#include "train/nested/sweep.h"
#include "train/optimise/checkpoint.h"
#include "train/sampling/truncation.h"

typedef enum train_optimiser { TRAIN_ADAM = 0, TRAIN_CG = 1 } train_optimiser;

typedef struct train_nested_options {
    const train_truncation *truncation; /* p_B over the network's units; NULL: every example keeps
                                           all, a standard autoencoder */
    train_sweep_options sweep;          /* default off */
    train_regulariser regulariser;      /* of W_L's rows; default none */
    float corruption, dropout;          /* default 0 and 0; the paper's are 0.1 and 0.2 */
    float invariance;                   /* default 0: weight of equation 14 ... */
    float perturbation;                 /* default 0.01: ... and the variance of its noise */
    double beta;                        /* default 0.5: share of ones, binary networks */
    int straight_through;      /* default 1; 0: no gradient through thresholds, as the paper */
    train_optimiser optimiser; /* default TRAIN_ADAM */
    uint32_t epochs;           /* default 20 */
    uint32_t batch;            /* default 250 rows; the paper's for TRAIN_CG is 10,000 */
    uint32_t line_searches;    /* default 3: TRAIN_CG steps on each minibatch */
    float rate; /* default 5e-3: Adam's peak; cosine to 0.001 of it, when sweeping to half */
    uint32_t max_validation;   /* default 2000 rows, held out from data; 0: none are */
    uint64_t seed;             /* default 1 */
    const char *checkpoint;    /* path or NULL; written after every epoch and ... */
    double checkpoint_seconds; /* default 60: ... when this long has passed */
    int resume;                /* go on from the checkpoint if the file exists */
    const formats_atomic_watch *watch; /* of the checkpoint's file; NULL: none */
} train_nested_options;

train_nested_options train_nested_defaults(void);

/* One epoch's entry of the learning curve. */
typedef struct train_nested_epoch {
    double loss, mse, invariance; /* means over the epoch, see train_nested_loss */
    double validation_mse;        /* expectation over the truncation's lengths (equation 16) */
    double full_mse;              /* on validation rows with all units */
    uint32_t frozen;              /* units swept so far */
    double seconds;               /* since the start of this process */
    double multiply_adds;         /* of a step's matrix products, mean, per row */
} train_nested_epoch;

typedef struct train_nested_callbacks {
    void *user;
    /* After every step; return nonzero to stop. seconds_left: if all epochs are run. */
    int (*step)(void *user, uint64_t step, uint64_t steps, uint32_t frozen, double loss,
                double seconds_left);
    void (*epoch)(void *user, uint32_t epoch, const train_nested_epoch *entry);
} train_nested_callbacks;

typedef struct train_nested_result {
    uint64_t steps; /* done */
    uint32_t epochs, stopped;
    train_nested_epoch last;
    double seconds;
} train_nested_result;

/* Train net in place (from what it holds). Binary networks: at the end the thresholds are exact
 * quantiles over the training rows. TAPER_ERR_ARG: options out of range, data that do not fit the
 * network, a checkpoint of another run, or training has diverged: a loss or gradient was not
 * finite; the text names the step and the last good checkpoint, net is as it was before that step.
 * TAPER_ERR_NOMEM; TAPER_ERR_IO, TAPER_ERR_CORRUPT, ...: the checkpoint (checkpoint.h). callbacks
 * and result may be NULL. */
taper_status train_nested(const train_nested_options *options, const train_pixels *data,
                          train_nested_network *net, const train_nested_callbacks *callbacks,
                          train_nested_result *result, taper_error *error);

/* Mean image of data, and the standard deviation of a pixel component around it (at least 1). */
void train_nested_statistics(const train_pixels *data, float *mean, float *scale);

/* Expected squared error over the truncation's lengths (equation 16) and at full length on rows
 * order[0 .. n); lengths between 64 places are interpolated. NULL truncation: full length alone. */
taper_status train_nested_validate(train_nested_network *net, const train_truncation *truncation,
                                   const train_pixels *data, const uint32_t *order, size_t n,
                                   double *expected, double *full);
#endif
