/* train.h -- from images to a model file: the function behind `taper train` and
 * `train-bits`.
 *
 * Directory train/: from images to a model.
 *   train                      the sequence of stages; train_options: its options
 *   train_stages               declarations of the stages; train_parts: helpers of stages
 *   train_picture_stages       models with bit planes; train_nested_stages: codes of whole units
 *   train_basis_stage          the transform of a linear model; train_dense_stages: family dense
 *   train_conditional_stage    a network that predicts bits; train_restoration_stage: one that
 *                              restores pixels
 *   train_gradient_bits        binary codes of gradient orientations
 *   train_adapt                adapts an existing model
 *   builtin_comparison         compares a trained model with the built-in ones
 *   choice                     chooses the best model for a set
 *   side_by_side               parallel training on one device; relay: serialises its messages */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H
#include "train/train_options.h"

typedef struct train_report {
    codec_window window; /* lap: NULL */
    uint32_t lap, units, passes;
    uint64_t model_bytes;
    size_t images, validation_images;
    int binary;      /* 1: a unit is one bit */
    int used_linear; /* family dense, planes: 1: training gained nothing, so the linear
                                 start is the result */
    /* 1: the images were scaled to the window, for binary codes */
    int scaled;
    /* 1: a requested head gained nothing and was left out */
    int head_left_out;
    /* Likewise a restoration network; the model is of family pca. */
    int restoration_left_out;
    train_rd_curve validation; /* on the validation part; empty for codes of gradients */
} train_report;

/* Trains a model on data and appends the .tpm file to out. Networks are trained on the device; be,
 * which may have a pool, does the host's work. hooks may be NULL. TAPER_ERR_ARG: options that do
 * not fit the data (with the remedy); TAPER_ERR_NOMEM; TAPER_ERR_DEVICE. */
taper_status train_model(const train_options *options, const train_dataset *data, codec_backend *be,
                         train_device *device, const train_hooks *hooks, formats_buffer *out,
                         train_report *report, taper_error *error);

#endif
