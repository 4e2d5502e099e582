/* restoration_batch.h -- a batch for a restoration network (codec/transform/restoration.h): parts
 * of images as decoded at some cut, and their originals. */
#ifndef TRAIN_RESTORATION_BATCH_H
#define TRAIN_RESTORATION_BATCH_H
#include "codec/model/model.h"
#include "train/sampling/dataset.h"

typedef struct train_restoration_batch {
    size_t rows;         /* patches of all parts */
    uint32_t values;     /* numbers of a patch */
    float *decoded;      /* [rows][values] on the 8-bit scale */
    float *target;       /* likewise, of the original */
    uint32_t *neighbour; /* [CODEC_RESTORATION_TAPS][rows] neighbouring patches; `rows`: none */
} train_restoration_batch;

/* Draws squares of about `pixels` pixels in total, half of them mirrored, and decodes them from the
 * first `pass` passes. model: without a conditional model, with its head; its restoration is not
 * applied. be may have a pool. All ranks call this, because each has some of the pixels; is_mine 0:
 * another one needs the batch, which is then empty here. On failure nothing is held. */
taper_status train_restoration_batch_make(train_restoration_batch *batch, const taper_model *model,
                                          codec_backend *be, const train_draw *draw, size_t pixels,
                                          uint32_t pass, int is_mine, taper_error *error);
/* Mean squared error of the decoded numbers. */
double train_restoration_mse(const train_restoration_batch *batch);
void train_restoration_batch_free(train_restoration_batch *batch);

#endif
