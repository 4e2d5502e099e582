/* restoration_batch.h -- a batch for a restoration network (codec/transform/restoration.h): parts
 * of images as a decoder has them at some cut, and as they were. */
#ifndef TRAIN_RESTORATION_BATCH_H
#define TRAIN_RESTORATION_BATCH_H
#include "codec/model/model.h"
#include "train/sampling/dataset.h"

typedef struct train_restoration_batch {
    size_t rows;         /* patches of all its pictures */
    uint32_t values;     /* numbers of a patch */
    float *decoded;      /* [rows][values] on the 8-bit scale */
    float *target;       /* likewise */
    uint32_t *neighbour; /* [CODEC_RESTORATION_TAPS][rows] the patch there, or `rows` */
} train_restoration_batch;

/* Random squares of about `pixels` pixels in all, out of image[n], numbers in data, half of them
 * mirrored; decoded from the first `pass` passes. model: without conditional model, with its head;
 * its restoration is not applied. be may have a pool. The draws are numbered by seed and step. On
 * failure nothing is held. */
taper_status train_restoration_batch_make(train_restoration_batch *batch, const taper_model *model,
                                          codec_backend *be, const train_dataset *data,
                                          const size_t *image, size_t n, size_t pixels,
                                          uint32_t pass, uint64_t seed, uint64_t step,
                                          taper_error *error);
/* Mean squared error of a number, as decoded. */
double train_restoration_mse(const train_restoration_batch *batch);
void train_restoration_batch_free(train_restoration_batch *batch);

#endif
