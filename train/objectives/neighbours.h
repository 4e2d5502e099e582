/* neighbours.h -- NCA and MCML: losses that are low where the nearest neighbours of a code have the
 * same label. The kernel is Gaussian or Student's.
 *
 * Sources:
 *   NCA                   Goldberger, Roweis, Hinton & Salakhutdinov 2004
 *   NCA of a network      Salakhutdinov & Hinton 2007 ("dG-NCA" below)
 *   MCML                  Globerson & Roweis 2006
 *   dt-NCA, dt-MCML       Min, van der Maaten, Yuan, Bonner & Zhang 2010, equations 1 and 2
 * The gradients for Student's kernel are derived here, because the printed ones do not agree with
 * finite differences (see below).
 *
 * Definitions. Code f_i selects f_j as its neighbour with probability q_ij:
 *     D_ij = |f_i - f_j|^2
 *     Gaussian (of variance 1/2)    k = e^-D
 *     Student, alpha degrees        k = (1 + D / alpha)^(-(1 + alpha) / 2)
 *     q_ij = k_ij / Z_i, i != j     Z_i = sum of k_ij over j != i, or Z, the sum over all pairs
 *     p_i  = sum of q_ij over the other rows j with the label of i
 * Rows without a label are ignored, except in the mean that is subtracted from the codes. They must
 * be finite and of similar magnitude.
 *
 * Losses, as sums over rows:
 *     NCA        - sum of p_i
 *     log NCA    - sum of log p_i
 *     MCML       KL(P || Q), with P_ij = 1 / n_i for the n_i other rows with the label of i, or
 *                1 / M for all M such pairs if all pairs are normalised together
 * NCA, dG-NCA and dt-NCA are normalised by row. MCML is normalised by row; dG-MCML and dt-MCML are
 * MCML over all pairs. The gradient is that of the mean over all rows of the batch, labelled or
 * not. With all pairs normalised together, NCA and MCML are one number per batch, and that number
 * is the mean.
 *
 * A row whose label is unique contributes 0 to NCA. It has no term in log NCA or in MCML by row,
 * but other rows still see it as a neighbour. With all pairs normalised together it is part of Z.
 *
 * Derivation. With l = log k, dl/dD = -h,  h = 1, or (1 + alpha) / (2 alpha (1 + D / alpha)).
 * log q_ij = l_ij - log Z_i and dq_ij / dl_ik = q_ij ([j = k] - q_ik), so that dloss/dl_ij = -m_ij:
 *     NCA        m_ij = q_ij ([same label] - p_i)       all pairs: P = sum of p_i replaces p_i
 *     log NCA    m_ij = [same] q_ij / p_i - q_ij        all pairs: the second term is multiplied by
 *                                                       the number of rows that have a p_i
 *     MCML       m_ij = P_ij - q_ij
 * and dloss/dD_ij = h_ij m_ij. D_ij occurs in rows i and j, and dD_ij/df_i = 2 (f_i - f_j), so
 *     dloss/df_i = 2 sum over j of S_ij (f_i - f_j),     S_ij = h_ij (m_ij + m_ji)
 * Of the other rows this needs only Z and p. The first pass over all pairs computes the sums. The
 * second pass computes S for a tile of rows, and a matrix product gives the gradient. Memory is
 * that of a tile, never n x n. The first pass of the processor needs at most 25 MB more.
 *
 * The derivative of log k by alpha is
 *     t = -1/2 log(1 + D / alpha) + (1 + alpha) D / (2 alpha^2 (1 + D / alpha))
 *     dloss/dalpha = - sum of m_ij t_ij = -1/2 sum of (m_ij + m_ji) t_ij
 * alpha = start x e^number keeps alpha above 0. The number starts at 0, and
 *     dloss/dnumber = alpha dloss/dalpha.
 *
 * Errors in Min et al. (tests/test_neighbours.c compares all of these with finite differences):
 *   gradient by f       for h they have (1 + alpha) / alpha times (1 + D/alpha)^(-(1 + alpha) / 2)
 *                       in place of 1 / (1 + D/alpha). Both agree for alpha = 1 only; for 0.5, 2
 *                       and 29 the error is 31 to 99 %
 *   dt-NCA by f         the terms of row i and of the other rows have opposite signs; the error is
 *                       83 to 110 % for every alpha
 *   dt-NCA by alpha     the sign is wrong, and u stands in place of 1 / (1 + D/alpha) and of
 *                       1 + D/alpha, u being the power above
 *   dt-MCML by alpha    correct
 * The printed gradient of Salakhutdinov & Hinton is correct.
 *
 * Precision. Codes are centred, and distances are sums of squared differences, so a common offset
 * costs no digits. Sums of kernels are relative to the largest kernel, so that no row's sum
 * vanishes. The gradient is a product of pulls and codes in float32. Its error is about 5e-8 s of
 * its largest element if a class or a row is at distance s from the others.
 *   A float32 distance D has an error of 6e-8 D, which is the error of log k for the Gaussian. From
 * D = 1e6 on, gradients of such pairs mean little; with all pairs normalised together, all
 * gradients do. If a distance overflows or a code is not finite, the loss or the gradient is not
 * finite and the run stops (train_judge_fn). The exception is NCA over all pairs with Student's
 * kernel, where such a pair counts as 0. */
#ifndef TRAIN_NEIGHBOURS_H
#define TRAIN_NEIGHBOURS_H
#include "train/objectives/objective.h"

/* Default rows of a tile. With 10,000 columns a tile has 10 MB. */
enum { TRAIN_NEIGHBOUR_TILE = 256 };

typedef struct train_neighbour_objective {
    train_neighbour_loss loss;
    /* 1: all pairs are normalised together, 0: each row by itself */
    int all_pairs;
    int student; /* 1: Student's kernel, 0: the Gaussian */
    /* Initial value for Student's kernel, above 0. */
    double alpha;
    /* 1: alpha is trained, as alpha e^number. Requires Student's kernel. */
    int learns_alpha;
    /* 1: the gradient of that number is 0 at present. May change between steps. */
    int holds_alpha;
    /* At least 0: adds hinge x sum of max(0, 1 - D)^2 over rows of other labels to the loss of each
     * row, which keeps different classes apart. */
    double hinge;
    /* 0: TRAIN_NEIGHBOUR_TILE. On a processor the results do not depend on it. */
    size_t tile_rows;

    /* Borrowed: the trained number and its gradient; NULL unless alpha is learned. */
    const float *number;
    float *number_gradient;
    /* On the device, for `batch` rows. */
    float *zeros, *ones; /* [batch] */
    float *mean;         /* [units] negative mean */
    float *centred;      /* [batch][units] codes minus their mean */
    float *across;       /* [units][batch] transposed */
    float *share;        /* [TRAIN_SHARES][batch] */
    float *by_number;    /* [batch] */
    float *pull;         /* [tile][batch] */
    double *sums;        /* [batch][TRAIN_NEIGHBOUR_SUMS] */
    double *own;         /* [batch] loss of each row */
} train_neighbour_objective;

/* self: train_neighbour_objective. The caller fills in the settings and zeroes the other members.
 * The reported figure is the sum of the losses. Without labels it adds nothing. */
extern const train_objective train_neighbours_objective;

/* alpha for a trained number that the caller has downloaded. */
double train_neighbour_alpha(const train_neighbour_objective *o, float number);

#endif
