/* nested_activations.h -- a block of rows on its way through a nested-dropout autoencoder, forward
 * and back. Blocks bound its memory. */
#ifndef TRAIN_NESTED_ACTIVATIONS_H
#define TRAIN_NESTED_ACTIVATIONS_H
#include "train/device/device.h"
#include "train/nested/nested_shape.h"

enum {
    TRAIN_NESTED_BLOCK = 512,         /* rows that go through at once */
    TRAIN_NESTED_FEEDBACK_ROWS = 128, /* units whose feedback is made at once */
};

/* Of one block of rows, on the device. Where equation 14 asks for it, rows [n, 2n) of the encoder's
 * side are the perturbed copies of rows [0, n). */
typedef struct train_nested_activations {
    size_t n, encoded;                           /* rows; rows of the encoder's side: n or 2n */
    uint32_t active;                             /* units that take part */
    uint32_t *kept;                              /* [BLOCK] truncations */
    float *centred;                              /* [BLOCK][D] c */
    float *input;                                /* [2 BLOCK][D] c corrupted or perturbed */
    float *hidden[TRAIN_NESTED_MAX_LAYERS];      /* [2 BLOCK][w_l] h_l, l >= 1 at [l - 1] */
    float *pre, *code;                           /* [2 BLOCK][active] a; [BLOCK][active] x */
    float *back_hidden[TRAIN_NESTED_MAX_LAYERS]; /* [BLOCK][w_l] g_l, g_0 at [0] */
    float *wide[2];                              /* [2 BLOCK][widest] gradients on their way */
    float *packed;                               /* [2 BLOCK][K] columns of trained units */
    float *mixed, *products;                     /* [BLOCK][K] z; feedback: [FEEDBACK_ROWS][K] */
    double *row_error, *row_noise, *row_moved;   /* [BLOCK] |g_0 - c|^2 / D; |epsilon|^2; what
                                                    equation 14 sums */
} train_nested_activations;

/* Room for a block, from an arena (device.h: first without memory). */
void train_nested_activations_lay_out(train_nested_activations *act,
                                      const train_nested_shape *shape, train_arena *arena);
#endif
