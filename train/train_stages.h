/* train_stages.h -- the stages of train_model, in train_NAME_stage.c, train_NAME_stages.c and
 * train_adapt.c. */
#ifndef TRAIN_TRAIN_STAGES_H
#define TRAIN_TRAIN_STAGES_H
#include "train/train_options.h"

/* Principal components of the training part into model->network (tied), rotated according to
 * options->basis. */
taper_status train_fit_basis(taper_model *model, const train_job *job, taper_error *error);

/* train_round_and_calibrate for a network whose units have different gains, which it measures. */
taper_status train_calibrate_dense(taper_model *model, const train_job *job, taper_error *error);

/* Adds a conditional model and a head to a calibrated model, if options request them
 * (conditional_trainer.h). For a model from options->from, contexts are first refitted. */
taper_status train_add_conditional(taper_model *model, const train_job *job, taper_error *error);

/* Trains a restoration network for a model whose other networks are complete. It is kept only if
 * the validation error falls. */
taper_status train_add_restoration(taper_model *model, const train_job *job, taper_error *error);

/* Adapts a loaded model of family pca or conv to the images. Its networks are trained further, at a
 * quarter of the rate in options; their other settings are unchanged. TAPER_ERR_ARG: a model of
 * another family, or for grey images if there are colour images. */
taper_status train_adapt(taper_model *model, const train_job *job, taper_error *error);

/* Family dense, from a model that has the principal components: trains the network, calibrates it,
 * and tunes the decoder on the quantiser's output. The linear model is kept instead if it is
 * smaller on the validation part. */
taper_status train_dense_stages(taper_model *model, const train_job *job, taper_error *error);

enum { TRAIN_MOST_UNITS = 4096 }; /* of a code, unless more are requested */

/* The stages of one kind of model, which train_model calls in this order. */
typedef struct train_stages {
    /* From a zeroed model that has its window. */
    taper_status (*begin)(taper_model *model, const train_job *job, taper_error *error);
    /* May run in a thread of its own. */
    taper_status (*end)(taper_model *model, const train_job *job, taper_error *error);
    /* Adds networks to the model of the chosen window; extended: receives 1 if there are such. May
     * be NULL. */
    taper_status (*extend)(taper_model *model, const train_job *job, int *extended,
                           taper_error *error);
} train_stages;

/* Bit planes: the linear transform, then its calibration or train_dense_stages, then the networks
 * that predict bits and restore pixels. */
extern const train_stages train_picture_stages;
/* Whole units (TRAIN_CODE_UNITS, TRAIN_CODE_BINARY): trains the network, converts it to the codec's
 * form, and makes its tables. */
extern const train_stages train_nested_stages;

#endif
