/* neighbours.h -- codes whose nearest neighbours share their label: NCA and MCML, with Gaussian or
 * Student's kernel. Sources: Goldberger, Roweis, Hinton & Salakhutdinov 2004 (NCA); Salakhutdinov &
 * Hinton 2007 (by a network, "dG-NCA" below); Globerson & Roweis 2006 (MCML); Min, van der Maaten,
 * Yuan, Bonner & Zhang 2010 (dt-NCA, dt-MCML; equations 1 and 2). Their gradients for Student's
 * kernel are derived anew here, as those printed fail finite differences (below).
 *
 * Code f_i picks f_j as its neighbour by D_ij = |f_i - f_j|^2 and a kernel k of it:
 *     Gaussian (of variance 1/2)    k = e^-D
 *     Student, alpha degrees        k = (1 + D / alpha)^(-(1 + alpha) / 2)
 *     q_ij = k_ij / Z_i, i != j     Z_i = sum of k_ij over j != i, or Z, that over all pairs
 *     p_i  = sum of q_ij over j of i's label, i itself left out
 * Rows without a label take no part, but in the mean that codes are centred by: they are finite,
 * too, and not far from the others. The losses, as sums over rows: NCA         - sum of p_i log NCA
 * - sum of log p_i MCML        KL(P || Q): P_ij = 1 / n_i for the n_i others of i's label, or 1 / M
 * for all M such pairs where all pairs are normalised together dG-NCA and dt-NCA are NCA by rows;
 * MCML is by rows; dG-MCML and dt-MCML are MCML over all pairs. The gradient is that of the mean
 * over the batch's rows, labelled or not; where all pairs are normalised together NCA and MCML are
 * one number for the batch, and that is the mean. A row whose label no other row has gives 0 to
 * NCA, and has no term of its own in log NCA and MCML by rows; the others meet it all the same.
 * Over all pairs it is in Z.
 *
 * Derivation. With l = log k, dl/dD = -h,  h = 1, or (1 + alpha) / (2 alpha (1 + D / alpha)).
 * log q_ij = l_ij - log Z_i and dq_ij / dl_ik = q_ij ([j = k] - q_ik), so that dloss/dl_ij = -m_ij:
 *     NCA        m_ij = q_ij ([same label] - p_i)       over all pairs: P = sum of p_i for p_i
 *     log NCA    m_ij = [same] q_ij / p_i - q_ij        over all pairs: the second times the number
 *                                                       of rows that have a p_i
 *     MCML       m_ij = P_ij - q_ij
 * and dloss/dD_ij = h_ij m_ij. D_ij stands in the rows of i and of j, dD_ij/df_i = 2 (f_i - f_j):
 *     dloss/df_i = 2 sum over j of S_ij (f_i - f_j),     S_ij = h_ij (m_ij + m_ji)
 * which needs other rows' Z and p alone: a pass over all pairs makes the sums, a second one S of a
 * tile of rows, a product the gradient. Memory is the tile's, n x n never; the processor's first
 * pass wants 25 MB more at most. By alpha, log k has the slope
 *     t = -1/2 log(1 + D / alpha) + (1 + alpha) D / (2 alpha^2 (1 + D / alpha))
 *     dloss/dalpha = - sum of m_ij t_ij = -1/2 sum of (m_ij + m_ji) t_ij
 * alpha = start x e^number, the number beginning at 0, so that it stays above 0, and dloss/dnumber
 * = alpha dloss/dalpha.
 *
 * What Min et al. print. For h their gradients by f have (1 + alpha) / alpha times u_ij = (1 +
 * D/alpha)^(-(1 + alpha) / 2), where 1 / (1 + D/alpha) belongs: for alpha = 1 the two are the same,
 * for 0.5, 2 and 29 they are 31 to 99 % off. In that of dt-NCA the terms of row i have the sign of
 * the sum of q, those of the other rows that of the loss: it is 83 to 110 % off for all alpha. By
 * alpha, dt-MCML's is right; dt-NCA's has the sign of the sum of q, and u in both places where
 * 1 / (1 + D/alpha) and 1 + D/alpha belong. With these repaired all agree with differences, as
 * Salakhutdinov & Hinton's does as printed: tests/test_neighbours.c has them all.
 *
 * Digits. Codes are centred, distances are sums of squared differences: codes that are far from the
 * origin together lose none. Sums of kernels are taken relative to their largest, so that no row's
 * vanish. What is far from the others costs digits: the gradient is a product of pulls and codes in
 * float32, off by some 5e-8 s of its largest element where a class or a row is s away. Under the
 * Gaussian a distance D of which float32 has 6e-8 D is wrong by that in log k: from D = 1e6 on
 * gradients of such pairs mean little, and by all pairs everything. Where a distance overflows, or
 * a code is not finite, so are losses or gradient, and the run stops (train_judge_fn); not so for
 * NCA over all pairs with Student's kernel, where it counts 0. */
#ifndef TRAIN_NEIGHBOURS_H
#define TRAIN_NEIGHBOURS_H
#include "train/objectives/objective.h"

/* Rows of a tile, unless asked otherwise: of 10,000 columns it has 10 MB. */
enum { TRAIN_NEIGHBOUR_TILE = 256 };

typedef struct train_neighbour_objective {
    train_neighbour_loss loss;
    int all_pairs;    /* 1: all pairs are normalised together */
    int student;      /* 1: Student's kernel, 0: the Gaussian */
    double alpha;     /* of Student's: its start, above 0 */
    int learns_alpha; /* 1: a number is trained: alpha e^number. Student's alone */
    int holds_alpha;  /* 1: for now that number's gradient is 0; may change between steps */
    /* At least 0: each row's loss also has hinge x the sum of max(0, 1 - D)^2 over rows of other
     * labels, which keeps classes from falling together. */
    double hinge;
    size_t tile_rows; /* 0: TRAIN_NEIGHBOUR_TILE. No bit depends on it on a processor */

    /* Borrowed: the number and its gradient, NULL unless alpha is learned. */
    const float *number;
    float *number_gradient;
    /* On the device, for `batch` rows. */
    float *zeros, *ones; /* [batch] */
    float *mean;         /* [units] minus it */
    float *centred;      /* [batch][units] codes less their mean */
    float *across;       /* [units][batch] transposed */
    float *share;        /* [TRAIN_SHARES][batch] */
    float *by_number;    /* [batch] */
    float *pull;         /* [tile][batch] */
    double *sums;        /* [batch][TRAIN_NEIGHBOUR_SUMS] */
    double *own;         /* [batch] loss of each row */
} train_neighbour_objective;

/* self: train_neighbour_objective, with its settings filled in and all else zeroed. Its figure is
 * the sum of its losses. Without labels it adds nothing. */
extern const train_objective train_neighbours_objective;

/* alpha, from its number, which the caller has fetched. */
double train_neighbour_alpha(const train_neighbour_objective *o, float number);

#endif
