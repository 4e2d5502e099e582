/* drawn_start.h -- random first weights of networks with hidden layers. */
#ifndef TRAIN_DRAWN_START_H
#define TRAIN_DRAWN_START_H
#include "codec/transform/network.h"

/* Fill a direct network, its decoder where it has one, too: ReLU between layers, normal weights of
 * variance 2 / inputs, of the last layer 1 / inputs (He, Zhang, Ren & Sun, "Delving deep into
 * rectifiers", 2015), biases 0; of the first layer for pixels / 255. A decoder's last layer gives
 * the middle grey and a quarter of 255 times its weights' sums (train/embedding/embedder.h). Draws
 * of TRAIN_STREAM_WEIGHTS. */
void train_drawn_start(codec_network *net, uint64_t seed);

#endif
