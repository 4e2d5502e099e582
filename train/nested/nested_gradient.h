/* nested_gradient.h -- one step's loss and gradient of a nested-dropout autoencoder. */
#ifndef TRAIN_NESTED_GRADIENT_H
#define TRAIN_NESTED_GRADIENT_H
#include "train/nested/nested_forward.h"

/* Means over a step's rows, so far as train_nested_add has added them; on the device an array of
 * three in this order. */
typedef struct train_nested_loss {
    /* The objective: mse / scale^2 + weight x invariance. */
    double loss;
    /* Of the truncated reconstructions, on the 8-bit scale. */
    double mse;
    double invariance; /* equation 14, without its weight */
} train_nested_loss;

/* Adds the contribution of rows order[0 .. n) of pixels[..][D] (order NULL: 0 .. n) to the gradient
 * and to losses[3] of a step of `of` rows. pixels, order and losses are on the device. first_row
 * numbers the rows within the step. On return net->act.pre has the pre-activations of the last
 * block, those of binary units without b_L, from which thresholds are tracked. With classes, all
 * rows of the step must be passed in one call. With several ranks these are the rows of the step
 * that are here, all in one call, and n may be 0; the caller adds up gradients and losses. */
taper_status train_nested_add(train_nested_network *net, const train_nested_step *step,
                              const uint8_t *pixels, const uint32_t *order, size_t n, size_t of,
                              size_t first_row, double *losses);
/* The units in use for n rows with these truncations: the longest, rounded up to a size for which
 * matrix products are fast. */
uint32_t train_nested_active(const train_nested_network *net, const train_nested_step *step,
                             const uint32_t *kept, size_t n);
#endif
