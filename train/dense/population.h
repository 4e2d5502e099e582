/* population.h -- receivers of given bandwidths, for codes that a cut thins by bit planes.
 *
 * Equation 16 of Rippel et al. (2014) minimises the expected distortion over a population whose
 * receivers get b units each. Where a cut takes planes, a receiver of b bytes a window gets all
 * magnitudes down to some threshold T, which depends on b through the rate. Before training, the
 * linear path gives it, by reverse water-filling over its units' variances:
 *     8 b = sum over u of max(0, log2(variance_u / theta)) / 2,   theta = T^2 / 6  (dense_start.h).
 * Training lowers the rate at a threshold, so receivers end up finer than was trained for. */
#ifndef TRAIN_POPULATION_H
#define TRAIN_POPULATION_H
#include "train/dense/dense_start.h"
#include "train/sampling/truncation.h"

typedef struct train_population {
    train_truncation bytes; /* lengths are bytes a window */
    float *threshold_at;    /* [bytes.units] of each length; falls */
} train_population;

/* spec as train_truncation_make takes it: geometric:RHO, log-uniform:E and uniform reach to the
 * bytes at threshold `finest`; file: and ladder: to what they say themselves. No threshold is below
 * `finest`. TAPER_ERR_ARG, TAPER_ERR_IO, TAPER_ERR_NOMEM; nothing is held then. */
taper_status train_population_make(train_population *population, const char *spec,
                                   const train_start *start, uint32_t units, float finest,
                                   taper_error *error);
void train_population_free(train_population *population); /* leaves it zeroed */
#endif
