/* metrics.h -- how far a decoded image is from its original: MSE, PSNR, SSIM, MS-SSIM.
 *
 * All figures are taken on the 8-bit scale over the colour channels. Alpha is not looked at. 16-bit
 * samples are first reduced to 8 bits, round(v / 257). The two images of a pair must agree in size
 * and in colour (both grey or both RGB); they may differ in depth and in having alpha.
 *
 * Sources. SSIM: Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment: from error visibility
 * to structural similarity", IEEE TIP 2004. MS-SSIM: Wang, Simoncelli, Bovik, "Multi-scale
 * structural similarity for image quality assessment", Asilomar 2003. Both are computed on each
 * channel by itself and averaged over channels (not on luma): so do the published curves of learned
 * codecs.
 *
 * Safe on any image whose fields tell the truth about its pixels. No globals; one call uses one
 * thread.
 *
 * The room codec/quality/: metrics, and bd_rate: the mean difference of two curves. */
#ifndef CODEC_METRICS_H
#define CODEC_METRICS_H
#include "formats/status.h"

enum {
    CODEC_SSIM_WINDOW =
        11, /* side of the Gaussian window, sigma 1.5, only where it lies wholly inside */
    CODEC_MS_SSIM_SCALES = 5
};

/* What codec_psnr_db returns for images without any difference, and its ceiling: the mean over a
 * set stays finite. An error of a single level in one of 10^5 samples is 98 dB. */
#define CODEC_PSNR_CEILING_DB 100.0

typedef struct codec_quality {
    double mse;     /* mean squared difference over pixels and channels, 0..65025 */
    double psnr_db; /* codec_psnr_db(mse) */
    double ssim;    /* -1..1, 1: equal */
    double ms_ssim; /* 0..1, 1: equal */
    int scales;     /* scales that ms_ssim was made of, 1..5: see codec_ms_ssim_scales */
} codec_quality;

/* 10 log10(255^2 / mse), at most CODEC_PSNR_CEILING_DB. mse >= 0; NaN gives NaN. */
double codec_psnr_db(double mse);

/* Scales an image of this size has room for: each scale halves the sides (rounding up) and needs 11
 * x 11 samples; at most 5 and at least 1. A 32x32 image has 2 (32, 16), 176 x 176 is the smallest
 * with all 5. With fewer than five, the weights of the scales that are there (finest first) are
 * divided by their sum. */
int codec_ms_ssim_scales(uint32_t width, uint32_t height);

/* Mean squared error alone. TAPER_ERR_ARG when the images do not match. */
taper_status codec_mse(const taper_image *a, const taper_image *b, double *mse, taper_error *error);

/* All four figures. Images with a side below 11 are measured with the largest odd window that fits
 * (sigma 1.5 still, weights normalised). Takes 8 bytes per pixel while it runs.
 * TAPER_ERR_ARG when the images do not match, TAPER_ERR_NOMEM; *out is then unchanged. */
taper_status codec_measure(const taper_image *a, const taper_image *b, codec_quality *out,
                           taper_error *error);
#endif
