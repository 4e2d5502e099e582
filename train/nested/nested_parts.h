/* nested_parts.h -- what nested_network.c and nested_gradient.c share: the activations of a block
 * of rows and the way forward through it. */
#ifndef TRAIN_NESTED_PARTS_H
#define TRAIN_NESTED_PARTS_H
#include "train/nested/nested_network.h"

enum {
    TRAIN_NESTED_BLOCK = 512, /* rows that go through at once */
    TRAIN_NESTED_ROWS = 32    /* rows of a task of the pool */
};

/* Of one block of rows. Where equation 14 asks for it, rows [n, 2n) of the encoder's side are the
 * perturbed copies of rows [0, n). */
typedef struct train_nested_activations {
    size_t n, encoded;                           /* rows; rows of the encoder's side: n or 2n */
    uint32_t active;                             /* units that take part */
    float *centred;                              /* [BLOCK][D] c */
    float *input;                                /* [2 BLOCK][D] c corrupted or perturbed */
    float *hidden[TRAIN_NESTED_MAX_LAYERS];      /* [2 BLOCK][w_l] h_l, l >= 1 at [l - 1] */
    float *pre, *code;                           /* [2 BLOCK][active] a; [BLOCK][active] x */
    float *back_hidden[TRAIN_NESTED_MAX_LAYERS]; /* [BLOCK][w_l] g_l, g_0 at [0] */
    float *wide[2];                              /* [2 BLOCK][widest] gradients on their way */
    float *packed;                 /* [2 BLOCK][K] columns of trained units; or column sums */
    double *row_error, *row_noise; /* [BLOCK] |g_0 - c|^2 / D; |epsilon|^2 */
} train_nested_activations;

/* A block of rows in work. step and order may be NULL: nothing random; rows 0 .. n. */
typedef struct train_nested_rows {
    train_nested_network *net;
    const train_nested_step *step;
    const train_pixels *data;
    const uint32_t *order;
    size_t first_row, of; /* number of the first row within the step; rows of the step */
} train_nested_rows;

static inline size_t train_nested_smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t train_nested_row_blocks(size_t rows) {
    return (rows + TRAIN_NESTED_ROWS - 1) / TRAIN_NESTED_ROWS;
}

/* x of unit k's pre-activation. */
float train_nested_code_value(const train_nested_network *net, uint32_t k, float a);
static inline float train_nested_threshold(const train_nested_network *net, uint32_t k) {
    return -net->layer[net->shape.layers - 1].b[k];
}
/* Dropout on hidden layer l's values (or their gradients) of rows.net, if its step asks for it; a
 * perturbed copy keeps its row's. side 0: encoder, 1: decoder. */
void train_nested_drop(const train_nested_rows *rows, int side, uint32_t l, size_t n,
                       float *values);
/* n <= BLOCK rows into `centred`; twice: the encoder's side has perturbed copies. */
void train_nested_load(train_nested_rows *rows, size_t n, int twice);
/* From input [rows][D] to the pre-activations of the first `active` units; of binary units without
 * b_L. */
taper_status train_nested_encode_block(train_nested_rows *rows, const float *input, size_t n,
                                       uint32_t active);
/* From codes [n][active] to g_0 in back_hidden[0]. */
taper_status train_nested_decode_block(train_nested_rows *rows, const float *code, size_t n,
                                       uint32_t active);
/* back_hidden[0] -= centred, and row_error. */
void train_nested_error_block(train_nested_rows *rows);
#endif
