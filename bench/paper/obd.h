/* obd.h -- Optimal Brain Damage (LeCun, Denker & Solla 1990) on the units of a code: which can be
 * left out at the least cost, by the first and second order terms of the Taylor expansion of the
 * reconstruction error.
 *
 * Leaving unit k out moves its value by -x_k in every example, so with e = y - y_hat (8-bit scale),
 * the decoder's row v_k and y_hat = mean + scale sum x_k v_k, per component of D:
 *
 *     dE/dx_k     = -2 scale (e . v_k) / D           gradient
 *     d2E/dx_k^2  =  2 scale^2 |v_k|^2 / D            diagonal of the Hessian
 *     saliency_k  =  mean over examples of  -x_k dE/dx_k + x_k^2 / 2  d2E/dx_k^2
 *
 * which is exact for one unit of a linear decoder, as the error is quadratic in x. Units are then
 * kept in the order of falling saliency. Removing one changes e for the others: `repeated` measures
 * anew after every removal, which the paper does not do and which makes the stronger baseline. */
#ifndef BENCH_PAPER_OBD_H
#define BENCH_PAPER_OBD_H
#include "bench/paper/paper.h"

/* Units by falling saliency into order[K], from the first `most` rows of images. One layer only. */
void paper_obd_order(paper *p, paper_network *network, const paper_images *images, size_t most,
                     int repeated, uint32_t *order);

/* Renumber the code's units: new unit i is old unit order[i]. */
void paper_renumber(paper_network *network, const uint32_t *order);
/* The decoder of whole codes for all: V <- (1 + M)^T V, and no mixing (train/nested/refit.h). A
 * short code is decoded as a whole one of which the rest is missing, as a standard network has it.
 */
void paper_unmix(paper_network *network);
#endif
