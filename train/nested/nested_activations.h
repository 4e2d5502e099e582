/* nested_activations.h -- the activations of a block of rows in a nested-dropout autoencoder,
 * forward and backward. Blocks limit its memory. What layers read and write is factors
 * (train_keep): input, hidden, code, wide, and back_hidden. The exception is g_0, to which an
 * evaluation adds the errors of one length after the other. */
#ifndef TRAIN_NESTED_ACTIVATIONS_H
#define TRAIN_NESTED_ACTIVATIONS_H
#include "train/device/operations.h"
#include "train/nested/nested_shape.h"

enum { TRAIN_NESTED_FEEDBACK_ROWS = 128 }; /* units whose feedback is computed at once */

/* Of one block of rows, on the device. Where equation 14 asks for it, rows [n, 2n) of the encoder's
 * side are the perturbed copies of rows [0, n). */
typedef struct train_nested_activations {
    train_arena arena;
    size_t block; /* BLOCK below: rows that fit */
    /* Rows; rows on the encoder's side: n or 2n. */
    size_t n, encoded;
    uint32_t active; /* units in use */
    /* Rows of a step that thresholds follow, the last ones, at most TRAIN_LEAST_ROWS; and the units
     * in use for them. */
    size_t last;
    uint32_t last_active;
    uint32_t *kept;                         /* [BLOCK] truncations */
    train_inputs rows;                      /* c, as bytes on the device */
    float *input;                           /* [2 BLOCK][D] c, or c corrupted; perturbed */
    float *hidden[TRAIN_NESTED_MAX_LAYERS]; /* [2 BLOCK][w_l] h_l, l >= 1 at [l - 1] */
    float *pre, *code;                      /* [2 BLOCK][active] a; [BLOCK][active] x */
    /* [BLOCK][w_l] g_l; in an evaluation g_0 at [0] */
    float *back_hidden[TRAIN_NESTED_MAX_LAYERS];
    /* [2 BLOCK][widest] g_0 of a step, and gradients between layers */
    float *wide[2];
    float *packed;           /* [2 BLOCK][K] columns of trained units */
    float *mixed, *products; /* [BLOCK][K] z; feedback: [FEEDBACK_ROWS][K] */
    /* [BLOCK] |g_0 - c|^2 / D; |epsilon|^2; the terms of equation 14 */
    double *row_error, *row_noise, *row_moved;
} train_nested_activations;

/* Allocates for `rows` rows, or for block_rows of the device if that is less; always a multiple of
 * TRAIN_LEAST_ROWS. If memory is short and no other model shares the device, it tries half of that
 * repeatedly, down to TRAIN_LEAST_ROWS. Previous contents of act are lost; zeroed is fine.
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is held. */
taper_status train_nested_activations_alloc(train_nested_activations *act,
                                            const train_nested_shape *shape, train_device *device,
                                            size_t rows);
/* The same for half of the present rows. TAPER_ERR_NOMEM: they are the minimum already, or other
 * models share the device. */
taper_status train_nested_activations_halve(train_nested_activations *act,
                                            const train_nested_shape *shape);
void train_nested_activations_free(train_nested_activations *act); /* leaves it zeroed */
#endif
