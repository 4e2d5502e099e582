/* elements_neighbours.h -- scalar parts of the neighbour operations: kernels of a pair's distance,
 * and a row's loss from its sums. The derivation is in train/objectives/neighbours.h. C11 and
 * CUDA. */
#ifndef TRAIN_ELEMENTS_NEIGHBOURS_H
#define TRAIN_ELEMENTS_NEIGHBOURS_H
#include "train/device/operations.h"
#include "codec/backend/simd.h"
#include <float.h>
#include <math.h>

#define TRAIN_LN_2   0.693147180559945309
#define TRAIN_LOG2_E 1.44269504f

/* --- exp and log without branches or calls, so that compilers vectorise them ---------------- */

/* 2^(x + raised) with a relative error of 2e-7. x + raised is limited to below 127; below -100 the
 * result is 0, which avoids subnormal numbers and their slow arithmetic. NaN stays NaN. `raised`,
 * 0..100, only changes the exponent's bits. x = k + r, |r| <= 1/2: adding 1.5 x 2^23 leaves k in
 * the low bits; 2^r is a Remez approximation with an error of 1e-7. */
CODEC_INLINE float train_exp2_raised(float x, int raised) {
    const float round = 12582912.0f, least = -100.0f - (float)raised;
    float y = x < least ? least : x;
    y = y > 127.0f - (float)raised ? 127.0f - (float)raised : y;
    union {
        float number;
        uint32_t bits;
    } shifted = {y + round}, power;
    const float r = y - (shifted.number - round);
    float e = 0.00967161916f + r * 0.00132645911f;
    e = 0.0555073507f + r * e;
    e = 0.240222409f + r * e;
    e = 0.693147004f + r * e;
    e = 1.0f + r * e;
    power.bits = (shifted.bits + 127u + (uint32_t)raised) << 23; /* drops the bits of `round` */
    return x < least ? 0.0f : e * power.number;
}
CODEC_INLINE float train_exp2(float x) { return train_exp2_raised(x, 0); }

/* log2(1 + x) for x >= 0, to 3 units in the last place; infinity and NaN stay. 1 + x = 2^k m with
 * m in [sqrt(1/2), sqrt 2). log(m) is a Remez approximation with an error of 4e-8. The rounding
 * error of 1 + x is added back where it matters. */
CODEC_INLINE float train_log2_1p(float x) {
    const float y = 1.0f + x;
    union {
        float number;
        uint32_t bits;
    } u = {y};
    const uint32_t k = (u.bits - 0x3f3504f3u) >> 23; /* from sqrt(1/2) on */
    u.bits -= k << 23;
    const float f = u.number - 1.0f;
    float p = -0.142674863f + f * 0.0870043710f;
    p = 0.149147674f + f * p;
    p = -0.165775850f + f * p;
    p = 0.199630633f + f * p;
    p = -0.250013381f + f * p;
    p = 0.333339095f + f * p;
    p = f + f * f * (f * p - 0.5f);
    const float rest = y < 2.0f ? x - (y - 1.0f) : 0.0f;
    return y <= FLT_MAX ? (float)(int32_t)k + TRAIN_LOG2_E * (p + rest) : y;
}

/* --- a pair --------------------------------------------------------------------------------- */

/* The constants of a kernel k(D). */
typedef struct train_kernel {
    float inverse; /* 1 / alpha */
    float power;   /* (1 + alpha) / 2 */
    float steep;   /* power / alpha */
    float part;    /* alpha^2 ln 2 / (1 + alpha) */
} train_kernel;

CODEC_INLINE train_kernel train_kernel_of(const train_neighbours *n) {
    const double alpha = n->alpha * (n->number ? exp((double)*n->number) : 1.0);
    const train_kernel k = {(float)(1.0 / alpha), (float)(0.5 * (1.0 + alpha)),
                            (float)(0.5 * (1.0 + alpha) / alpha),
                            (float)(alpha / (1.0 + alpha) * alpha * TRAIN_LN_2)};
    return k;
}

/* log2 k(D). The logarithms of a pair are to base 2, which saves multiplications. */
CODEC_INLINE float train_log_kernel(int student, train_kernel k, float square) {
    return student ? -k.power * train_log2_1p(square * k.inverse) : -TRAIN_LOG2_E * square;
}

/* -d log k(D) / dD. */
CODEC_INLINE float train_kernel_slope(int student, train_kernel k, float square) {
    return student ? k.steep / (1.0f + square * k.inverse) : 1.0f;
}

/* alpha (d log k(D) / d alpha) divided by the slope above. */
CODEC_INLINE float train_alpha_slope(train_kernel k, float square) {
    const float x = square * k.inverse;
    return square - k.part * ((1.0f + x) * train_log2_1p(x));
}

/* The hinge of a pair of different labels: its square is the loss, and it is half of
 * -d loss / dD. */
CODEC_INLINE float train_hinge(float square) {
    return square >= 1.0f ? 0.0f : 1.0f - square; /* NaN stays */
}

/* The values of a row that its pairs need (train_neighbours.share). */
typedef struct train_share {
    float norm; /* log2 of the kernels' normaliser */
    /* MCML: its P_ij; log NCA: log2 of the sum of kernels of its label. */
    float own;
    /* Factor of the q_ij that is subtracted: p_i, or the number of terms with Z. */
    float centre;
} train_share;

/* m_ij for row i. `same`: the labels are equal. log_kernel: log2 k_ij. */
CODEC_INLINE float train_pull_of(train_neighbour_loss loss, train_share row, float log_kernel,
                                 int same) {
    const float q = train_exp2(log_kernel - row.norm);
    if (loss == TRAIN_NCA) return q * ((float)same - row.centre);
    if (loss == TRAIN_MCML) return (same ? row.own : 0.0f) - q * row.centre;
    return (same ? train_exp2(log_kernel - row.own) : 0.0f) - q * row.centre;
}

/* --- sums ----------------------------------------------------------------------------------- */

/* A sum of powers of 2, as sum 2^most. For the empty sum, `most` is -FLT_MAX. */
typedef struct train_log_sum {
    double most, sum;
} train_log_sum;
CODEC_INLINE void train_add_powers(train_log_sum *to, double most, double sum) {
    if (sum == 0.0) return; /* NaN is added */
    if (to->most == most) {
        to->sum += sum;
        return;
    }
    const double top = to->most > most ? to->most : most;
    to->sum = (to->sum == 0.0 ? 0.0 : to->sum * exp2(to->most - top)) + sum * exp2(most - top);
    to->most = top;
}
CODEC_INLINE double train_log_of(train_log_sum s) {
    return s.sum == 0.0 ? -(double)INFINITY : s.most * TRAIN_LN_2 + log(s.sum);
}

/* Sums over all rows, for all pairs normalised together. */
typedef struct train_all_pairs {
    train_log_sum all;
    double p;     /* sum of e^(same - all) */
    double pairs; /* of equal labels */
    double rows;  /* whose label another row has */
} train_all_pairs;

CODEC_INLINE void train_add_to_pairs(const double *sums, train_all_pairs *to) {
    const double all = sums[TRAIN_ALL];
    train_add_powers(&to->all, all / TRAIN_LN_2, all == -(double)INFINITY ? 0.0 : 1.0);
    to->pairs += sums[TRAIN_COUNT];
    to->rows += sums[TRAIN_COUNT] > 0.0 ? 1.0 : 0.0;
}

/* The sum of a row's q_ij over rows with its label; all: log Z. */
CODEC_INLINE double train_probability(const double *sums, double all) {
    return sums[TRAIN_COUNT] > 0.0 ? exp(sums[TRAIN_SAME] - all) : 0.0;
}

/* The loss and the shares of a labelled row, normalised by row. */
CODEC_INLINE double train_row_share(train_neighbour_loss loss, const double *sums,
                                    train_share *share) {
    const double count = sums[TRAIN_COUNT];
    const train_share none = {(float)(sums[TRAIN_ALL] / TRAIN_LN_2), 0.0f, 0.0f};
    *share = none;
    if (!(count > 0.0)) return 0.0;
    if (loss == TRAIN_NCA) {
        const double p = train_probability(sums, sums[TRAIN_ALL]);
        share->centre = (float)p;
        return -p;
    }
    share->centre = 1.0f;
    share->own = loss == TRAIN_MCML ? (float)(1.0 / count) : (float)(sums[TRAIN_SAME] / TRAIN_LN_2);
    return loss == TRAIN_MCML ? sums[TRAIN_ALL] - sums[TRAIN_LOGS] / count - log(count)
                              : sums[TRAIN_ALL] - sums[TRAIN_SAME];
}

/* The same with all pairs of `rows` rows normalised together. */
CODEC_INLINE double train_pairs_share(train_neighbour_loss loss, const double *sums,
                                      const train_all_pairs *a, double rows, train_share *share) {
    const double all = train_log_of(a->all), count = sums[TRAIN_COUNT];
    const train_share none = {(float)(all / TRAIN_LN_2), 0.0f, 0.0f};
    *share = none;
    if (!(a->pairs > 0.0)) return 0.0;
    if (loss == TRAIN_NCA) {
        share->centre = (float)a->p;
        return -rows * train_probability(sums, all);
    }
    if (loss == TRAIN_MCML) {
        share->own = (float)(1.0 / a->pairs), share->centre = 1.0f;
        return rows / a->pairs * (count * (all - log(a->pairs)) - sums[TRAIN_LOGS]);
    }
    share->own = (float)(sums[TRAIN_SAME] / TRAIN_LN_2), share->centre = (float)a->rows;
    return count > 0.0 ? all - sums[TRAIN_SAME] : 0.0;
}

/* train_neighbour_losses_fn for a labelled row; `a` if all pairs are normalised together. */
CODEC_INLINE double train_neighbour_cost(const train_neighbours *n, const double *sums,
                                         const train_all_pairs *a, train_share *share) {
    const double cost = n->all_pairs ? train_pairs_share(n->loss, sums, a, (double)n->rows, share)
                                     : train_row_share(n->loss, sums, share);
    return cost + n->hinge * sums[TRAIN_HINGES];
}

/* --- pulls ---------------------------------------------------------------------------------- */

/* The factor from m_ij + m_ji to a pull: -2 / rows if the loss is a mean over rows, else -2. */
CODEC_INLINE float train_pull_factor(const train_neighbours *n) {
    return n->all_pairs && n->loss != TRAIN_LOG_NCA ? -2.0f : -2.0f / (float)n->rows;
}

/* The factor from a hinge to a pull: 2 (2 + 2) weight / rows, because both rows have the term. */
CODEC_INLINE float train_hinge_factor(const train_neighbours *n) {
    return (float)(8.0 * n->hinge / (double)n->rows);
}

/* The part of a pull in d loss / d *number. */
CODEC_INLINE float train_pull_by_alpha(train_kernel k, float square, float pull) {
    return 0.25f * pull * train_alpha_slope(k, square);
}

#endif
