/* denoising.h -- denoising autoencoders with tied weights (Vincent, Larochelle, Bengio & Manzagol
 * 2008): data v, of which some are set to 0 (masking noise), are to be made again,
 *     y = f(W corrupted v + c)        r = g(W^T y + b)
 * with f and g the means of hidden and visible units. The loss is the cross-entropy of r and v, or
 * half the squared error. With e = v - r, for the squared error of logistic units times r (1 - r),
 * and d = W e times f', the ways down of the loss are
 *     W: <y e> + <d corrupted v>        c: <d>        b: <e> */
#ifndef TRAIN_DENOISING_H
#define TRAIN_DENOISING_H
#include "train/rbm/rbm_layer.h"

extern train_rbm_gradient_fn train_denoising_gradient;

#endif
