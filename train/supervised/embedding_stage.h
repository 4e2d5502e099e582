/* embedding_stage.h -- from rows of pixels to an embedding's network, as a choice says: the start,
 * learning by labels; and how well neighbours among its codes tell the labels of held-out rows. */
#ifndef TRAIN_EMBEDDING_STAGE_H
#define TRAIN_EMBEDDING_STAGE_H
#include "codec/backend/backend.h"
#include "codec/model/model.h"
#include "train/embedding/embedding_errors.h"
#include "train/supervised/embedding_choice.h"

typedef struct train_embedding_stage {
    codec_backend *be;
    train_device *device;
    const train_embedding_hooks *hooks;
    codec_window window;        /* of the rows */
    double pretraining_seconds; /* out: of the last one learned */
} train_embedding_stage;

/* A model's window and network, learned from rows that have a label (TRAIN_UNLABELLED: it has
 * none). m: zeroed before; its network is the caller's to free, after a failure, too. Returns what
 * train_embedding_model does. */
taper_status train_embedding_learn(train_embedding_stage *stage,
                                   const train_embedding_choice *choice, const train_pixels *rows,
                                   taper_model *m, train_embedding_result *result,
                                   taper_error *error);

/* Errors on rows->all's held-out rows of the neighbours of their codes, which the processor makes
 * as the library does, by the first `units` of them (0: all). net NULL: of pixels. wrong: which of
 * them err (embedding_errors.h), or NULL. TAPER_ERR_ARG: a
 * code is not finite; TAPER_ERR_NOMEM. */
taper_status train_embedding_judge(const train_embedding_stage *stage, const codec_network *net,
                                   size_t units, const train_pixels *pixels,
                                   const train_embedding_rows *rows,
                                   const train_embedding_options *options, uint8_t *wrong,
                                   taper_error_rate *rate, taper_error *error);

#endif
