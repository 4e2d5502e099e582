/* conditional_trainer.h -- trains a conditional model (codec/bitplane/conditional.h) or a
 * reconstruction head (codec/bitplane/head.h) for a calibrated model of bit planes.
 *
 * Every step takes random images and two random stages of the order. A conditional model minimises
 * the ideal size of the bits of these stages. Its logit is added to that of the contexts and starts
 * at 0, so it learns what they lack; finally the contexts are refitted with the model. A head
 * minimises the squared error of the codes as decoded within these stages, relative to that without
 * a head. Then the network is rounded to integers. Training is deterministic.
 *
 * Directory train/conditional/: networks that predict bits, and heads.
 *   conditional_trainer    the loop
 *   conditional_network    the network in floating point, with its gradient
 *   conditional_batch      its training data; conditional_loss: its loss */
#ifndef TRAIN_CONDITIONAL_TRAINER_H
#define TRAIN_CONDITIONAL_TRAINER_H
#include "codec/bitplane/conditional.h"
#include "train/calibrate/calibrate.h"
#include "train/optimise/steps.h"
#include "train/sampling/dataset.h"

typedef struct train_conditional_options {
    /* 0: a conditional model (default), 1: a head */
    int head;
    /* A multiple of 8, 8 .. 256; default 0: no network. */
    uint32_t hidden;
    uint32_t stages; /* limit, default 36; 1 .. 255 */
    /* Input units of a window, at most; default 256. */
    uint32_t own;
    /* Input units of each surrounding window; default 64. */
    uint32_t neighbour_units;
    uint32_t epochs;  /* default 12 passes over the images */
    uint32_t windows; /* windows in a step; default 2048 */
    /* Default 0.002: Adam's peak; a cosine decay to 0.001 of it. */
    float rate;
    /* Default 40 dB: finer passes use contexts only. The caller finds their number, `end`. */
    double psnr_end;
    uint32_t end;  /* passes to train for; default UINT32_MAX: all */
    uint64_t seed; /* default 1 */
    /* Default NULL. Otherwise training starts from this model, of the same order. hidden, stages,
     * own, neighbour_units and psnr_end are then its own. */
    const codec_conditional *start;
    train_saving saving;
    /* Default NULL. now and before are bits per window, with the network and by contexts only; for
     * a head, its relative squared error, and 1. */
    train_steps_progress_fn *progress;
    void *user;
} train_conditional_options;

train_conditional_options train_conditional_defaults(void);

/* model: with tables for `codes`, without the network to be trained. The network is trained on the
 * device; be, which may have a pool, computes its training data. On success model->tables has the
 * network and refitted contexts. *stopped (or NULL): by progress. TAPER_ERR_ARG: options out of
 * range, or divergence; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE, or errors of the checkpoint. The tables
 * are then unchanged. */
taper_status train_conditional(taper_model *model, const train_conditional_options *options,
                               const train_dataset *data, const train_codes *codes,
                               codec_backend *be, train_device *device, int *stopped,
                               taper_error *error);

#endif
