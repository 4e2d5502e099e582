/* conditional_trainer.h -- training a conditional model (codec/bitplane/conditional.h), or a
 * reconstruction head (codec/bitplane/head.h), for a calibrated model of bit planes.
 *
 * Every step takes random images and two random stages of the order. A conditional model lowers the
 * ideal size of the bits of these stages. Its logit is added to that of the contexts and begins at
 * 0, so it learns what they miss; at the end they are fitted once more on top of it. A head lowers
 * the squared error of the codes as a decoder has them within these stages, each relative to that
 * without a head. Then the network is rounded to integers. Deterministic, like all training.
 *
 * The room train/conditional/: networks that predict bits, and heads.
 *   conditional_trainer    the loop
 *   conditional_network    the network in floats, with its gradient
 *   conditional_batch      what it learns from; conditional_loss: what it minimises */
#ifndef TRAIN_CONDITIONAL_TRAINER_H
#define TRAIN_CONDITIONAL_TRAINER_H
#include "codec/bitplane/conditional.h"
#include "train/calibrate/calibrate.h"
#include "train/optimise/steps.h"
#include "train/sampling/dataset.h"

typedef struct train_conditional_options {
    int head;                       /* 0: a conditional model (default), 1: a head */
    uint32_t hidden;                /* a multiple of 8, 8 .. 256; default 0: none */
    uint32_t stages;                /* default 36: at most; 1 .. 255 */
    uint32_t own;                   /* input units of a window, at most; default 256 */
    uint32_t neighbour_units;       /* and of each one around; default 64 */
    uint32_t epochs;                /* default 12 passes over the images */
    uint32_t windows;               /* default 2048 in a step */
    float rate;                     /* default 0.002: Adam's peak, a cosine down to 0.001 of it */
    double psnr_end;                /* default 40 dB: finer passes are left to the contexts */
    uint64_t seed;                  /* default 1 */
    const codec_conditional *start; /* learn on from this one, of the same order: hidden, stages,
                                       own, neighbour_units and psnr_end are its; default NULL */
    train_saving saving;
} train_conditional_options;

train_conditional_options train_conditional_defaults(void);

/* model: with tables for `codes`, without what is to be learned; `end`: passes to learn. The
 * network learns on the device; be, which may have a pool, makes what it learns from. On success
 * model->tables has it, and contexts to go with it. progress: now and before are bits a window,
 * with the network and by contexts alone; for a head, its squared error, and 1. *stopped (or NULL):
 * by progress. TAPER_ERR_ARG: options out of range, or diverged; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE,
 * or the checkpoint's; the tables are then as they were. */
taper_status train_conditional(taper_model *model, const train_conditional_options *options,
                               const train_dataset *data, const train_codes *codes, uint32_t end,
                               codec_backend *be, train_device *device,
                               train_steps_progress_fn *progress, void *user, int *stopped,
                               taper_error *error);

#endif
