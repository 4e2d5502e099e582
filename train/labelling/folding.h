/* folding.h -- a teacher as a plain network: its normalisation is folded into the weights.
 *
 * A hidden layer max((z - mean) inverse + b, 0), z = W y, equals ReLU of W' y + b' for constant
 * statistics. Row i of W' is that of W times inverse_i, and b'_i = b_i - inverse_i mean_i. Mean and
 * variance are averages over the batches of an epoch. */
#ifndef TRAIN_FOLDING_H
#define TRAIN_FOLDING_H
#include "train/device/feed.h"
#include "train/labelling/teacher.h"

/* The batches: batch i has rows i x batch .. of the order. */
typedef struct train_folding {
    train_teacher *teacher;
    train_feed *feed;
    const train_order *order;
    size_t batch, batches;
} train_folding;

/* Writes into net, which has the shape that the teacher was made from and takes pixels of 0..255.
 * On failure net is unchanged. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_fold(const train_folding *folding, codec_network *net);

#endif
