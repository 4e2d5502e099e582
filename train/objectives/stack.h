/* stack.h -- a stack of fully connected layers with an activation between, forward and back, on a
 * device. Weights, gradients and activations are all there. */
#ifndef TRAIN_STACK_H
#define TRAIN_STACK_H
#include "codec/transform/network.h"
#include "train/device/operations.h"

/* Point the layers of view, shaped like `shape`, into an array, weights and then biases, layer by
 * layer. NULL: only count. Returns how many numbers they take. */
size_t train_stack_view(const codec_stack *shape, float *array, codec_stack *view);

/* What a batch leaves behind on its way, for the way back. */
typedef struct train_stack_activations {
    float dropout; /* of hidden units, with layers numbered from 0 (train/sampling/corruption.h);
                      0: none, as at all times but in training */
    train_noise noise;               /* its draws */
    codec_activation between;        /* of hidden layers */
    float *hidden[CODEC_MAX_LAYERS]; /* [batch][outputs] of hidden layers */
    float *back[2];                  /* [batch][widest]: their gradients, taken in turn; borrowed */
} train_stack_activations;

/* The widest hidden layer. */
size_t train_stack_widest(const codec_stack *stack);
void train_stack_lay_out(train_stack_activations *act, train_arena *arena, const codec_stack *stack,
                         codec_activation between, size_t batch);

/* to[rows][outputs] += stack(from[rows][inputs]). */
taper_status train_stack_forward(train_stream *stream, const codec_stack *w, size_t rows,
                                 const float *from, const train_stack_activations *act, float *to);

/* Gradients of the layers, into dw's arrays, from that of the output, dy[rows][outputs], which
 * stays as it is; with dropout hidden activations are spoilt. If dx is given, dx[rows][inputs] += d
 * loss / d input. input NULL: that of the first layer's weights is left to the caller, as the
 * product of train_stack_first and input. */
taper_status train_stack_backward(train_stream *stream, const codec_stack *w, const codec_stack *dw,
                                  size_t rows, const float *input,
                                  const train_stack_activations *act, float *dy, float *dx);
/* After it: [rows][outputs] the gradient of what the first layer adds up. */
const float *train_stack_first(const codec_stack *w, const train_stack_activations *act,
                               const float *dy);

#endif
