/* elements_losses.h -- scalar parts of losses: weights of errors, and losses of labels. */
#ifndef TRAIN_ELEMENTS_LOSSES_H
#define TRAIN_ELEMENTS_LOSSES_H
#include "train/device/operations.h"
#include "codec/backend/simd.h"
#include <math.h>

/* The factor of a row in train_error_gradient_fn. */
CODEC_INLINE float train_error_factor(double weight, size_t rows) {
    return (float)(2.0 * weight / (double)rows);
}

/* train_error_losses_fn, from the sums. */
CODEC_INLINE void train_add_error_losses(double error, double moved, double weight, double scale,
                                         double of, double *losses) {
    losses[0] += (error + weight * moved) / of;
    losses[1] += error / of * scale * scale;
    losses[2] += moved / of;
}

/* --- weights of rows ------------------------------------------------------------------- */

/* The batch's range of log threshold, divided equally into bins, and the mean error of each bin. */
enum { TRAIN_ERROR_BINS = 8 };
typedef struct train_error_bins {
    /* The lowest threshold; bins per factor of e. */
    double low, per_bin;
    double mean[TRAIN_ERROR_BINS];
} train_error_bins;

CODEC_INLINE double train_bins_of_range(double low, double high) {
    return high > low ? TRAIN_ERROR_BINS * 0.9999 / log(high / low) : 0.0;
}

CODEC_INLINE int train_error_bin(double low, double per_bin, double threshold) {
    return (int)(per_bin * log(threshold / low));
}

/* train_weigh_errors_fn for one row. The ratio of its weight to that of other rows at its cut is
 * limited to these. */
#define TRAIN_LEAST_RATIO 0.1
#define TRAIN_MOST_RATIO  10.0
CODEC_INLINE double train_error_weight(const train_error_bins *bins, train_cut cut, float scale,
                                       float balance, double error) {
    double threshold = (double)cut.threshold / scale;
    double mean = bins->mean[train_error_bin(bins->low, bins->per_bin, (double)cut.threshold)];
    double ratio = fmin(fmax(mean / (error + 1e-12), TRAIN_LEAST_RATIO), TRAIN_MOST_RATIO);
    double more = balance > 0.0f ? pow(ratio, (double)balance) : 1.0;
    return more / (threshold * threshold);
}

/* train_log_errors_fn for one row. */
CODEC_INLINE void train_log_error(double error, double least, double *weight, double *loss) {
    *weight = 1.0 / (error + least);
    *loss += log(error + least);
}

/* --- pixels --------------------------------------------------------------------------- */

/* train_pixel_entropy_fn for one pixel: its cost, as log(1 + e^a) - x a, and s. */
CODEC_INLINE float train_pixel_cost(float logit, float x, float *s) {
    const float small = expf(-fabsf(logit)), whole = 1.0f / (1.0f + small);
    *s = logit >= 0.0f ? whole : small * whole;
    return fmaxf(logit, 0.0f) - x * logit + log1pf(small);
}

/* --- labels ---------------------------------------------------------------------------- */

/* train_cross_entropy_fn for a labelled row: `logit` is x[label], `most` the row's largest logit,
 * and sum is the sum of e^(x - most). */
CODEC_INLINE double train_entropy(float sum, float most, float logit) {
    return log((double)sum) + (double)most - (double)logit;
}

/* Its gradient for a class, given y = e^(x - most). */
CODEC_INLINE float train_entropy_slope(float y, float sum, int is_label, size_t rows) {
    return (y / sum - (float)is_label) * (1.0f / (float)rows);
}

/* train_class_entropy_fn for a class: the gradient, given log p. */
CODEC_INLINE float train_class_entropy_slope(float log_p, double entropy, size_t rows) {
    return -expf(log_p) * (log_p + (float)entropy) * (1.0f / (float)rows);
}

/* train_class_divergence_fn for a class: its term, and the gradient. */
CODEC_INLINE double train_class_divergence(float log_p, float log_q) {
    return (double)expf(log_p) * ((double)log_p - (double)log_q);
}
CODEC_INLINE float train_class_divergence_slope(float log_p, float log_q, size_t rows) {
    return (expf(log_q) - expf(log_p)) * (1.0f / (float)rows);
}

#endif
