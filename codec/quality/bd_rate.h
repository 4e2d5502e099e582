/* bd_rate.h -- Bjontegaard delta rate between two rate-distortion curves, and the best points of
 * several settings.
 *
 * A curve is log(rate) as a function of PSNR, interpolated by pchip: piecewise cubic Hermite
 * polynomials that keep the points' monotonicity. (Fritsch and Carlson, SIAM J. Numer. Anal. 1980,
 * with the weighted harmonic mean of Fritsch and Butland 1984 for the slopes, as in SciPy and
 * MATLAB.) The integral over the common PSNR range is exact. After Bjontegaard, VCEG-M33 (2001),
 * with pchip instead of one cubic. */
#ifndef CODEC_BD_RATE_H
#define CODEC_BD_RATE_H
#include "formats/status.h"

typedef struct codec_rd_point {
    double rate;    /* > 0, in any unit, the same for both curves: bytes, bits per pixel */
    double psnr_db; /* or any other quality where more is better */
} codec_rd_point;

typedef struct codec_bd_result {
    double percent;        /* mean change of rate at equal quality; -50: half the bytes */
    double from_db, to_db; /* the common range of quality */
} codec_bd_result;

/* Compute the additional rate of `test` over `anchor`, in percent; negative is better.
 *
 * Points may have any order. Curves are first made monotone: a point is dropped if another point of
 * the same curve has at least its quality for at most its rate. TAPER_ERR_ARG: fewer than two
 * points remain, a rate is not positive and finite, or there is no common range; the message says
 * which. TAPER_ERR_NOMEM. On failure *result is unchanged. */
taper_status codec_bd_rate(const codec_rd_point *anchor, size_t n_anchor,
                           const codec_rd_point *test, size_t n_test, codec_bd_result *result,
                           taper_error *error);

/* The rate of a curve at a quality, by the same interpolation. TAPER_ERR_ARG: the quality is
 * outside the curve's range, or as above. */
taper_status codec_rate_at(const codec_rd_point *curve, size_t n, double psnr_db, double *rate,
                           taper_error *error);

/* Find the best points of several settings of one codec: keep[i] = 1 if no other setting needs a
 * lower rate at the quality of point i, else 0. The rate of the other setting is interpolated.
 * Outside its range, only its points with better quality and a lower rate count. Points that
 * another point of their own setting beats are not kept either; of equal points the first is kept.
 * points: [n] of all settings; setting: [n] the setting of each point; keep: [n]. */
taper_status codec_rd_best(const codec_rd_point *points, const int *setting, size_t n,
                           unsigned char *keep, taper_error *error);
#endif
