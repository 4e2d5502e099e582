/* exact_fit.h -- the weights of the exact layer's prediction, by least squares. For encoders: any
 * weights are legal. */
#ifndef CODEC_EXACT_FIT_H
#define CODEC_EXACT_FIT_H
#include "codec/exact/exact_predict.h"

typedef struct codec_exact_fit codec_exact_fit;

/* For images up to this width, with up to so many channels. account: borrowed; NULL: not counted.
 * TAPER_ERR_LIMIT, TAPER_ERR_NOMEM: *out is NULL. */
taper_status codec_exact_fit_open(codec_exact_fit **out, uint32_t width, uint32_t channels,
                                  formats_account *account);
void codec_exact_fit_close(codec_exact_fit *fit); /* NULL is allowed */
/* Forget all samples; those that follow are of images with so many channels. */
void codec_exact_fit_begin(codec_exact_fit *fit, uint32_t channels);
/* Add samples of rows first .. end - 1 of an image. */
void codec_exact_fit_add(codec_exact_fit *fit, const taper_image *original,
                         const taper_image *lossy, uint32_t first, uint32_t end);
/* The weights, or none if they would not pay. */
void codec_exact_fit_solve(const codec_exact_fit *fit, codec_exact_weights *out);

#endif
