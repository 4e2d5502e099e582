/* dense_options.h -- what may be asked of dense training, whether it is legal, and what tells one
 * run from another. */
#ifndef TRAIN_DENSE_OPTIONS_H
#define TRAIN_DENSE_OPTIONS_H
#include "train/dense/autoencoder.h"
#include "train/optimise/checkpoint.h"
#include "train/sampling/dataset.h"

typedef struct train_dense_options {
    uint32_t epochs; /* default 40; 1.. */
    uint32_t batch;  /* default 256; 1..; no more than there are training rows */
    float rate; /* default 1e-3: Adam's peak, cosine to 0.001 of it after a warm-up of 200 steps */
    float max_norm;       /* default 50: the gradient's norm is clipped to this; 0: never */
    float lambda;         /* default 0.2: bits against squared error / T^2 (rate.h) */
    float gradient_floor; /* default 1: plain straight-through (reconstruction.h) */
    float balance;        /* default 0.7: 0 squared error .. 1 its logarithm, i.e. mean PSNR */
    /* Quality range to train for, in dB; 0 (default): 4 and 13 dB above the mean image's. */
    double psnr_low, psnr_high;
    /* Share of the examples that are moved a little (jitter.h), 0..1; default 0. It needs the
     * windows' size in pixels. For sets of small images that show one kind of thing, where training
     * is long enough to learn the images by heart. */
    float jitter;
    uint32_t width, height;
    /* Population of receivers to train for, in bytes a window (population.h: file:PATH, ladder:..,
     * geometric:RHO, log-uniform:E, uniform); NULL (default): thresholds alike in every octave of
     * the range. */
    const char *truncation;
    float rho;                /* default 0.95: geometric truncation over units ... */
    float truncated_fraction; /* default 0: ... for this fraction of the examples, 0..1 */
    /* Default 0.05 of the rows; at least a batch, or a tenth of the rows where that is less. */
    float validation_fraction;
    uint32_t max_validation; /* default 4096 rows */
    uint32_t patience;       /* default 0 (never): stop after this many epochs without gain */
    uint64_t seed;           /* default 1 */
    /* Objectives beside reconstruction and rate, borrowed, at most TRAIN_MOST_OBJECTIVES - 2;
     * default none. */
    const train_objective_use *also;
    int n_also;
    train_saving saving;       /* at the end of each epoch and ... */
    double checkpoint_seconds; /* default 60: ... when this long has passed since the last time */
} train_dense_options;

train_dense_options train_dense_defaults(void);

/* Are they in range, and do the data fit the network? TAPER_ERR_ARG. */
taper_status train_dense_check(const train_dense_options *options, const train_pixels *data,
                               const codec_network *net, taper_error *error);

/* Of all that decides what a run computes; net is its start, `lengths` are its population's or
 * NULL. */
uint64_t train_dense_fingerprint(const train_dense_options *options, const train_pixels *data,
                                 const codec_network *net, const train_truncation *lengths);

#endif
