/* train.h -- from images to a model file: the one call behind `taper train`.
 *
 * The room train/: from images to a model.
 *   train                      the stages one after the other; train_options: its options
 *   train_stages               the stages, declared; train_parts: what they share
 *   train_basis_stage          the transform of a linear model
 *   train_dense_stages         family dense; train_nested_stages: the paper's autoencoders
 *   train_conditional_stage    adds a network that predicts bits; train_restoration_stage: one that
 *                              restores pixels
 *   train_adapt                models from elsewhere that learn on
 *   builtin_comparison         a trained model against those that ship
 *   choice                     which of several models serves a set best
 *   side_by_side               several that learn at once on one device; relay: what they say, in
 *                              turn */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H
#include "train/train_options.h"

typedef struct train_report {
    codec_window window; /* lap: NULL */
    uint32_t lap, units, passes;
    uint64_t model_bytes;
    size_t images, validation_images;
    int binary;        /* a unit is one bit */
    int used_linear;   /* family dense, planes: training gained nothing, the linear start is kept */
    int scaled;        /* the images were scaled to the window, for codes of bits */
    int head_left_out; /* a head was asked for and gained nothing */
    int restoration_left_out;  /* likewise a restoration network: the model is of family pca */
    train_rd_curve validation; /* on the validation part */
} train_report;

/* Learn a model from data and append the .tpm file to out. Networks learn on the device; be, which
 * may have a pool, does what the host needs. hooks may be NULL. TAPER_ERR_ARG: options that do not
 * fit the data (with the remedy); TAPER_ERR_NOMEM; TAPER_ERR_DEVICE. */
taper_status train_model(const train_options *options, const train_dataset *data, codec_backend *be,
                         train_device *device, const train_hooks *hooks, formats_buffer *out,
                         train_report *report, taper_error *error);

#endif
