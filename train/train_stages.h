/* train_stages.h -- the stages of train_model, in train_NAME_stage.c, train_NAME_stages.c and
 * train_adapt.c; make_candidate and extend_candidate (train.c) call them in order. */
#ifndef TRAIN_TRAIN_STAGES_H
#define TRAIN_TRAIN_STAGES_H
#include "train/train_options.h"

/* Principal components of the training part into model->network (tied), turned as options->basis
 * says. */
taper_status train_fit_basis(taper_model *model, const train_job *job, taper_error *error);

/* train_round_and_calibrate for a network whose units are of different worth, which is measured. */
taper_status train_calibrate_dense(taper_model *model, const train_job *job, taper_error *error);

/* A conditional model and a head, where options ask for them (conditional_trainer.h), for a
 * calibrated model; contexts anew for the images first, where it comes from options->from. */
taper_status train_add_conditional(taper_model *model, const train_job *job, taper_error *error);

/* A restoration network for a model whose other networks are done; it is kept only where validation
 * says that it gains. */
taper_status train_add_restoration(taper_model *model, const train_job *job, taper_error *error);

/* Adapt a loaded model of family pca or conv to the images. Its networks learn on, at a quarter of
 * the rate in options; their other settings hold. TAPER_ERR_ARG: a model of another family, or for
 * grey images where there is colour. */
taper_status train_adapt(taper_model *model, const train_job *job, taper_error *error);

/* Family dense, from a model that holds the principal components: train the network, calibrate it,
 * and tune the decoder on the quantiser's output. The linear model is kept instead where validation
 * finds it smaller. */
taper_status train_dense_stages(taper_model *model, const train_job *job, taper_error *error);

/* Family dense with codes of whole units (TRAIN_CODE_UNITS, TRAIN_CODE_BINARY): train, bring the
 * network into the codec's form, and make its tables. model->network.inputs and .units are
 * given. */
taper_status train_nested_stages(taper_model *model, const train_job *job, taper_error *error);

#endif
