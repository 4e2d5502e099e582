/* drawn_start.c -- see drawn_start.h. */
#include "train/embedding/drawn_start.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <string.h>

void train_drawn_start(codec_network *net, uint64_t seed) {
    codec_stack *f = &net->encoder;
    net->hidden = CODEC_RELU;
    for (uint32_t l = 0; l < f->depth; l++) {
        codec_layer *layer = &f->layer[l];
        const size_t n = (size_t)layer->outputs * layer->inputs;
        const double gain = l + 1 < f->depth ? 2.0 : 1.0, pixels = l ? 1.0 : 1.0 / 255.0;
        const float deviation = (float)(sqrt(gain / layer->inputs) * pixels);
        train_philox_weights(layer->weight, n, deviation, seed, l);
        memset(layer->bias, 0, layer->outputs * sizeof *layer->bias);
    }
}
