/* embedding_stage.h -- trains the network of an embedding for given options, and measures the error
 * of nearest neighbours of its codes on held-out rows. */
#ifndef TRAIN_EMBEDDING_STAGE_H
#define TRAIN_EMBEDDING_STAGE_H
#include "codec/backend/backend.h"
#include "codec/model/model.h"
#include "train/embedding/embedding_errors.h"
#include "train/sampling/gradient_rows.h"
#include "train/supervised/embedding_choice.h"

typedef struct train_embedding_stage train_embedding_stage;
struct train_embedding_stage {
    codec_backend *be;
    train_device *device;
    const train_embedding_hooks *hooks;
    const train_pixels *pixels;    /* all rows, with their labels: for train_embedding_judge */
    codec_window window;           /* of the rows */
    train_gradient_rows gradients; /* of all rows, when they are needed; the owner frees it */
    double pretraining_seconds;    /* output: of the last network */
    /* Called with a start that was learned without labels, which it may replace; or NULL.
     * options: those of the training that follows. */
    taper_status (*choose_start)(train_embedding_stage *stage, const train_embedding_choice *choice,
                                 const train_embedding_options *options, const train_pixels *rows,
                                 codec_network *net, taper_error *error);
    train_embedding_start_trial start; /* output: of choose_start */
};

/* Trains a model's window, cells and network on labelled rows (TRAIN_UNLABELLED: no label): those
 * of stage->pixels, but for labels. m must be zeroed; the caller frees its network, after a failure
 * too. Returns the same errors as train_embedding_model. */
taper_status train_embedding_learn(train_embedding_stage *stage,
                                   const train_embedding_choice *choice, const train_pixels *rows,
                                   taper_model *m, train_embedding_result *result,
                                   taper_error *error);

/* Errors of nearest neighbours by code on the held-out rows of rows->all. The processor computes
 * the codes as the library does; the first `units` of them are used (0: all). m NULL: by pixels.
 * wrong: set for the rows in error (embedding_errors.h), or NULL. TAPER_ERR_ARG: a code is not
 * finite; TAPER_ERR_NOMEM. */
taper_status train_embedding_judge(train_embedding_stage *stage, const taper_model *m, size_t units,
                                   const train_embedding_rows *rows,
                                   const train_embedding_options *options, uint8_t *wrong,
                                   taper_error_rate *rate, taper_error *error);

#endif
