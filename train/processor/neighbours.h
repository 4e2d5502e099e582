/* neighbours.h -- distances of a few rows of codes to a chunk of columns. They stay in the
 * first-level cache until they have become kernels and sums (neighbours.c) or pulls (pulls.c).
 *
 * TRAIN_ROWS_AT_ONCE rows are processed at once. Columns are padded to whole lanes; padding columns
 * are unlabelled. */
#ifndef TRAIN_PROCESSOR_NEIGHBOURS_H
#define TRAIN_PROCESSOR_NEIGHBOURS_H
#include "train/device/elements_neighbours.h"

enum { TRAIN_CHUNK = 512, TRAIN_ROWS_AT_ONCE = 4, TRAIN_LANES = 16 };

/* Columns first .. first + columns - 1 for some rows. */
typedef struct train_chunk {
    /* wide: columns rounded up to whole lanes */
    size_t first, columns, wide;
    uint32_t label[TRAIN_CHUNK];
    float square[TRAIN_ROWS_AT_ONCE][TRAIN_CHUNK]; /* squared distances of each row */
} train_chunk;

/* Fills the chunk at column `first`, with its distances to rows row .. row + at_once - 1. */
void train_chunk_begin(const train_neighbours *n, size_t row, size_t at_once, size_t first,
                       train_chunk *chunk);

/* Removes a row from its own neighbours; returns the label that train_chunk_show restores. */
CODEC_INLINE uint32_t train_chunk_hide(train_chunk *c, size_t row) {
    if (row < c->first || row >= c->first + c->columns) return TRAIN_UNLABELLED;
    const uint32_t label = c->label[row - c->first];
    c->label[row - c->first] = TRAIN_UNLABELLED;
    return label;
}
CODEC_INLINE void train_chunk_show(train_chunk *c, size_t row, uint32_t label) {
    if (label != TRAIN_UNLABELLED) c->label[row - c->first] = label;
}

CODEC_INLINE double train_sum_lanes(const float *lane) {
    double sum = 0.0;
    for (size_t l = 0; l < TRAIN_LANES; l++) sum += (double)lane[l];
    return sum;
}

#endif
