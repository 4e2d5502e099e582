/* drawn_start.h -- random first weights of networks with hidden layers. */
#ifndef TRAIN_DRAWN_START_H
#define TRAIN_DRAWN_START_H
#include "codec/transform/network.h"

/* Initialises a direct network, including its decoder if it has one, for ReLU between layers.
 * Weights are normal of variance 2 / inputs, in the last layer 1 / inputs (He, Zhang, Ren & Sun,
 * "Delving deep into rectifiers", 2015); biases are 0. The first layer is scaled for pixels / 255.
 * A decoder's last layer gives middle grey plus a quarter of 255 times its weighted sums
 * (train/embedding/embedder.h). Random numbers are those of TRAIN_STREAM_WEIGHTS. */
void train_drawn_start(codec_network *net, uint64_t seed);

#endif
