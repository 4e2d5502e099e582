/* stack.h -- a stack of layers with activations between them, forward and backward, on a device.
 * The first layers may be convolutional (convolutions.h), the others are fully connected. Weights,
 * gradients and activations are on the device. */
#ifndef TRAIN_STACK_H
#define TRAIN_STACK_H
#include "codec/transform/network.h"
#include "train/device/operations.h"
#include "train/objectives/convolutions.h"

/* Points the layers of `view`, which has the shape of `shape`, into an array: the weights and then
 * the biases of each layer, in order. array NULL: only counts. Returns the number of elements. */
size_t train_stack_view(const codec_stack *shape, float *array, codec_stack *view);

/* What the forward pass keeps for the backward pass. */
typedef struct train_stack_activations {
    /* Dropout probability of hidden units; layers are numbered from 0
     * (train/sampling/corruption.h). 0: none, as always outside of training. */
    float dropout;
    train_noise noise;               /* its random numbers */
    codec_activation between;        /* of hidden layers */
    float *hidden[CODEC_MAX_LAYERS]; /* [batch][outputs] of hidden layers */
    train_convolutions convolutions; /* laid out by the caller, if there are convolutional layers */
    /* [batch][widest] their gradients, alternating; borrowed */
    float *back[2];
} train_stack_activations;

/* The widest hidden layer. */
size_t train_stack_widest(const codec_stack *stack);
void train_stack_lay_out(train_stack_activations *act, train_arena *arena, const codec_stack *stack,
                         codec_activation between, size_t batch);

/* to[rows][outputs] += stack(from[rows][inputs]). */
taper_status train_stack_forward(train_stream *stream, const codec_stack *w, size_t rows,
                                 const float *from, const train_stack_activations *act, float *to);

/* Gradients of the layers, into dw's arrays, from the output's gradient dy[rows][outputs], which
 * is not changed. With dropout the hidden activations are overwritten. If dx is not NULL,
 * dx[rows][inputs] += d loss / d input. If input is NULL, the caller computes the gradient of the
 * first layer's weights, by train_stack_first_weights. dx must be NULL if the first layer is
 * convolutional. */
taper_status train_stack_backward(train_stream *stream, const codec_stack *w, const codec_stack *dw,
                                  size_t rows, const float *input,
                                  const train_stack_activations *act, float *dy, float *dx);
/* Some rows of a backward pass, with their input[rows][inputs]. */
typedef struct train_stack_rows {
    size_t first, rows;
    const float *input;
} train_stack_rows;
/* After train_stack_backward with the same dy: dweight = beta dweight + the gradient of the first
 * layer's weights by these rows of that call. */
taper_status train_stack_first_weights(train_stream *stream, const codec_stack *w,
                                       const train_stack_activations *act, const float *dy,
                                       const train_stack_rows *part, float beta, float *dweight);

#endif
