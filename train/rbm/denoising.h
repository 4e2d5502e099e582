/* denoising.h -- denoising autoencoders with tied weights (Vincent, Larochelle, Bengio & Manzagol
 * 2008). Some elements of the data v are set to 0 (masking noise), and v is to be reconstructed:
 *     y = f(W corrupted v + c)        r = g(W^T y + b)
 * f and g are the means of hidden and visible units. The loss is the cross-entropy of r and v, or
 * half the squared error. e = v - r, times r (1 - r) for the squared error of logistic units, and
 * d = W e times f'. The negative gradients are
 *     W: <y e> + <d corrupted v>        c: <d>        b: <e> */
#ifndef TRAIN_DENOISING_H
#define TRAIN_DENOISING_H
#include "train/rbm/rbm_layer.h"

extern train_rbm_gradient_fn train_denoising_gradient;

#endif
