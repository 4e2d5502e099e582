/* random_restoration.h -- restoration networks with random weights, for tests and fuzz seeds. */
#ifndef TESTS_RANDOM_RESTORATION_H
#define TESTS_RANDOM_RESTORATION_H
#include "codec/transform/restoration.h"
#include "random_conditional.h"

/* A random network whose stages are evenly spread over the passes. extreme: all numbers at the ends
 * of their ranges, for the largest possible sums; else corrections of a few levels. Free with
 * codec_restoration_free. */
static inline codec_restoration restoration_random(uint32_t channels, uint32_t hidden,
                                                   uint32_t layers, uint32_t stages,
                                                   uint32_t passes, int extreme, uint64_t seed) {
    codec_restoration r = {
        .channels = channels, .hidden = hidden, .layers = layers, .stages = stages};
    if (codec_restoration_alloc(&r) != TAPER_OK) abort();
    int32_t bias = extreme ? CODEC_RESTORATION_MOST_BIAS : 2000;
    for (uint32_t s = 0; s < stages; s++) {
        r.at[s] = stages > 1 ? s * passes / (stages - 1) : 0;
        r.gain[s] = extreme ? CODEC_RESTORATION_MOST_GAIN : 500 + conditional_draw(&seed, 300);
    }
    for (size_t i = 0; i < (size_t)stages * hidden; i++)
        r.stage[i] = extreme ? bias : conditional_draw(&seed, bias);
    for (uint32_t l = 0; l < layers; l++) {
        codec_convolution *c = &r.layer[l];
        int32_t most = l ? CODEC_RESTORATION_MOST_BYTE_WEIGHT : CODEC_RESTORATION_MOST_WEIGHT;
        for (uint32_t o = 0; o < c->outputs; o++) {
            c->shift[o] = extreme ? 0 : (uint8_t)(8 + picture_random(&seed) % 3);
            for (uint32_t i = 0; i < CODEC_RESTORATION_TAPS * c->inputs; i++)
                c->weight[o * CODEC_RESTORATION_TAPS * c->inputs + i] =
                    (int16_t)(extreme ? most : conditional_draw(&seed, most));
            if (l) c->bias[o] = extreme ? bias : conditional_draw(&seed, bias);
        }
    }
    if (codec_restoration_pack(&r) != TAPER_OK) abort();
    return r;
}

#endif
