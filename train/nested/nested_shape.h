/* nested_shape.h -- the widths of a nested-dropout autoencoder and the kind of its units. */
#ifndef TRAIN_NESTED_SHAPE_H
#define TRAIN_NESTED_SHAPE_H
#include "codec/transform/network.h"

enum { TRAIN_NESTED_MAX_LAYERS = 7 };

typedef struct train_nested_shape {
    uint32_t inputs;                         /* D */
    uint32_t layers;                         /* L, 1 .. TRAIN_NESTED_MAX_LAYERS */
    uint32_t width[TRAIN_NESTED_MAX_LAYERS]; /* w_1 .. w_L = K */
    codec_activation hidden, code;           /* code: ignored if binary */
    int tied, binary;
    /* Binary: units have feedback from earlier ones. */
    int feedback;
    /* With feedback: first units that have none; 0 .. K. */
    uint32_t alone;
    float centre; /* binary: 0 .. 1 */
} train_nested_shape;

/* Returns 1 if its code can be mixed before decoding, so that its decoder can be refitted
 * (refit.h). */
static inline int train_nested_can_mix(const train_nested_shape *s) {
    return s->binary && !s->tied && s->layers == 1;
}

#endif
