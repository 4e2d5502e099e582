/* rbm_rows.h -- the training data of a layer: pixels as y / 255, or the means of the hidden units
 * of the machines below. */
#ifndef TRAIN_RBM_ROWS_H
#define TRAIN_RBM_ROWS_H
#include "train/device/feed.h"
#include "train/device/operations.h"
#include "train/rbm/rbm_options.h"
#include "train/sampling/own_rows.h"

typedef struct train_rbm_rows {
    train_stream *stream; /* borrowed */
    size_t batch;         /* rows of a take, at most */
    train_feed feed;      /* of pixels */
    train_order order;
    /* Of pixels, then of each machine's hidden units. */
    uint32_t width[CODEC_MAX_LAYERS];
    uint32_t layers; /* machines below */
    /* on the device */
    float *zeros;                                             /* [width[0]] */
    float *weight[CODEC_MAX_LAYERS], *bias[CODEC_MAX_LAYERS]; /* of these machines */
    float *means[2];                                          /* [batch][widest], alternating */
    /* [n][width[layers]] the data of all rows; NULL: computed for each take */
    float *kept;
    train_arena arena, kept_arena;
} train_rbm_rows;

/* Opens the data of machine `layers` of a stack that has at least so many. order: the rows that are
 * here; order, pixels and stream are borrowed. rows must be zeroed; close it after a failure too.
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_rbm_rows_open(train_rbm_rows *rows, train_stream *stream,
                                 const train_rbm_stack *stack, uint32_t layers,
                                 const train_pixels *data, const train_own_rows *order,
                                 size_t batch, size_t most_kept);
void train_rbm_rows_close(train_rbm_rows *rows); /* leaves it zeroed; zeroed is fine */

/* Uploads the order again after the host has changed it. */
taper_status train_rbm_rows_update(train_rbm_rows *rows);
/* to[n][width] on the device = the rows numbered order[first], ...; n is at most `batch`. */
taper_status train_rbm_rows_take(train_rbm_rows *rows, size_t first, size_t n, float *to);

#endif
