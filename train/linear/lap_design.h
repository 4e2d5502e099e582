/* lap_design.h -- the filter of overlapping windows (codec/transform/lap.h), and its effect on
 * errors. */
#ifndef TRAIN_LAP_DESIGN_H
#define TRAIN_LAP_DESIGN_H
#include "codec/model/model.h"

/* Sets lap to V = J C2^T diag(s, 1, .., 1) C4 J, with the orthonormal cosine transforms C2 (type
 * II) and C4 (type IV) of `reach` points, 1 .. CODEC_LAP_MOST, J the reversal, and s = 1.3: the
 * biorthogonal filter of Tran, Liang and Tu (2003), section IV. A gradient descent on V gained
 * nothing on photographs. */
void train_lap_design(codec_lap *lap, uint32_t reach);

/* gain[units]: squared error on an image's values per squared error of a unit. It is the squared
 * norm of the unit's contribution to the image, for a window with neighbours on all sides.
 * model->network must have a linear path. TAPER_ERR_NOMEM. */
taper_status train_lap_gains(const taper_model *model, double *gain);

#endif
