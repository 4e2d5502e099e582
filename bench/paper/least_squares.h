/* least_squares.h -- the best linear decoder of a code, at every length at once.
 *
 * The decoder of length b has a bias c and rows v_1 .. v_b with the least
 *     mean |y - c - sum_(k <= b) x_k v_k|^2 + ridge sum_(k <= b) |v_k|^2
 * over rows of pixels y and codes x. With X = [1, x], M = mean X X^T + ridge (none for the 1) and
 * P = mean X y^T, Cholesky gives M = L L^T; then z = L^-1 X and Q = L^-1 P have
 *     reconstruction at length b = sum_(k <= b) z_k Q_k,      z_0 the 1
 * as L^-1 is lower triangular: what a unit adds stands at right angles to the units before it, so
 * that one factor serves all lengths. Moments are summed in double over blocks multiplied in
 * float32. */
#ifndef BENCH_PAPER_LEAST_SQUARES_H
#define BENCH_PAPER_LEAST_SQUARES_H
#include "codec/backend/operations.h"

enum { PAPER_REFIT_BLOCK = 2048 }; /* most rows of a call */

/* Moments of codes and pixels, streamed; about 8 (K + D) K bytes and scratch. */
typedef struct paper_moments {
    uint32_t units, inputs; /* K, D */
    size_t n;               /* rows so far */
    double *code;           /* [K + 1][K + 1] sum of X X^T */
    double *pixels;         /* [K + 1][D] sum of X y^T */
    float *x;               /* [BLOCK][K + 1] scratch */
    float *product;         /* [K + 1][K + 1 or D] scratch */
} paper_moments;

taper_status paper_moments_alloc(paper_moments *m, uint32_t units, uint32_t inputs);
void paper_moments_free(paper_moments *m);
/* codes[n][K], pixels[n][D] less a mean of the caller's, n <= BLOCK. TAPER_ERR_NOMEM. */
taper_status paper_moments_add(paper_moments *m, codec_backend *be, const float *codes,
                               const float *pixels, size_t n);

/* Units in the order in which each next one lowers the refitted error most (forward selection). */
taper_status paper_greedy_order(const paper_moments *m, double ridge, uint32_t *order);

typedef struct paper_refit {
    uint32_t units, inputs;
    uint32_t *order; /* [K] unit k of the code is unit order[k] of the rows given */
    float *to_z;     /* [K + 1][K + 1] L^-1 */
    float *decoder;  /* [K + 1][D] Q */
    float *gram;     /* [K + 1][K + 1] Q_j . Q_k where j < k, else 0 */
    double *square;  /* [K + 1] |Q_k|^2 */
    float *scratch;  /* 4 [BLOCK][K + 1] */
} paper_refit;

/* order NULL: as they are. TAPER_ERR_ARG: the moments are not positive definite, ridge is too
 * small; TAPER_ERR_NOMEM. Nothing is held then. */
taper_status paper_refit_solve(paper_refit *r, const paper_moments *m, codec_backend *be,
                               const uint32_t *order, double ridge);
void paper_refit_free(paper_refit *r);
/* error[b] += sum over rows of |y - reconstruction at length b|^2, b = 0 .. K; n <= BLOCK. */
taper_status paper_refit_errors(const paper_refit *r, codec_backend *be, const float *codes,
                                const float *pixels, size_t n, double *error);
#endif
