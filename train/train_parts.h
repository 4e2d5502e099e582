/* train_parts.h -- helpers of the stages of train_model. */
#ifndef TRAIN_TRAIN_PARTS_H
#define TRAIN_TRAIN_PARTS_H
#include "train/train_options.h"

void train_say(const train_job *job, const char *stage, double part);

/* Images for calibration, and their codes by the present model. */
typedef struct train_sample {
    train_selection images;
    float *code;
    train_codes codes; /* a view of both */
} train_sample;
/* On failure nothing is held. */
taper_status train_sample_take(train_sample *sample, const taper_model *model, const train_job *job,
                               taper_error *error);
/* Recomputes the codes; free the sample, after a failure too. */
taper_status train_sample_encode(train_sample *sample, const taper_model *model,
                                 const train_job *job, taper_error *error);
void train_sample_free(train_sample *sample);

taper_status train_renew_analysis(taper_model *model, const train_job *job, taper_error *error);
/* Rounds the weights as stored and computes the model's tables. unit_gain as in calibrate.h. */
taper_status train_round_and_calibrate(taper_model *model, const train_job *job,
                                       const double *unit_gain, taper_error *error);
taper_status train_evaluate_validation(const taper_model *model, const train_job *job,
                                       train_rd_curve *curve, taper_error *error);
codec_weight_precision train_stored_precision(const train_job *job);

#endif
