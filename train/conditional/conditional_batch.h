/* conditional_batch.h -- a batch for the conditional model: random images as a group of codes, what
 * is known of them before a stage, the bits of the stage, and the contexts' predictions of them. */
#ifndef TRAIN_CONDITIONAL_BATCH_H
#define TRAIN_CONDITIONAL_BATCH_H
#include "codec/backend/pool.h"
#include "codec/bitplane/chunk_coder.h"
#include "codec/model/model.h"
#include "train/device/operations.h"
#include "train/sampling/dataset.h"

typedef struct train_conditional_batch {
    /* Of the batch's images; without a conditional model. */
    codec_chunk_coder coder;
    codec_grid *grid;
    float *x; /* [coder.group.n][units] codes */
    /* [units][coder.group.stride] the same, quantised at the finest step */
    int16_t *code;
    size_t images;
    size_t windows; /* of all ranks; set by train_conditional_batch_make */
} train_conditional_batch;

/* Draws images until the batch has `windows` windows or the next image does not fit. Images of more
 * than `side` windows a side are cropped to a random square of that size. model->tables must have
 * no conditional model. Of several ranks, which all draw the same images, each gets a part of them,
 * which may be none: images is 0 then, and nothing else is set. On failure nothing is held. */
taper_status train_conditional_batch_make(train_conditional_batch *batch, const taper_model *model,
                                          codec_backend *be, const train_draw *draw, size_t windows,
                                          uint32_t side, taper_error *error);
/* The same from given windows, pixels[][values] after the lap. The caller sets batch->grid
 * (malloc'd) and batch->images. On failure nothing is held, including the grids. */
taper_status train_conditional_batch_fill(train_conditional_batch *batch, const taper_model *model,
                                          codec_backend *be, const float *pixels,
                                          taper_error *error);
void train_conditional_batch_free(train_conditional_batch *batch);

/* Sets the group to the state after the first `pass` passes. Fractions of incomplete planes use
 * the present positions, not those at the time when the passes would have been sent. */
void train_conditional_know(train_conditional_batch *batch, uint32_t pass);

/* The same, and the known values of the first `own` units: seen[group.n][own], a in
 * codec/bitplane/conditional.h. */
void train_conditional_see(train_conditional_batch *batch, codec_pool *pool, uint32_t pass,
                           uint32_t own, int8_t *seen);

/* neighbour[TRAIN_SIDES][group.n] (train/device/operations.h). */
void train_conditional_neighbours(const train_conditional_batch *batch, uint32_t *neighbour);

/* bit[group.n][end - pass] of passes group.pass .. end - 1; then the group knows these passes. */
void train_conditional_bits(train_conditional_batch *batch, codec_pool *pool, uint32_t end,
                            train_bit *bit);

#endif
