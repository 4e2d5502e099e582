/* embedding_options.h -- what may be asked of a supervised embedding's training, whether it is
 * legal, and what tells one run from another. */
#ifndef TRAIN_EMBEDDING_OPTIONS_H
#define TRAIN_EMBEDDING_OPTIONS_H
#include "train/embedding/embedder.h"
#include "train/optimise/loop.h"
#include "train/sampling/dataset.h"

/* Alpha below which Student's kernel has no use for distances: training ends there. Above the other
 * it is the Gaussian of variance 1 to seven digits: an alpha that has learned to be larger becomes
 * this one at the end of an epoch. */
#define TRAIN_LEAST_ALPHA 1e-3
#define TRAIN_MOST_ALPHA  1e6

typedef struct train_embedding_options {
    /* Its settings (neighbours.h): default dt-NCA, alpha 29. A learned alpha is held for the first
     * epoch, then learned with the weights (Min et al. 2010, section 3). */
    train_neighbour_objective objective;
    int binary; /* default 0; 1: codes are bits, which an index can hold (embedder.h) */
    /* default 0: the share of the steps, the first, in which codes that are to be bits learn as
     * numbers. Of many classes bits that learn as bits from the start may err more, most of all by
     * their first ones; of others less (bench/results/README.md). */
    double numbers_first;
    /* default none: lengths of codes that each have the objective, the last one all units */
    train_prefix_list prefixes;
    /* default 0: the 1 - lambda of Salakhutdinov & Hinton (2007), equation 17; above 0 the network
     * has a decoder, which learns from rows without a label, too (embedder.h) ... */
    double reconstruct;
    uint32_t free_units; /* ... and so many of its units, the last, do that alone; default 0 */
    double l2;           /* default 0: the loss has l2 / 2 x the sum of squared weights, too */
    /* default none; its seed is this one's. An epoch's rows are loaded with it, held-out rows
       without. Under CG its draws stay for all line searches of a batch. */
    train_embedder_noise noise;
    train_optimiser optimiser; /* default TRAIN_ADAM */
    uint32_t epochs;           /* default 40; 0: nothing is learned, the start is what comes out */
    uint32_t batch; /* default 0: an eighth of the rows, between 250 and 5000 (smaller batches than
                       the paper's do better on small sets: bench/results/README.md). Each pair
                       within a batch counts. Rows are shared out to batches of this size or a
                       little more, so that an epoch has all of them */
    uint32_t line_searches;    /* default 3: steps of TRAIN_CG on each batch */
    float rate;                /* default 5e-3: Adam's peak; falls by a cosine to 0.001 of it */
    float validation_fraction; /* default 1/16 of the labelled rows; 0: none are held out, and the
                                  last network is kept instead of the best */
    uint32_t k;                /* default 5: neighbours that vote on a held-out row */
    unsigned threads;          /* that search for them; 0: one per online core */
    uint64_t seed;             /* default 1 */
    train_saving saving;       /* at the end of each epoch and ... */
    double checkpoint_seconds; /* default 60: ... when this long has passed since the last time */
} train_embedding_options;

train_embedding_options train_embedding_defaults(void);

/* Are they in range, and do they fit the network? TAPER_ERR_ARG with the remedy. */
taper_status train_embedding_check(const train_embedding_options *options, const codec_network *net,
                                   taper_error *error);

/* Of all that decides what a run computes; net is its start. */
uint64_t train_embedding_fingerprint(const train_embedding_options *options,
                                     const train_pixels *data, const codec_network *net);

#endif
