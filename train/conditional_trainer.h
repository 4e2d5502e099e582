/* conditional_trainer.h -- learning a conditional model for a calibrated model of bit planes.
 *
 * Contexts have been fitted; the network learns what they miss: its logit is added to theirs, and
 * begins at 0. Every step takes random images, two random stages of the order, and lowers the ideal
 * size of the bits of these stages. Then the network is rounded to integers, and the contexts are
 * fitted once more on top of it. Deterministic, like all training. */
#ifndef TRAIN_CONDITIONAL_TRAINER_H
#define TRAIN_CONDITIONAL_TRAINER_H
#include "calibrate.h"
#include "dataset.h"

typedef struct train_conditional_options {
    uint32_t hidden;        /* default 64; a multiple of 8, 8 .. 256; 0: no conditional model */
    uint32_t stages;        /* default 36: at most; 1 .. 255 */
    uint32_t own, beside;   /* units looked at; default 0: those of the first `units_share` .. */
    uint32_t epochs;        /* default 12 passes over the images */
    uint32_t windows;       /* default 2048 in a step */
    float rate;             /* default 0.002: Adam's peak, a cosine down to 0.001 of it */
    double psnr_end;        /* default 40 dB: finer passes are left to the contexts */
    uint64_t seed;          /* default 1 */
    const char *checkpoint; /* path, or NULL */
    int resume;
} train_conditional_options;

train_conditional_options train_conditional_defaults(void);

typedef struct train_conditional_progress {
    uint64_t step, steps;
    double bits, context_bits; /* running mean of bits a window, and by contexts alone */
    double seconds_left;
} train_conditional_progress;

/* Return nonzero to stop: what has been learned so far is used. */
typedef int train_conditional_progress_fn(void *user, const train_conditional_progress *progress);

/* model: with tables for `codes`, without a conditional model; psnr_at_end: passes to predict. On
 * success model->tables has one and contexts to go with it. TAPER_ERR_ARG: options out of range;
 * TAPER_ERR_NOMEM, or the checkpoint's; the tables are then as they were. */
taper_status train_conditional(taper_model *model, const train_conditional_options *options,
                               const train_dataset *data, const train_codes *codes, uint32_t end,
                               codec_backend *be, train_conditional_progress_fn *progress,
                               void *user, taper_error *error);

#endif
