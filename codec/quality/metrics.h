/* metrics.h -- the difference between a decoded image and its original: MSE, PSNR, SSIM, MS-SSIM.
 *
 * All metrics are computed on the 8-bit scale over the colour channels; alpha is ignored. 16-bit
 * samples are first reduced to 8 bits, round(v / 257). The two images must have the same size and
 * colour (both grey or both RGB). They may differ in depth and alpha.
 *
 * Sources. SSIM: Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment: from error visibility
 * to structural similarity", IEEE TIP 2004. MS-SSIM: Wang, Simoncelli, Bovik, "Multi-scale
 * structural similarity for image quality assessment", Asilomar 2003. Both are computed on each
 * channel and averaged over channels (not on luma), as in published curves of learned codecs.
 *
 * Safe on any image whose fields match its pixels. No globals; a call uses one thread.
 *
 * The directory codec/quality/: metrics, and bd_rate: the mean difference of two curves. */
#ifndef CODEC_METRICS_H
#define CODEC_METRICS_H
#include "formats/status.h"

enum {
    /* Side of the Gaussian window, sigma 1.5. Only windows completely within the image count. */
    CODEC_SSIM_WINDOW = 11,
    CODEC_MS_SSIM_SCALES = 5
};

/* The result of codec_psnr_db for equal images, and its maximum, so that the mean over a set is
 * finite. An error of one level in one of 10^5 samples is 98 dB. */
#define CODEC_PSNR_CEILING_DB 100.0

typedef struct codec_quality {
    double mse;     /* mean squared difference over pixels and channels, 0..65025 */
    double psnr_db; /* codec_psnr_db(mse) */
    double ssim;    /* -1..1, 1: equal */
    double ms_ssim; /* 0..1, 1: equal */
    int scales;     /* number of scales of ms_ssim, 1..5: codec_ms_ssim_scales */
} codec_quality;

/* 10 log10(255^2 / mse), at most CODEC_PSNR_CEILING_DB. mse >= 0; NaN gives NaN. */
double codec_psnr_db(double mse);

/* The number of MS-SSIM scales of an image of this size, 1..5. Each scale halves the sides
 * (rounding up) and needs 11 x 11 samples. A 32x32 image has 2 scales (32, 16); 176 x 176 is the
 * smallest with 5. With fewer than five, the weights of the existing scales (finest first) are
 * divided by their sum. */
int codec_ms_ssim_scales(uint32_t width, uint32_t height);

/* Compute only the mean squared error. TAPER_ERR_ARG: the images do not match. */
taper_status codec_mse(const taper_image *a, const taper_image *b, double *mse, taper_error *error);

/* Compute all four metrics. Images with a side below 11 are measured with the largest odd window
 * that fits (also with sigma 1.5, weights normalised). Memory: 8 bytes per pixel. TAPER_ERR_ARG:
 * the images do not match. TAPER_ERR_NOMEM. On failure *out is unchanged. */
taper_status codec_measure(const taper_image *a, const taper_image *b, codec_quality *out,
                           taper_error *error);
#endif
