/* gradient_rows.h -- rows of gradient orientations (codec/transform/gradients.h), made of rows of
 * pixels. */
#ifndef TRAIN_GRADIENT_ROWS_H
#define TRAIN_GRADIENT_ROWS_H
#include "codec/backend/operations.h"
#include "codec/transform/gradients.h"
#include "train/sampling/dataset.h"

typedef struct train_gradient_rows {
    codec_cells cells; /* across 0: none were made */
    train_pixels rows; /* as the pixels, but of codec_gradients_count values */
    uint8_t *memory;
} train_gradient_rows;

/* Make the rows of all pixels, which are windows of this size, by the threads of be. Rows of the
 * same cells are kept as they are. The cells must be legal. *to: zeroed, or from an earlier call
 * with the same pixels; the caller frees it. TAPER_ERR_NOMEM: it has no rows. */
taper_status train_gradient_rows_make(train_gradient_rows *to, const train_pixels *pixels,
                                      codec_window window, codec_cells cells, codec_backend *be);
/* Leaves it zeroed; zeroed is fine. */
void train_gradient_rows_free(train_gradient_rows *rows);

#endif
