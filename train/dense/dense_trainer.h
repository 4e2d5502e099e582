/* dense_trainer.h -- the training loop of family `dense`: nested dropout, starting from PCA.
 *
 *     codec_network net; // untied, stacks present; mean and A = G = principal components
 *     train_dense_options options = train_dense_defaults();
 *     TAPER_TRY(train_dense(&options, &data, &device, &net, &callbacks, &result, error));
 *
 * The network starts equal to its linear path (the last layers of the stacks are zero). The result
 * is the best of the start and all epochs by validation loss. Deterministic: the same options,
 * data, network, kind of device and number of ranks give the same weights bit for bit, for any
 * number of threads, interrupted and resumed or not. Several ranks (train_pixels.ranks) compute the
 * same steps up to the rounding of sums.
 *
 * Directory train/dense/: nested dropout over bit planes.
 *   dense_trainer        the loop; dense_options: its options
 *   dense_start          its start
 *   autoencoder          the encoder, forward and backward, and its objectives
 *   population           receivers' bandwidths as thresholds */
#ifndef TRAIN_DENSE_TRAINER_H
#define TRAIN_DENSE_TRAINER_H
#include "train/dense/dense_options.h"
#include "train/optimise/loop.h"
#include "train/sampling/dataset.h"

typedef struct train_progress {
    /* The present epoch, from 1, and their number. */
    uint32_t epoch, epochs;
    uint64_t step, steps; /* steps done, and their number */
    /* Means of this epoch so far, as in train_loss. */
    double loss, distortion, bits;
    /* Of the last finished epoch; before that, of the start. */
    double validation_loss;
    double seconds_left; /* until all epochs are done */
} train_progress;

/* One entry of the learning curve, at the end of an epoch. */
typedef struct train_dense_epoch {
    double loss, validation_loss, distortion, bits, rate;
} train_dense_epoch;

typedef struct train_callbacks {
    void *user;
    /* Called after every step. Return nonzero to stop: the state is saved, and the best network so
     * far is returned. */
    int (*progress)(void *user, const train_progress *progress);
    /* Called after every epoch, from 1, with the new entry of the learning curve. After a resume,
     * earlier epochs are reported again first. */
    void (*epoch)(void *user, uint32_t epoch, const train_dense_epoch *entry, double seconds);
    /* Called if training has diverged and stopped. The sentence names the step, what is kept, the
     * last checkpoint, and the remedy. */
    void (*diverged)(void *user, const char *words);
    /* A message about the run, for example that its images do not fit the device. */
    void (*say)(void *user, const char *words);
} train_callbacks;

typedef struct train_result {
    double start_loss, best_loss; /* validation */
    /* 1: no epoch was better; the network is its linear path */
    uint32_t best_is_start;
    uint32_t epochs;  /* finished */
    uint32_t stopped; /* 1: by the progress callback */
    /* Step, from 1, whose loss or gradient was not finite; 0: none. Training stops there, and the
     * best network before it is returned. */
    uint64_t diverged;
    /* The quantiser thresholds trained for, on the 0..255 scale. */
    float threshold_low, threshold_high;
} train_result;

/* Trains net in place. The stacks are initialised here (from the seed); the caller sets the linear
 * path. callbacks (and its members) and error may be NULL. The device is used from this thread.
 * After a failure net is its linear start, with stacks that add nothing.
 *   TAPER_ERR_ARG      options out of range, data that do not fit the network, fewer than two rows,
 *                      a checkpoint of another run
 *   TAPER_ERR_NOMEM
 *   TAPER_ERR_IO, TAPER_ERR_CORRUPT, ...      of the checkpoint (checkpoint.h) */
taper_status train_dense(const train_dense_options *options, const train_pixels *data,
                         train_device *device, codec_network *net, const train_callbacks *callbacks,
                         train_result *result, taper_error *error);

/* The random numbers of a call: those of (seed, number, position[i]) for row i. */
typedef struct train_requantise_draw {
    uint64_t seed, number;
    const uint32_t *position; /* [n] */
} train_requantise_draw;

/* Fills dequantised[n][units] with codes[n][units] as a decoder sees them at random cuts; unsent
 * units are 0. The cuts depend on `draw` only. */
typedef taper_status train_requantise_fn(void *user, const float *codes, size_t n, uint32_t units,
                                         const train_requantise_draw *draw, float *dequantised);
typedef struct train_requantiser {
    train_requantise_fn *fn;
    void *user;
} train_requantiser;

/* Second stage: trains the decoder (the mean by way of the last bias, G, g) with a fixed encoder.
 * Its inputs are codes from the calibrated quantiser at random cuts, and the loss is the mean log
 * squared error (that is, mean PSNR). Of the options it uses epochs, batch, rate, max_norm,
 * validation and seed; a tenth of the network's rate is suitable. There is no checkpoint: it is
 * short and repeatable. net is changed only if the validation loss falls. TAPER_ERR_ARG for tied
 * networks, because changing G would change the encoder. The losses in result are log squared
 * errors. */
taper_status train_dense_decoder(const train_dense_options *options, const train_pixels *data,
                                 train_device *device, codec_network *net,
                                 const train_requantiser *requantiser,
                                 const train_callbacks *callbacks, train_result *result,
                                 taper_error *error);

#endif
