/* calibrate.h -- code tables from a network and sample codes: thresholds, reconstruction points,
 * the order of passes by measured distortion gain per bit, and the contexts' weights.
 *
 * Directory train/calibrate/: code tables from sample codes.
 *   calibrate       thresholds, order and reconstruction points; sample_codes: their input
 *   fit_contexts    the weights of contexts; fit_causal: those of causal templates
 *   cholesky        the linear systems of both
 *   ms_ssim_gain    the effect of a unit's errors on MS-SSIM
 *   evaluate        rate and distortion with the encoder's own arithmetic */
#ifndef TRAIN_CALIBRATE_H
#define TRAIN_CALIBRATE_H
#include "codec/model/model.h"
#include "train/calibrate/sample_codes.h"

typedef struct train_calibrate_options {
    /* Finest threshold, in the units' values times sqrt(unit_gain); default 2. */
    float step;
    /* [units] squared error on a window's values per squared error of the unit; NULL: 1. */
    const double *unit_gain;
} train_calibrate_options;

/* Fills the tables for model->network.units units. It allocates model->tables; on failure they are
 * empty. */
taper_status train_calibrate(taper_model *model, const train_codes *codes,
                             const train_calibrate_options *options, taper_error *error);

/* Refits contexts, and then layers, for the present order, codes and conditional model. */
taper_status train_refit_contexts(taper_model *model, const train_codes *codes, taper_error *error);

/* bits: [n_passes] ideal bits of each pass over all codes, with the present model. */
taper_status train_measure_bits(taper_model *model, const train_codes *codes, double *bits,
                                taper_error *error);

/* The first part of train_calibrate: step, planes and log_scale, which weight rounding needs. */
taper_status train_set_quantiser(taper_model *model, const train_codes *codes,
                                 const train_calibrate_options *options, taper_error *error);

#endif
