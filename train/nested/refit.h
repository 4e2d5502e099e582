/* refit.h -- the best linear decoder of binary codes, for every length at once.
 *
 * Let C = E[x x^T] and P = E[x c^T] over codes x and centred pixels c, and C = L L^T (Cholesky, L
 * lower triangular). Then z = L^-1 x has E[z z^T] = 1, and z_k depends on x_1 .. x_k only. So for
 * every b the least-squares estimate from the first b units is sum_(k<=b) z_k q_k with q = L^-1 P,
 * and each unit reduces the error by |q_k|^2 (Gram & Schmidt; the innovations of Kailath 1968). In
 * the network: mixing = diag(L) L^-1 without its diagonal of ones, v_k = q_k / L_kk, c = 0. */
#ifndef TRAIN_REFIT_H
#define TRAIN_REFIT_H
#include "train/nested/nested_errors.h"

/* Refits the decoder of a binary network of one untied layer to rows, with ridge times C's mean
 * diagonal added to the diagonal. Of several ridges it takes that of least expected error on judge
 * (truncation: as for train_nested_validate), and leaves the decoder unchanged if none lowers the
 * error. TAPER_ERR_ARG: the network has another form, or there are no rows; it is unchanged.
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: its decoder is undefined. */
taper_status train_nested_refit(train_nested_network *net, const train_nested_data *rows,
                                const train_nested_data *judge, const train_truncation *truncation);
#endif
