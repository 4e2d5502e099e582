/* folding.h -- a teacher as a plain network: what normalised its layers goes into their weights.
 *
 * A hidden layer's max((z - mean) inverse + b, 0), z = W y, is ReLU of W' y + b' with row i of W'
 * that of W times inverse_i, and b'_i = b_i - inverse_i mean_i, for statistics that no longer
 * change: mean and variance are their means over the batches of an epoch. */
#ifndef TRAIN_FOLDING_H
#define TRAIN_FOLDING_H
#include "train/device/feed.h"
#include "train/labelling/teacher.h"

/* The batches: rows first = i x batch .. of the order. */
typedef struct train_folding {
    train_teacher *teacher;
    train_feed *feed;
    const train_order *order;
    size_t batch, batches;
} train_folding;

/* Into net, of the shape that the teacher was made from; it takes pixels of 0..255. net is as it
 * was on failure. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_fold(const train_folding *folding, codec_network *net);

#endif
