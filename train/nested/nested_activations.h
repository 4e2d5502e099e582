/* nested_activations.h -- a block of rows on its way through a nested-dropout autoencoder, forward
 * and back. Blocks bound its memory. What layers read and write is factors (train_keep): input,
 * hidden, code, wide, and back_hidden but for g_0, to which the errors of a look are added length
 * after length. */
#ifndef TRAIN_NESTED_ACTIVATIONS_H
#define TRAIN_NESTED_ACTIVATIONS_H
#include "train/device/operations.h"
#include "train/nested/nested_shape.h"

enum { TRAIN_NESTED_FEEDBACK_ROWS = 128 }; /* units whose feedback is made at once */

/* Of one block of rows, on the device. Where equation 14 asks for it, rows [n, 2n) of the encoder's
 * side are the perturbed copies of rows [0, n). */
typedef struct train_nested_activations {
    train_arena arena;
    size_t block;                                /* rows there is room for: BLOCK below */
    size_t n, encoded;                           /* rows; rows of the encoder's side: n or 2n */
    uint32_t active;                             /* units that take part */
    size_t last;                                 /* of a step, rows that thresholds follow: the
                                                    last ones, at most TRAIN_LEAST_ROWS ... */
    uint32_t last_active;                        /* ... and units that take part in them */
    uint32_t *kept;                              /* [BLOCK] truncations */
    train_inputs rows;                           /* c, as it is on the device: in bytes */
    float *input;                                /* [2 BLOCK][D] c, or c corrupted; perturbed */
    float *hidden[TRAIN_NESTED_MAX_LAYERS];      /* [2 BLOCK][w_l] h_l, l >= 1 at [l - 1] */
    float *pre, *code;                           /* [2 BLOCK][active] a; [BLOCK][active] x */
    float *back_hidden[TRAIN_NESTED_MAX_LAYERS]; /* [BLOCK][w_l] g_l; a look's g_0 at [0] */
    float *wide[2];                              /* [2 BLOCK][widest] a step's g_0, and gradients on
                                                    their way */
    float *packed;                               /* [2 BLOCK][K] columns of trained units */
    float *mixed, *products;                     /* [BLOCK][K] z; feedback: [FEEDBACK_ROWS][K] */
    double *row_error, *row_noise, *row_moved;   /* [BLOCK] |g_0 - c|^2 / D; |epsilon|^2; what
                                                    equation 14 sums */
} train_nested_activations;

/* Room for `rows` rows at once, or as many of them as the device takes (block_rows), a multiple of
 * TRAIN_LEAST_ROWS. Where it has no memory for that, room for half of them, and half again, down to
 * TRAIN_LEAST_ROWS, unless others share the device. What act held is lost; zeroed before is fine.
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: there is no room. */
taper_status train_nested_make_room(train_nested_activations *act, const train_nested_shape *shape,
                                    train_device *device, size_t rows);
/* The same for half the rows that there is room for; TAPER_ERR_NOMEM: they are the least, or others
 * share the device. */
taper_status train_nested_halve_room(train_nested_activations *act,
                                     const train_nested_shape *shape);
void train_nested_free_room(train_nested_activations *act); /* leaves it zeroed */
#endif
