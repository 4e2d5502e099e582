/* choice.h -- which of several models serves a set best, by file and model bytes at the same
 * qualities. */
#ifndef TRAIN_CHOICE_H
#define TRAIN_CHOICE_H
#include "train/calibrate/evaluate.h"

/* A model, as it did on the validation part. */
typedef struct train_offer {
    const train_rd_curve *curve;
    uint64_t model_bytes;
} train_offer;

/* The offer whose bytes an image, with the model's spread over set_images, are fewest: a mean of
 * logarithms over 25, 30 and 35 dB, of these the qualities that at least one offer reaches. Where
 * none reaches any, 15 dB lower. An offer that does not reach one costs there what the image costs
 * without a codec, raw_bytes, or as much as the dearest that does. Of equals the first. n >= 1. */
size_t train_choose(const train_offer *offer, size_t n, double raw_bytes, uint64_t set_images);

#endif
