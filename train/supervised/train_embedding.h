/* train_embedding.h -- from labelled images to an embedding model: the call behind `taper train
 * --objective`. The model has an encoder alone; a code is of a whole image.
 *
 * The room train/supervised/: from labelled images to a model.
 *   train_embedding    this call
 *   embedding_choice   what may be chosen, and what came out
 *   embedding_stage    how a network is learned and judged
 *   taught             what a teacher gives it: guesses, hidden layers
 *   embedding_search   by which recipe: trials on held-out images */
#ifndef TRAIN_TRAIN_EMBEDDING_H
#define TRAIN_TRAIN_EMBEDDING_H
#include "codec/backend/backend.h"
#include "formats/bytes.h"
#include "train/supervised/embedding_choice.h"

/* Append the .tpm file to out. Images have labels. hooks may be
 * NULL. TAPER_ERR_ARG: options or images that do not fit, in words; what train_embedding,
 * train_rbm_stack_learn and train_linear_start return; a run stopped before anything was learned.
 * TAPER_ERR_LIMIT: the model would take more work than max_work, or be larger than max_model;
 * nothing was learned. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_embedding_model(const train_embedding_choice *choice, const train_dataset *data,
                                   codec_backend *be, train_device *device,
                                   const train_embedding_hooks *hooks, formats_buffer *out,
                                   train_embedding_report *report, taper_error *error);

#endif
