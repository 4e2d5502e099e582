/* decoding.h -- the cross-entropy of what a decoder makes of whole codes.
 *
 *     cost = - sum over pixels of x log y + (1 - x) log(1 - y),   y = 1 / (1 + e^-a),  a = g(code)
 *
 * with pixels x of 0..1 and g a stack of layers: equation 18 of Salakhutdinov & Hinton (2007),
 * whose gradient by a is y - x. The share of it that counts is `part`, the 1 - lambda of their
 * equation 16; what the rest counts is the caller's to see to. */
#ifndef TRAIN_DECODING_H
#define TRAIN_DECODING_H
#include "train/objectives/objective.h"
#include "train/objectives/stack.h"

typedef struct train_decoding {
    double part;               /* 0..1 */
    const codec_stack *w, *dw; /* the decoder's numbers and gradients, borrowed */
    const train_inputs *rows;  /* what was encoded, as many as examples, borrowed */
    float *logit;              /* [batch][inputs] a, then d loss / d a */
    double *cost;              /* [batch] */
    train_stack_activations act;
} train_decoding;

/* self: train_decoding. Its loss is part x cost, its figure the sum of costs. */
extern const train_objective train_decoding_objective;

/* Its arrays, but for act.back. */
void train_decoding_lay_out(train_decoding *d, train_arena *arena, const codec_stack *shape,
                            codec_activation between, size_t batch);

#endif
