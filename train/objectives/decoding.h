/* decoding.h -- the cross-entropy between pixels and their reconstruction from whole codes.
 *
 *     cost = - sum over pixels of x log y + (1 - x) log(1 - y),   y = 1 / (1 + e^-a),  a = g(code)
 *
 * The pixels x lie in 0..1, and g is the decoder, a stack of layers. Source: Salakhutdinov & Hinton
 * (2007), equation 18; the gradient by a is y - x. The cost is weighted by `part`, which is
 * 1 - lambda in their equation 16. The caller weights the other term. */
#ifndef TRAIN_DECODING_H
#define TRAIN_DECODING_H
#include "train/objectives/objective.h"
#include "train/objectives/stack.h"

typedef struct train_decoding {
    double part; /* weight of the cost, 0..1 */
    /* The decoder's parameters and gradients, borrowed. */
    const codec_stack *w, *dw;
    /* The encoded pixels, one row per example; borrowed. */
    const train_inputs *rows;
    float *logit; /* [batch][inputs] a, then d loss / d a */
    double *cost; /* [batch] */
    train_stack_activations act;
} train_decoding;

/* self: train_decoding. The loss is part x cost; the reported figure is the sum of the costs. */
extern const train_objective train_decoding_objective;

/* Lays out its arrays, except act.back. */
void train_decoding_lay_out(train_decoding *d, train_arena *arena, const codec_stack *shape,
                            codec_activation between, size_t batch);

#endif
