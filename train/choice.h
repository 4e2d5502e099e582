/* choice.h -- chooses among models the one with the least bytes for a set, payload and model
 * together, at equal quality. */
#ifndef TRAIN_CHOICE_H
#define TRAIN_CHOICE_H
#include "train/calibrate/evaluate.h"

/* A model, measured on the validation part. */
typedef struct train_offer {
    const train_rd_curve *curve;
    uint64_t model_bytes;
} train_offer;

/* Returns the index of the model with the fewest bytes per image, its own bytes being spread over
 * set_images. The mean is over logarithms of bytes at those of 25, 30 and 35 dB that at least one
 * model reaches; if there are none, at qualities 15 dB lower. A model that does not reach a quality
 * counts as the more expensive of raw_bytes, an image without a codec, and the most expensive model
 * that reaches it. Among equals it is the first. n >= 1. */
size_t train_choose(const train_offer *offer, size_t n, double raw_bytes, uint64_t set_images);

#endif
