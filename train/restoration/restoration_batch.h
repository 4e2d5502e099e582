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

/* Squares of images, before the codec. */
typedef struct train_restoration_squares {
    codec_window window;
    codec_grid *grid;       /* [images] */
    float *target;          /* [windows][values of a window] of the originals */
    float *coded;           /* likewise, after the lap: the codec's input */
    size_t images, windows; /* 0: these are another rank's */
} train_restoration_squares;

/* Draws squares of about `pixels` pixels in total, half of them mirrored. All ranks call this,
 * because each has some of the pixels; is_mine 0: another rank needs them, and nothing is held
 * here. Ranks wait for each other, so draw all that a step needs before its computations. On
 * failure nothing is held. TAPER_ERR_NOMEM, TAPER_ERR_IO. */
taper_status train_restoration_squares_draw(train_restoration_squares *squares, codec_window window,
                                            const train_draw *draw, size_t pixels, int is_mine,
                                            taper_error *error);
void train_restoration_squares_free(train_restoration_squares *squares);

/* Squares as decoded from the first `pass` passes, and their originals. model: without a
 * conditional model, with its head; its restoration is not applied. be may have a pool. On failure
 * nothing is held. TAPER_ERR_NOMEM. */
taper_status train_restoration_batch_make(train_restoration_batch *batch,
                                          const train_restoration_squares *squares,
                                          const taper_model *model, codec_backend *be,
                                          uint32_t pass, taper_error *error);
/* Mean squared error of the decoded numbers. */
double train_restoration_mse(const train_restoration_batch *batch);
void train_restoration_batch_free(train_restoration_batch *batch);

#endif
