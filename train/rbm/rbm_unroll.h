/* rbm_unroll.h -- a learned stack as a network: its encoder, and its decoder where it has one. */
#ifndef TRAIN_RBM_UNROLL_H
#define TRAIN_RBM_UNROLL_H
#include "train/rbm/rbm.h"

/* net: direct, of the stack's widths; mean and stacks are set, and the activations: logistic
 * between layers, on the code that of the top's means. The encoder takes pixels 0 .. 255, so its
 * first matrix is that of the first machine over 255. The decoder, where its depth is not 0, has
 * the transposed matrices and the visible biases. A network's last layer is linear, and gives
 * pixels: from Gaussian visible units 255 times their means; from Bernoulli ones 255 times (1/2 + a
 * / 4), the tangent of the logistic function at a = 0, from which training goes on. A tied network
 * stays so. TAPER_ERR_ARG, and nothing is done: it is not direct, or has other widths. */
taper_status train_rbm_unroll(const train_rbm_stack *stack, codec_network *net, taper_error *error);

#endif
