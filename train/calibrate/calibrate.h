/* calibrate.h -- from a network and sample codes to code tables: thresholds, reconstruction points,
 * the order of passes by measured distortion gain per bit, and the contexts' weights.
 *
 * The room train/calibrate/: code tables from sample codes.
 *   calibrate       thresholds, order and reconstruction points; sample_codes: what they learn from
 *   fit_contexts    the weights of contexts; fit_causal: those of causal templates
 *   cholesky        the linear systems of both
 *   ms_ssim_gain    what a transform's errors do to MS-SSIM
 *   evaluate        rate and distortion with the encoder's own arithmetic */
#ifndef TRAIN_CALIBRATE_H
#define TRAIN_CALIBRATE_H
#include "codec/model/model.h"
#include "train/calibrate/sample_codes.h"

typedef struct train_calibrate_options {
    float step; /* finest threshold, in the units' values times sqrt(unit_gain); default 2 */
    const double *unit_gain; /* [units] squared error on a window's values per squared error of the
                                unit; NULL: 1 */
} train_calibrate_options;

/* Fill tables for model->network.units units. This allocates model->tables; on failure it leaves
 * them empty. */
taper_status train_calibrate(taper_model *model, const train_codes *codes,
                             const train_calibrate_options *options, taper_error *error);

/* Contexts, and then layers, anew for the present order, codes and conditional model. */
taper_status train_refit_contexts(taper_model *model, const train_codes *codes, taper_error *error);

/* bits: [n_passes] ideal bits of each pass over all the codes, with the model as it is. */
taper_status train_measure_bits(taper_model *model, const train_codes *codes, double *bits,
                                taper_error *error);

/* The first part alone: step, planes and log_scale, which weight rounding needs. */
taper_status train_set_quantiser(taper_model *model, const train_codes *codes,
                                 const train_calibrate_options *options, taper_error *error);

#endif
