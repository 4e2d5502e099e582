/* dense_trainer.h -- the training loop of family `dense`: nested dropout from a PCA start.
 *
 *     codec_network net; // untied, stacks present; mean and A = G = principal components
 *     train_dense_options options = train_dense_defaults();
 *     TAPER_TRY(train_dense(&options, &data, &device, &net, &callbacks, &result, error));
 *
 * The network begins exactly as its linear path (the stacks' last layers are zero) and is returned
 * as the better of start and best epoch by validation loss, so that it can only gain on that
 * measure. Deterministic: the same options, data, network and kind of device give the same weights
 * bit for bit, for any number of threads, interrupted and resumed or not.
 *
 * The room train/dense/: nested dropout over bit planes.
 *   dense_trainer        what its loop is given; dense_options: what may be asked of it
 *   dense_start          where it begins
 *   autoencoder          the encoder forward and backward, and its objectives
 *   population           receivers' bandwidths as thresholds */
#ifndef TRAIN_DENSE_TRAINER_H
#define TRAIN_DENSE_TRAINER_H
#include "train/dense/dense_options.h"
#include "train/optimise/loop.h"
#include "train/sampling/dataset.h"

typedef struct train_progress {
    uint32_t epoch, epochs;        /* epoch under way, from 1 */
    uint64_t step, steps;          /* steps done, steps in all */
    double loss, distortion, bits; /* means of this epoch so far, as in train_loss */
    double validation_loss;        /* of the last finished epoch; the start's before that */
    double seconds_left;           /* if all epochs are run */
} train_progress;

/* One entry of the learning curve, as it stood at the end of an epoch. */
typedef struct train_dense_epoch {
    double loss, validation_loss, distortion, bits, rate;
} train_dense_epoch;

typedef struct train_callbacks {
    void *user;
    /* After every step. Return nonzero to stop: the state is checkpointed and the best network so
     * far returned. */
    int (*progress)(void *user, const train_progress *progress);
    /* After every epoch, with the learning curve's new entry; `epoch` from 1. Epochs done before a
     * resume are reported again first, so that the curve is whole. */
    void (*epoch)(void *user, uint32_t epoch, const train_dense_epoch *entry, double seconds);
    /* Training has diverged and was stopped: one sentence that names the step, what is kept, the
     * last checkpoint, and the remedy. */
    void (*diverged)(void *user, const char *words);
    /* A sentence on how the run goes about it, such as that its images do not fit the device. */
    void (*say)(void *user, const char *words);
} train_callbacks;

typedef struct train_result {
    double start_loss, best_loss; /* validation */
    uint32_t best_is_start;       /* 1: no epoch was better, the network is its linear path */
    uint32_t epochs;              /* finished */
    uint32_t stopped;             /* 1: by the progress callback */
    /* Step, from 1, in which a loss or gradient was not finite, and after which nothing was
     * computed: the best network before that is returned. 0: none. */
    uint64_t diverged;
    /* The quantiser thresholds trained for, on the 0..255 scale. */
    float threshold_low, threshold_high;
} train_result;

/* Train net in place. The stacks are initialised here (from the seed); the linear path must hold
 * the start. callbacks (and its members) and error may be NULL. The device is used from this
 * thread. On failure net holds its linear start with stacks that add nothing. TAPER_ERR_ARG:
 * options out of range, data that do not fit the network, fewer than two rows, a checkpoint of
 * another run; TAPER_ERR_NOMEM; TAPER_ERR_IO, TAPER_ERR_CORRUPT, ...: the checkpoint (see
 * checkpoint.h). */
taper_status train_dense(const train_dense_options *options, const train_pixels *data,
                         train_device *device, codec_network *net, const train_callbacks *callbacks,
                         train_result *result, taper_error *error);

/* Codes as a decoder sees them at some cut: fill dequantised[n][units] from codes[n][units]; `draw`
 * numbers the call and `seed` the run, so that the choice of cuts repeats. Units not sent are 0. */
typedef taper_status train_requantise_fn(void *user, const float *codes, size_t n, uint32_t units,
                                         uint64_t seed, uint64_t draw, float *dequantised);

/* Second stage: the encoder stays, the decoder (mean by way of the last bias, G, g) is tuned on
 * what the calibrated quantiser gives at random cuts, for mean log squared error (that is, mean
 * PSNR). epochs, batch, rate, max_norm, validation and seed are taken from options (a tenth of the
 * rate that trained the network is a good one); no checkpoint: it is short, and repeats. net is
 * changed only if validation says it gained. Not for tied networks (TAPER_ERR_ARG): tuning G would
 * move the encoder. result's losses are log squared errors here. */
taper_status train_dense_decoder(const train_dense_options *options, const train_pixels *data,
                                 train_device *device, codec_network *net,
                                 train_requantise_fn *requantise, void *requantise_user,
                                 const train_callbacks *callbacks, train_result *result,
                                 taper_error *error);

#endif
