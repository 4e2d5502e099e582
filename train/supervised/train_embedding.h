/* train_embedding.h -- from labelled images to an embedding model: the function behind `taper
 * train-labels`. The model has an encoder only; each image has one code.
 *
 * Directory train/supervised/: from labelled images to a model.
 *   train_embedding    this function
 *   embedding_choice   its options and its report
 *   embedding_stage    training and evaluating a network
 *   taught             guessed labels and hidden layers from a teacher network
 *   start_choice       a start learned without labels, or random weights: by trials
 *   embedding_search   a search for options, by trials on held-out images
 *   embedding_recipes  what it tries
 *   plain_classifier   a network that names classes, with which its trials are compared
 *   trial_folds        which images each of its trials holds out
 *   trial_errors       the errors of these trials, by class */
#ifndef TRAIN_TRAIN_EMBEDDING_H
#define TRAIN_TRAIN_EMBEDDING_H
#include "codec/backend/backend.h"
#include "formats/bytes.h"
#include "train/supervised/embedding_choice.h"

/* Appends the .tpm file to out, and fills *report; free it after a failure too. The images have
 * labels. hooks may be NULL.
 *   TAPER_ERR_ARG      options or images that do not fit (with a message); errors of
 *                      train_embedding, train_rbm_stack_learn and train_linear_start; a run that
 *                      was stopped before anything was learned
 *   TAPER_ERR_LIMIT    the model would exceed max_work or max_model; nothing was learned
 *   TAPER_ERR_NOMEM, TAPER_ERR_DEVICE */
taper_status train_embedding_model(const train_embedding_choice *choice, const train_dataset *data,
                                   codec_backend *be, train_device *device,
                                   const train_embedding_hooks *hooks, formats_buffer *out,
                                   train_embedding_report *report, taper_error *error);
void train_embedding_report_free(train_embedding_report *report); /* after a failure too */

#endif
