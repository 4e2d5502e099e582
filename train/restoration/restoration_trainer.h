/* restoration_trainer.h -- training a restoration network (codec/transform/restoration.h) for a
 * calibrated model whose other networks are done.
 *
 * Every step takes some cuts of the order and, for each, random squares of training images as a
 * decoder has them there. It lowers their squared error, each cut's relative to that without the
 * network. Cuts lie closer where files are small: the fraction of all bits that a cut keeps is the
 * cube of a uniform number. Then the network is rounded to integers. Deterministic.
 *
 * The room train/restoration/: networks that restore pixels.
 *   restoration_trainer    the loop
 *   restoration_network    the network in floats, with its gradient
 *   restoration_batch      what it learns from */
#ifndef TRAIN_RESTORATION_TRAINER_H
#define TRAIN_RESTORATION_TRAINER_H
#include "train/calibrate/calibrate.h"
#include "train/optimise/steps.h"
#include "train/sampling/dataset.h"

typedef struct train_restoration_options {
    uint32_t hidden;                /* channels: a multiple of 8, 8 .. 48; default 32 */
    uint32_t layers;                /* 2 .. 5; default 4 */
    uint32_t stages;                /* 1 .. 64; default 16 */
    uint32_t steps;                 /* default 6000 */
    uint32_t pixels;                /* about so many of a cut; default 16,384. A step has 4 cuts */
    float rate;                     /* default 0.001: Adam's peak, a cosine down to 0.001 of it */
    uint64_t seed;                  /* default 1 */
    const codec_restoration *start; /* learn on from this one: hidden, layers and stages are its;
                                       default NULL */
    train_saving saving;
} train_restoration_options;

train_restoration_options train_restoration_defaults(void);

/* TAPER_ERR_ARG, with the remedy: options out of range, or a window of odd sides. To be asked
 * before hours of training. */
taper_status train_restoration_check(const train_restoration_options *options, codec_window window,
                                     taper_error *error);

/* model: without a restoration network; codes: sample codes, which choose the cuts. The network
 * learns on the device; be, which may have a pool, makes what it learns from. On success
 * model->restoration is learned, and the model is of family conv. progress: now and before are
 * running means of the squared error relative to that without the network, and 1. *stopped (or
 * NULL): by progress. TAPER_ERR_ARG: as above, or diverged; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE, or
 * the checkpoint's; the model is then as it was. */
taper_status train_restoration(taper_model *model, const train_restoration_options *options,
                               const train_dataset *data, const train_codes *codes,
                               codec_backend *be, train_device *device,
                               train_steps_progress_fn *progress, void *user, int *stopped,
                               taper_error *error);

#endif
