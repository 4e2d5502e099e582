/* thresholds.h -- exact thresholds of units that see those before them
 * (codec/transform/triangle.h). Each unit's threshold decides what the later ones see, so they are
 * found in order. */
#ifndef TRAIN_THRESHOLDS_H
#define TRAIN_THRESHOLDS_H
#include "codec/taper.h"

/* bias[units] such that of each unit a fraction of the rows as close as possible to beta is 1
 * (train/sampling/quantile.h). On entry a[rows][units] has what the encoder gives, without biases;
 * on return it has x: ones and zeros, less centre. feedback[units][units]; NULL: the units are
 * independent. TAPER_ERR_NOMEM. */
taper_status train_exact_thresholds(const float *feedback, size_t units, size_t rows, double beta,
                                    float centre, float *a, float *bias);
#endif
