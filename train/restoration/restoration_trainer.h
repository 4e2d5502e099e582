/* restoration_trainer.h -- trains a restoration network (codec/transform/restoration.h) for a
 * calibrated model whose other networks are complete.
 *
 * Every step takes some cuts of the order and, for each, random squares of training images as
 * decoded there. It minimises their squared error, for each cut relative to that without the
 * network. The fraction of all bits that a cut keeps is the cube of a uniform number, so small
 * files are more frequent. Then the network is rounded to integers. Training is deterministic. Of
 * several ranks (train_dataset.ranks) each computes some of the 4 cuts of a step.
 *
 * Directory train/restoration/: networks that restore pixels.
 *   restoration_trainer    the loop
 *   restoration_network    the network in floating point, with its gradient
 *   restoration_batch      its training data */
#ifndef TRAIN_RESTORATION_TRAINER_H
#define TRAIN_RESTORATION_TRAINER_H
#include "train/calibrate/calibrate.h"
#include "train/optimise/steps.h"
#include "train/sampling/dataset.h"

typedef struct train_restoration_options {
    /* Channels: a multiple of 8, 8 .. 48; default 32. */
    uint32_t hidden;
    uint32_t layers; /* 2 .. 5; default 4 */
    uint32_t stages; /* 1 .. 64; default 16 */
    uint32_t steps;  /* default 6000 */
    /* Approximate number for each of the 4 cuts of a step; default 16,384. */
    uint32_t pixels;
    /* Default 0.001: Adam's peak; a cosine decay to 0.001 of it. */
    float rate;
    uint64_t seed; /* default 1 */
    /* Default NULL. Otherwise training starts from this network, and hidden, layers and stages are
     * its own. */
    const codec_restoration *start;
    train_saving saving;
    /* Default NULL. now and before are running means of the squared error relative to that without
     * the network, and 1. */
    train_steps_progress_fn *progress;
    void *user;
} train_restoration_options;

train_restoration_options train_restoration_defaults(void);

/* Checks the options before hours of training. TAPER_ERR_ARG, with the remedy: options out of
 * range, or a window of odd sides. */
taper_status train_restoration_check(const train_restoration_options *options, codec_window window,
                                     taper_error *error);

/* model: without a restoration network. codes: sample codes, from which the cuts are chosen. The
 * network is trained on the device; be, which may have a pool, computes its training data. On
 * success model->restoration is the network, and the model is of family conv. *stopped (or NULL):
 * by progress. TAPER_ERR_ARG: as above, or divergence; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE, or errors
 * of the checkpoint. The model is then unchanged. */
taper_status train_restoration(taper_model *model, const train_restoration_options *options,
                               const train_dataset *data, const train_codes *codes,
                               codec_backend *be, train_device *device, int *stopped,
                               taper_error *error);

#endif
