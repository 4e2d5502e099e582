/* lap_design.h -- the filter with which windows lap (codec/transform/lap.h), and its effect on
 * errors. */
#ifndef TRAIN_LAP_DESIGN_H
#define TRAIN_LAP_DESIGN_H
#include "codec/model/model.h"

/* Set lap to V = J C2^T diag(s, 1, .., 1) C4 J, with the orthonormal cosine transforms C2 (type II)
 * and C4 (type IV) of `reach` points, 1 .. CODEC_LAP_MOST, J the reversal, and s = 1.3: the
 * biorthogonal filter of Tran, Liang and Tu (2003), section IV. On photographs a gradient descent
 * on V gained nothing over it. */
void train_lap_design(codec_lap *lap, uint32_t reach);

/* gain[units]: squared error on an image's values per squared error of a unit whose window has
 * neighbours on all sides; the squared length of what the unit adds to the image. model->network
 * has a linear path. TAPER_ERR_NOMEM. */
taper_status train_lap_gains(const taper_model *model, double *gain);

#endif
