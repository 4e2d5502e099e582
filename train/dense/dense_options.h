/* dense_options.h -- the options of dense training, their check, and a run's fingerprint. */
#ifndef TRAIN_DENSE_OPTIONS_H
#define TRAIN_DENSE_OPTIONS_H
#include "train/dense/autoencoder.h"
#include "train/optimise/checkpoint.h"
#include "train/sampling/dataset.h"

typedef struct train_dense_options {
    uint32_t epochs; /* default 40; 1.. */
    /* Default 256; at least 1, at most the number of training rows. */
    uint32_t batch;
    /* Default 1e-3: Adam's peak, after a warm-up of 200 steps; a cosine decay to 0.001 of it. */
    float rate;
    /* Default 50: limit of the gradient's norm; 0: none. */
    float max_norm;
    /* Default 0.2: weight of bits against squared error / T^2 (rate.h). */
    float lambda;
    /* Default 1: plain straight-through (reconstruction.h). */
    float gradient_floor;
    /* Default 0.7: 0 is squared error, 1 its logarithm, i.e. mean PSNR. */
    float balance;
    /* Quality range to train for, in dB; 0 (default): 4 and 13 dB above the mean image's. */
    double psnr_low, psnr_high;
    /* Fraction of the examples that are moved slightly (jitter.h), 0..1; default 0. It requires
     * width and height of the windows in pixels. Use it against overfitting of small images of one
     * kind in long runs. */
    float jitter;
    uint32_t width, height;
    /* Population of receivers to train for, in bytes per window (population.h: file:PATH,
     * ladder:.., geometric:RHO, log-uniform:E, uniform). NULL (default): each octave of thresholds
     * in the range is equally likely. */
    const char *truncation;
    /* Default 0.95: of the geometric truncation over units. */
    float rho;
    /* Default 0: fraction of the examples that are truncated, 0..1. */
    float truncated_fraction;
    /* Default 0.05 of the rows; at least a batch, or a tenth of the rows if that is less. */
    float validation_fraction;
    uint32_t max_validation; /* default 4096 rows */
    /* Default 0 (never): stop after this many epochs without gain. */
    uint32_t patience;
    uint64_t seed; /* default 1 */
    /* Further objectives, in addition to reconstruction and rate; borrowed, at most
     * TRAIN_MOST_OBJECTIVES - 2; default none. */
    const train_objective_use *also;
    int n_also;
    /* Checkpoints, after every epoch and every checkpoint_seconds. */
    train_saving saving;
    double checkpoint_seconds; /* default 60 */
} train_dense_options;

train_dense_options train_dense_defaults(void);

/* Checks that options are in range and that the data fit the network. TAPER_ERR_ARG. */
taper_status train_dense_check(const train_dense_options *options, const train_pixels *data,
                               const codec_network *net, taper_error *error);

/* The fingerprint of everything that a run's result depends on. net is its start; lengths are its
 * population's, or NULL. */
uint64_t train_dense_fingerprint(const train_dense_options *options, const train_pixels *data,
                                 const codec_network *net, const train_truncation *lengths);

#endif
