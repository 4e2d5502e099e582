/* drawn_start.c -- see drawn_start.h. */
#include "train/embedding/drawn_start.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <string.h>

/* Initialises a layer: weights of variance gain / columns times scale^2, biases 0. */
static void draw(codec_layer *layer, double gain, double scale, uint64_t seed, uint32_t number) {
    const size_t n = codec_layer_weights(layer);
    const float deviation = (float)(sqrt(gain / (double)codec_layer_columns(layer)) * scale);
    train_philox_weights(layer->weight, n, deviation, seed, number);
    memset(layer->bias, 0, codec_layer_rows(layer) * sizeof *layer->bias);
}

void train_drawn_start(codec_network *net, uint64_t seed) {
    codec_stack *f = &net->encoder, *g = &net->decoder;
    net->hidden = CODEC_RELU;
    for (uint32_t l = 0; l < f->depth; l++)
        draw(&f->layer[l], l + 1 < f->depth ? 2.0 : 1.0, l ? 1.0 : 1.0 / 255.0, seed, l);
    for (uint32_t l = 0; l < g->depth; l++) {
        const int last = l + 1 == g->depth;
        draw(&g->layer[l], last ? 1.0 : 2.0, last ? 255.0 / 4.0 : 1.0, seed, f->depth + l);
        for (uint32_t j = 0; j < net->inputs && last; j++) g->layer[l].bias[j] = 255.0f / 2.0f;
    }
}
