/* ms_ssim_gain.h -- the effect of a unit's errors on MS-SSIM, so that thresholds and the order of
 * passes optimise MS-SSIM in place of the squared error (train_options.loss).
 *
 * Near an image, 1 - MS-SSIM is quadratic in the error: at each scale, the squared error over the
 * local variance plus a constant (Wang, Simoncelli and Bovik 2003, equations 1 to 7 for small
 * differences). So one number per unit gives the cost of its errors. It is measured by adding the
 * unit's pattern with random signs to all windows of sample images. Differences within an image are
 * ignored, because one order is used for all windows. */
#ifndef TRAIN_MS_SSIM_GAIN_H
#define TRAIN_MS_SSIM_GAIN_H
#include "codec/model/model.h"
#include "train/sampling/dataset.h"

struct codec_pool;

/* gain[units]: on entry, squared error on an image's values per squared error of a unit. It is
 * multiplied by the unit's effect on MS-SSIM, whose geometric mean is 1. model->network must have a
 * linear path. Images are of the training part, large ones cropped to their middle. pool may be
 * NULL. TAPER_ERR_NOMEM; gain is then unchanged. */
taper_status train_ms_ssim_gains(const taper_model *model, const train_dataset *data,
                                 struct codec_pool *pool, double *gain);

#endif
