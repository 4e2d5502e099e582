/* train_parts.h -- what the stages of train_model share. */
#ifndef TRAIN_TRAIN_PARTS_H
#define TRAIN_TRAIN_PARTS_H
#include "train/train_options.h"

void train_say(const train_hooks *hooks, const char *stage, double part);
taper_status train_select_for_calibration(train_selection *selection, const train_dataset *data,
                                          codec_window window, uint32_t units);
taper_status train_renew_analysis(taper_model *model, codec_backend *be, taper_error *error);
/* Tables of the model on its weights as stored. unit_gain as in calibrate.h. */
taper_status train_round_and_calibrate(taper_model *model, const train_dataset *data,
                                       codec_backend *be, const train_options *options,
                                       const double *unit_gain, taper_error *error);
taper_status train_evaluate_validation(const taper_model *model, const train_dataset *data,
                                       codec_backend *be, train_rd_curve *curve,
                                       taper_error *error);
codec_weight_precision train_precision(const train_options *options);

#endif
