/* bd_rate.h -- Bjontegaard's delta rate between two rate-distortion curves, and the best of
 * several.
 *
 * Each curve is log(rate) as a function of PSNR: a piecewise cubic Hermite interpolant that keeps
 * the points' monotonicity (pchip: Fritsch and Carlson, SIAM J. Numer. Anal. 1980, with the
 * weighted harmonic mean of Fritsch and Butland 1984 for the slopes, as in SciPy and MATLAB). The
 * integral over the common PSNR range is exact. After Bjontegaard, VCEG-M33 (2001), with pchip
 * instead of one cubic. */
#ifndef CODEC_BD_RATE_H
#define CODEC_BD_RATE_H
#include "formats/status.h"

typedef struct codec_rd_point {
    double rate;    /* > 0: bytes, bits per pixel: any unit, the same for both curves */
    double psnr_db; /* or any other quality that grows */
} codec_rd_point;

typedef struct codec_bd_result {
    double percent;        /* mean change of rate at equal quality: -50 is half the bytes */
    double from_db, to_db; /* the common range that was integrated over */
} codec_bd_result;

/* What test needs more than anchor, in percent; negative is better.
 *
 * Points may come in any order. Curves that are not monotone are first made so: a point is left out
 * when another point of the same curve has at least its quality for at most its rate (nobody would
 * choose it). Fewer than two points left, a rate that is not positive and finite, or no common
 * range: TAPER_ERR_ARG with a text that says which; *result is then unchanged. TAPER_ERR_NOMEM. */
taper_status codec_bd_rate(const codec_rd_point *anchor, size_t n_anchor,
                           const codec_rd_point *test, size_t n_test, codec_bd_result *result,
                           taper_error *error);

/* Rate of a curve at a quality, by the same interpolation. TAPER_ERR_ARG outside the curve's range
 * or as above. */
taper_status codec_rate_at(const codec_rd_point *curve, size_t n, double psnr_db, double *rate,
                           taper_error *error);

/* The best of several settings of one codec: keep[i] = 1 for each point that no other setting
 * beats, that is, whose rate is not above what any other setting needs at the same quality
 * (interpolated; outside the other's range it counts as unbeaten, unless one of its points has
 * better quality for less). Points that another of their own setting beats go too, and of equal
 * points all but the first. points: all settings one after the other; setting[i]: whose point i is.
 * keep: n of them, filled. */
taper_status codec_rd_best(const codec_rd_point *points, const int *setting, size_t n,
                           unsigned char *keep, taper_error *error);
#endif
