/* conditional_batch.h -- a batch for the conditional model: random images as a group of codes, what
 * is known of them at a stage, and the bits that come then, with what contexts predict for them. */
#ifndef TRAIN_CONDITIONAL_BATCH_H
#define TRAIN_CONDITIONAL_BATCH_H
#include "codec/backend/pool.h"
#include "codec/bitplane/chunk_coder.h"
#include "codec/model/model.h"
#include "train/device/operations.h"
#include "train/sampling/dataset.h"

typedef struct train_conditional_batch {
    codec_chunk_coder coder; /* of its images; without a conditional model */
    codec_grid *grid;
    float *x;      /* [coder.group.n][units] codes */
    int16_t *code; /* [units][coder.group.stride] the same, quantised at the finest step */
    size_t images;
} train_conditional_batch;

/* Random images of image[n], numbers in data, until there are `windows` windows or the next does
 * not fit. Of an image of more than `side` windows a side, a random square of that size. The draws
 * are numbered by seed and step. model->tables must have no conditional model. On failure nothing
 * is held. */
taper_status train_conditional_batch_make(train_conditional_batch *batch, const taper_model *model,
                                          codec_backend *be, const train_dataset *data,
                                          const size_t *image, size_t n, size_t windows,
                                          uint32_t side, uint64_t seed, uint64_t step,
                                          taper_error *error);
/* A batch of these windows, pixels[][values] after the lap, of images of these grids: batch->grid
 * (malloc'd) and batch->images are set. On failure nothing is held, the grids neither. */
taper_status train_conditional_batch_fill(train_conditional_batch *batch, const taper_model *model,
                                          codec_backend *be, const float *pixels,
                                          taper_error *error);
void train_conditional_batch_free(train_conditional_batch *batch);

/* The group as if the first `pass` passes had been sent. The positions that the fractions of
 * incomplete planes hold are those of now, not of when they would have been sent. */
void train_conditional_know(train_conditional_batch *batch, uint32_t pass);

/* The group as if the first `pass` passes had been sent, and the first `own` units as they are
 * known then: seen[group.n][own], the a of codec/bitplane/conditional.h. */
void train_conditional_see(train_conditional_batch *batch, codec_pool *pool, uint32_t pass,
                           uint32_t own, int8_t *seen);

/* neighbour[TRAIN_SIDES][group.n] (train/device/operations.h). */
void train_conditional_neighbours(const train_conditional_batch *batch, uint32_t *neighbour);

/* bit[group.n][end - pass] of passes group.pass .. end - 1, which the group then knows. */
void train_conditional_bits(train_conditional_batch *batch, codec_pool *pool, uint32_t end,
                            train_bit *bit);

#endif
