/* ms_ssim_gain.h -- what errors of the units do to MS-SSIM, so that thresholds and the order of
 * passes serve it in place of the squared error (train_options.loss).
 *
 * Near an image 1 - MS-SSIM grows as the square of the error, at each scale over the local variance
 * plus a constant (Wang, Simoncelli and Bovik 2003, equations 1 to 7 with small differences). So
 * one number gives the cost of a unit's errors. It is measured by adding the unit's pattern to all
 * windows of sample images, with random signs. What differs within an image is not in it: one order
 * serves all windows. */
#ifndef TRAIN_MS_SSIM_GAIN_H
#define TRAIN_MS_SSIM_GAIN_H
#include "codec/model/model.h"
#include "train/sampling/dataset.h"

struct codec_pool;

/* gain[units]: in, squared error on an image's values per squared error of a unit; out, times its
 * effect on MS-SSIM, which is 1 in the geometric mean. model->network has a linear path. Images are
 * of the training part, larger ones cut to their middle. pool may be NULL. TAPER_ERR_NOMEM; gain is
 * then unchanged. */
taper_status train_ms_ssim_gains(const taper_model *model, const train_dataset *data,
                                 struct codec_pool *pool, double *gain);

#endif
