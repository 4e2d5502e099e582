/* contrastive.h -- contrastive divergence with one Gibbs step (CD-1; Hinton 2002; Salakhutdinov &
 * Hinton 2007, equation 11). From the data v:
 *     p   means of the hidden units under v
 *     s   states of the hidden units, drawn from p
 *     r   the reconstruction: means of the visible units under s
 *     q   means of the hidden units under r
 *     gradients   W: <p v> - <q r>        c: <p> - <q>        b: <v> - <r>
 * Visible units are always means, "to suppress noise in the learning signal"; states are used for
 * the reconstruction only. Gaussian units use means and states in the same places. */
#ifndef TRAIN_CONTRASTIVE_H
#define TRAIN_CONTRASTIVE_H
#include "train/rbm/rbm_layer.h"

extern train_rbm_gradient_fn train_contrastive_gradient;

#endif
