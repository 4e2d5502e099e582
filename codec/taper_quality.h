/* taper_quality.h -- comparing images and codecs, a part of the public interface: MSE, PSNR, SSIM
 * and MS-SSIM of a decoded image, BD-rate of two curves, and scaling an image to any size.
 *
 * The caller owns all arrays. There is no state: several threads may call at once, and a call uses
 * one thread. */
#ifndef TAPER_QUALITY_H
#define TAPER_QUALITY_H
#include "formats/taper_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- an image and its original ---------------------------------------------------------- */

/* All metrics are computed on the 8-bit scale over the colour channels; alpha is ignored. 16-bit
 * samples are first reduced to 8 bits, round(v / 257). The two images must have the same size and
 * colour (both grey or both RGB). They may differ in depth and alpha.
 *
 * Sources. SSIM: Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment: from error visibility
 * to structural similarity", IEEE TIP 2004. MS-SSIM: Wang, Simoncelli, Bovik, "Multi-scale
 * structural similarity for image quality assessment", Asilomar 2003. Both are computed on each
 * channel and averaged over channels (not on luma), as in published curves of learned codecs. Their
 * window is a Gaussian of 11 x 11 samples, sigma 1.5. Only windows completely within the image
 * count. Images with a side below 11 are measured with the largest odd window that fits. */

/* The PSNR of equal images, and the largest that is returned, so that the mean over a set is
 * finite. An error of one level in one of 10^5 samples is 98 dB. */
#define TAPER_PSNR_CEILING_DB 100.0

typedef struct taper_quality {
    size_t size;    /* sizeof(taper_quality) */
    double mse;     /* mean squared difference over pixels and channels, 0..65025 */
    double psnr_db; /* taper_quality_psnr_db(mse) */
    double ssim;    /* -1..1, 1: equal */
    double ms_ssim; /* 0..1, 1: equal */
    int scales;     /* number of scales of ms_ssim, 1..5: taper_quality_scales */
} taper_quality;

/* 10 log10(255^2 / mse), at most TAPER_PSNR_CEILING_DB; also of an mse below 0. NaN gives NaN. */
TAPER_API double taper_quality_psnr_db(double mse);

/* The number of MS-SSIM scales of an image of this size, 1..5. Each scale halves the sides
 * (rounding up) and needs 11 x 11 samples. A 32x32 image has 2 scales (32, 16); 176 x 176 is the
 * smallest with 5. With fewer than five, the weights of the existing scales (finest first) are
 * divided by their sum. */
TAPER_API int taper_quality_scales(uint32_t width, uint32_t height);

/* Compute only the mean squared error. TAPER_ERR_ARG: the images do not match. */
TAPER_API taper_status taper_quality_mse(const taper_image *a, const taper_image *b, double *mse,
                                         taper_error *error);

/* Compute all four metrics. Memory: 8 bytes per pixel. TAPER_ERR_ARG: the images do not match.
 * TAPER_ERR_NOMEM. On failure *out is unchanged. */
TAPER_API taper_status taper_quality_measure(const taper_image *a, const taper_image *b,
                                             taper_quality *out, taper_error *error);

/* --- rate and distortion ---------------------------------------------------------------- */

/* A curve is log(rate) as a function of PSNR, interpolated by pchip: piecewise cubic Hermite
 * polynomials that keep the points' monotonicity. (Fritsch and Carlson, SIAM J. Numer. Anal. 1980,
 * with the weighted harmonic mean of Fritsch and Butland 1984 for the slopes, as in SciPy and
 * MATLAB.) The integral over the common PSNR range is exact. After Bjontegaard, VCEG-M33 (2001),
 * with pchip instead of one cubic.
 *
 * Points may have any order. Curves are first made monotone: a point is dropped if another point of
 * the same curve has at least its quality for at most its rate. */
typedef struct taper_rd_point {
    double rate;    /* > 0, in any unit, the same for both curves: bytes, bits per pixel */
    double psnr_db; /* or any other quality where more is better */
} taper_rd_point;

typedef struct taper_bd_rate {
    double percent;        /* mean change of rate at equal quality; -50: half the bytes */
    double from_db, to_db; /* the common range of quality */
} taper_bd_rate;

/* Compute the additional rate of `test` over `anchor`, in percent; negative is better.
 * TAPER_ERR_ARG: fewer than two points remain, a rate is not positive and finite, or there is no
 * common range; the message says which. TAPER_ERR_NOMEM. On failure *out is unchanged. */
TAPER_API taper_status taper_quality_bd_rate(const taper_rd_point *anchor, size_t n_anchor,
                                             const taper_rd_point *test, size_t n_test,
                                             taper_bd_rate *out, taper_error *error);

/* The rate of a curve at a quality, by the same interpolation. TAPER_ERR_ARG: the quality is
 * outside the curve's range, or as above. */
TAPER_API taper_status taper_quality_rate_at(const taper_rd_point *curve, size_t n, double psnr_db,
                                             double *rate, taper_error *error);

/* Find the best points of several settings of one codec: keep[i] = 1 if no other setting needs a
 * lower rate at the quality of point i, else 0. The rate of the other setting is interpolated.
 * Outside its range, only its points with better quality and a lower rate count. Points that
 * another point of their own setting beats are not kept either; of equal points the first is kept.
 * points: [n] of all settings; setting: [n] the setting of each point; keep: [n].
 * TAPER_ERR_NOMEM. */
TAPER_API taper_status taper_quality_best(const taper_rd_point *points, const int *setting,
                                          size_t n, unsigned char *keep, taper_error *error);

/* --- scaling ---------------------------------------------------------------------------- */

/* Scale `from`, of 1 or 3 channels, to width x height with 8 bits and the same channels: each new
 * pixel is the mean of the area that it covers, as embedding models scale images. Integers only:
 * the result is the same on every machine. Samples of 16 bits are first rounded to 8. If the new
 * image is larger, pixels repeat, with a mean where two meet.
 *
 * to->pixels is allocated by malloc, and the caller's to free; NULL after a failure. TAPER_ERR_ARG:
 * `from` has another number of channels, or a side is 0. TAPER_ERR_NOMEM. */
TAPER_API taper_status taper_image_scale(const taper_image *from, uint32_t width, uint32_t height,
                                         taper_image *to, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
