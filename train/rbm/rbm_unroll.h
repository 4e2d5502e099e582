/* rbm_unroll.h -- a trained stack as a network: its encoder, and its decoder if it has one. */
#ifndef TRAIN_RBM_UNROLL_H
#define TRAIN_RBM_UNROLL_H
#include "train/rbm/rbm.h"

/* net must be direct and have the stack's widths. Its mean, stacks and activations are set:
 * logistic between layers, and that of the top's means for the code. The encoder takes pixels
 * 0 .. 255, so its first matrix is that of the first machine divided by 255. The decoder, if its
 * depth is not 0, has the transposed matrices and the visible biases.
 *   A network's last layer is linear and gives pixels: 255 times the means of Gaussian visible
 * units, or 255 times (1/2 + a / 4) for Bernoulli ones, the tangent of the logistic function at
 * a = 0. Training continues from there. A tied network stays tied. TAPER_ERR_ARG, and net is
 * unchanged: it is not direct, or has other widths. */
taper_status train_rbm_unroll(const train_rbm_stack *stack, codec_network *net, taper_error *error);

#endif
