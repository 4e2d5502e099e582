/* nested_gradient.h -- one step's loss and gradient of a nested-dropout autoencoder. */
#ifndef TRAIN_NESTED_GRADIENT_H
#define TRAIN_NESTED_GRADIENT_H
#include "train/nested/nested_forward.h"

/* Means over rows, so far as they were given to train_nested_add. */
typedef struct train_nested_loss {
    double mse;        /* of the truncated reconstructions, on the 8-bit scale */
    double invariance; /* equation 14, as it is (not weighted) */
    double loss;       /* what the gradient is of: mse / scale^2 + weight x invariance */
    double rows;       /* of how many */
} train_nested_loss;

/* Add to the gradient, and to *loss, what rows order[0 .. n) of data contribute to a step of `of`
 * rows. first_row numbers them within the step. On return net->act->pre has the pre-activations of
 * the last block, those of binary units without b_L, as the binariser takes them. */
taper_status train_nested_add(train_nested_network *net, const train_nested_step *step,
                              const train_pixels *data, const uint32_t *order, size_t n, size_t of,
                              size_t first_row, train_nested_loss *loss);
#endif
