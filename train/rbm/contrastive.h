/* contrastive.h -- contrastive divergence with one Gibbs sweep (Hinton 2002; Salakhutdinov & Hinton
 * 2007, equation 11): from data v, means p of the hidden units, their states s drawn from p, the
 * reconstruction r, means of the visible units under s, and means q of the hidden units under r,
 *     W: <p v> - <q r>        c: <p> - <q>        b: <v> - <r>
 * Means stand for visible units everywhere, "to suppress noise in the learning signal"; states
 * alone go from the data to the reconstruction. Gaussian units: means and states in the same
 * places. */
#ifndef TRAIN_CONTRASTIVE_H
#define TRAIN_CONTRASTIVE_H
#include "train/rbm/rbm_layer.h"

extern train_rbm_gradient_fn train_contrastive_gradient;

#endif
