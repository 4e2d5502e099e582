/* convolutions.h -- the convolutional layers of a stack, forward and backward, on a device
 * (codec/transform/convolution.h). Rows are processed some at a time, because the patches of a row
 * have nine times as many values as its map. */
#ifndef TRAIN_CONVOLUTIONS_H
#define TRAIN_CONVOLUTIONS_H
#include "codec/transform/network.h"
#include "train/device/operations.h"

typedef struct train_convolutions {
    /* [batch][outputs] of each such layer: which of 2x2 outputs was the largest */
    uint8_t *which[CODEC_MAX_LAYERS];
    size_t room;     /* floats in patches */
    float *patches;  /* scratch */
    float *products; /* scratch: [places][channels] of the same rows */
} train_convolutions;

/* Without convolutional layers nothing is taken. */
void train_convolutions_lay_out(train_convolutions *c, train_arena *arena, const codec_stack *stack,
                                size_t batch, const train_device *device);

/* to[rows][outputs] = activation(layer i of from[rows][inputs]); fills which[rows][outputs]. */
taper_status train_convolve(train_stream *stream, const codec_layer *layer, size_t rows,
                            const float *from, codec_activation activation,
                            const train_convolutions *c, uint8_t *which, float *to);

/* A layer's backward pass; dy[rows][outputs] is the gradient of its pre-activation. */
typedef struct train_convolution_gradient {
    const codec_layer *layer;
    size_t rows;
    const uint8_t *which; /* [rows][outputs] */
    const float *dy;
    const float *x; /* [rows][inputs]; NULL: the gradient of the weights is not computed */
    float beta;     /* dweight = beta dweight + the gradient of the weights */
    float *dweight;
    float *dx; /* [rows][inputs] is overwritten; NULL: not computed */
} train_convolution_gradient;
taper_status train_convolve_backward(train_stream *stream, const train_convolution_gradient *g,
                                     const train_convolutions *c);

#endif
