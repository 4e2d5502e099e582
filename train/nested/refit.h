/* refit.h -- the best linear decoder of binary codes, for every length at once.
 *
 * With C = E[x x^T] and P = E[x c^T] over codes x and centred pixels c, and C = L L^T (Cholesky,
 * L lower triangular), z = L^-1 x has z_k of x_1 .. x_k alone and E[z z^T] = 1. So the least
 * squares from the first b units are sum_(k<=b) z_k q_k with q = L^-1 P, whatever b is, and each
 * unit takes |q_k|^2 off the error (Gram & Schmidt; the innovations of Kailath 1968). As the
 * network has it: mixing = diag(L) L^-1 without its diagonal of ones, v_k = q_k / L_kk, c = 0. */
#ifndef TRAIN_REFIT_H
#define TRAIN_REFIT_H
#include "train/nested/nested_errors.h"

/* Refit the decoder of a binary network of one untied layer to rows. ridge >= 0: of C's mean
 * diagonal, added to it. TAPER_ERR_ARG: the network is another, or C has no inverse (raise ridge);
 * it is as it was then. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: its decoder is undefined. */
taper_status train_nested_refit(train_nested_network *net, const train_nested_data *rows,
                                double ridge);

/* Refit with the ridge of a few that gives the least expected error on `judge` (truncation: as for
 * train_nested_validate), or leave the decoder as it is where none does better. */
taper_status train_nested_refit_best(train_nested_network *net, const train_nested_data *rows,
                                     const train_nested_data *judge,
                                     const train_truncation *truncation);
#endif
