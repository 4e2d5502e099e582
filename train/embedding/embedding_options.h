/* embedding_options.h -- the options of training a supervised embedding, their check, and a run's
 * fingerprint. */
#ifndef TRAIN_EMBEDDING_OPTIONS_H
#define TRAIN_EMBEDDING_OPTIONS_H
#include "train/embedding/embedder.h"
#include "train/optimise/loop.h"
#include "train/sampling/dataset.h"

/* Limits of alpha. Below the first, Student's kernel hardly depends on distance, and training ends.
 * At the second it equals the Gaussian of variance 1 to seven digits; a larger learned alpha is
 * reduced to it at the end of an epoch. */
#define TRAIN_LEAST_ALPHA 1e-3
#define TRAIN_MOST_ALPHA  1e6

typedef struct train_embedding_options {
    /* Its settings (neighbours.h): default dt-NCA, alpha 29. A learned alpha is constant in the
     * first epoch and then trained with the weights (Min et al. 2010, section 3). */
    train_neighbour_objective objective;
    /* Default 0; 1: codes are bits, which an index can hold (embedder.h). */
    int binary;
    /* Default 0. Fraction of the steps, the first ones, in which binary codes are trained as real
     * numbers. With many classes it may lower the error, mostly that of the first bits; with few
     * classes it does not (bench/results/README.md). */
    double numbers_first;
    /* Default none: lengths of prefixes that each have the objective; the last is all units. */
    train_prefix_list prefixes;
    /* Default 0: 1 - lambda in equation 17 of Salakhutdinov & Hinton (2007). Above 0 the network
     * has a decoder, which also learns from unlabelled rows (embedder.h). */
    double reconstruct;
    /* Default 0: number of last units for reconstruction only. */
    uint32_t free_units;
    /* Default 0: adds l2 / 2 x the sum of squared weights to the loss. */
    double l2;
    /* Default none. Its seed is that of these options. Applied to training rows, not to held-out
     * rows. With TRAIN_CG all line searches of a batch use the same random numbers. */
    train_embedder_noise noise;
    /* Default none. across above 0: rows are windows of noise.jitter's size, of which the network
     * gets the gradients in these cells (embedder.h). */
    codec_cells cells;
    train_optimiser optimiser; /* default TRAIN_ADAM */
    /* Default 40; 0: the result is the untrained start. */
    uint32_t epochs;
    /* Default 0. With epochs above 0: there are as many more epochs as so many steps take. Sets of
     * few images have a step or two an epoch. */
    uint32_t least_steps;
    /* Default 0: an eighth of the rows, between 250 and most_batch. Smaller batches than the
     * paper's are better for small sets (bench/results/README.md). Every pair within a batch
     * counts. Batches have this size or slightly more, so that an epoch has all rows. */
    uint32_t batch;
    /* Default 5000: limit of the default of `batch`. Convolutional layers want more steps and need
     * more memory for a row. */
    uint32_t most_batch;
    /* Default 3: steps of TRAIN_CG on each batch. */
    uint32_t line_searches;
    /* Default 5e-3: Adam's peak; a cosine decay to 0.001 of it. */
    float rate;
    /* Default 1/16 of the labelled rows; 0: none are held out, and the last network is kept in
     * place of the best. */
    float validation_fraction;
    /* Default 5: neighbours that vote for the class of a row. */
    uint32_t k;
    /* Default 0; 1: a vote counts 1 / (training rows of its class), and the epoch is chosen by the
     * mean over classes of the error: for rare classes that matter as much as others. */
    int balanced;
    /* Of the search for them; 0: one per online core. */
    unsigned threads;
    uint64_t seed; /* default 1 */
    /* Checkpoints, after every epoch and every checkpoint_seconds. */
    train_saving saving;
    double checkpoint_seconds; /* default 60 */
} train_embedding_options;

train_embedding_options train_embedding_defaults(void);

/* The epochs of a run with so many batches each: at least least_steps steps. */
uint32_t train_embedding_epochs(const train_embedding_options *options, size_t batches);

/* Checks that options are in range and fit the network. TAPER_ERR_ARG with the remedy. */
taper_status train_embedding_check(const train_embedding_options *options, const codec_network *net,
                                   taper_error *error);

/* The fingerprint of everything that a run's result depends on but the pixels (train_hash_rows);
 * net is its start. */
uint64_t train_embedding_fingerprint(const train_embedding_options *options,
                                     const train_pixels *data, const codec_network *net);

#endif
