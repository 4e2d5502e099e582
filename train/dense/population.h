/* population.h -- receivers of given bandwidths, for codes that are cut by bit planes.
 *
 * Equation 16 of Rippel et al. (2014) minimises the expected distortion over a population of
 * receivers that get b units each. With cuts by planes, a receiver of b bytes per window gets all
 * magnitudes down to a threshold T, which depends on b through the rate. Before training, T is
 * that of the linear path, by reverse water-filling over its units' variances:
 *     8 b = sum over u of max(0, log2(variance_u / theta)) / 2,   theta = T^2 / 6  (dense_start.h).
 * Training lowers the rate at a threshold, so receivers finally get a finer threshold than that. */
#ifndef TRAIN_POPULATION_H
#define TRAIN_POPULATION_H
#include "train/dense/dense_start.h"
#include "train/sampling/truncation.h"

typedef struct train_population {
    train_truncation bytes; /* lengths in bytes per window */
    float *threshold_at;    /* [bytes.units] of each length; falling */
} train_population;

/* spec: as for train_truncation_make. geometric:RHO, log-uniform:E and uniform extend to the bytes
 * at threshold `finest`; file: and ladder: specify their own lengths. No threshold is below
 * `finest`. TAPER_ERR_ARG, TAPER_ERR_IO, TAPER_ERR_NOMEM; nothing is held then. */
taper_status train_population_make(train_population *population, const char *spec,
                                   const train_start *start, uint32_t units, float finest,
                                   taper_error *error);
void train_population_free(train_population *population); /* leaves it zeroed */
#endif
