/* thresholds.h -- exact thresholds of units with feedback from earlier units
 * (codec/transform/triangle.h). The threshold of a unit affects later units, so they are computed
 * in order. */
#ifndef TRAIN_THRESHOLDS_H
#define TRAIN_THRESHOLDS_H
#include "codec/taper.h"

/* Computes bias[units] such that for each unit the fraction of rows that are 1 is as close as
 * possible to beta (train/sampling/quantile.h). a[rows][units] is the encoder's output without
 * biases on entry, and x on return: ones and zeros, minus centre. feedback[units][units]; NULL:
 * there is none. TAPER_ERR_NOMEM. */
taper_status train_exact_thresholds(const float *feedback, size_t units, size_t rows, double beta,
                                    float centre, float *a, float *bias);
#endif
