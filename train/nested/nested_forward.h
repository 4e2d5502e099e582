/* nested_forward.h -- the forward pass of a block of rows in a nested-dropout autoencoder. */
#ifndef TRAIN_NESTED_FORWARD_H
#define TRAIN_NESTED_FORWARD_H
#include "formats/bytes.h"
#include "train/device/operations.h"
#include "train/nested/nested_network.h"

/* The settings of one step. */
typedef struct train_nested_step {
    /* With the row's index, they number all random draws. */
    uint64_t seed, step;
    /* 0..1: fraction of input elements set to 0 (section 4) */
    float corruption;
    /* 0..1: of hidden units, not of the code (section 4) */
    float dropout;
    float invariance; /* weight of equation 14 */
    /* Epsilon bar of equation 14, the variance of the noise on c. */
    float perturbation;
    int straight_through; /* binary: see nested_network.h */
    /* [rows] b of every row, frozen < b <= K; on the host */
    const uint32_t *kept;
    /* With several ranks: the positions in the batch of the rows that are here, on the device; and
     * what thresholds follow, or NULL if there are none. One rank: NULL. */
    const uint32_t *position;
    struct train_nested_last *last;
    /* The objective from labels (nested_classes.h), for networks with a gradient through
     * thresholds; NULL: none. */
    struct train_nested_classes *classes;
} train_nested_step;

/* A block of rows. step and order may be NULL: nothing is random; rows 0 .. n - 1. */
typedef struct train_nested_rows {
    train_nested_network *net;
    const train_nested_step *step;
    const uint8_t *pixels; /* [..][D] on the device */
    const uint32_t *order; /* on the device */
    /* Number of the first row within the step, among the rows that are here; rows of the step, of
     * all ranks. */
    size_t first_row, of;
} train_nested_rows;

/* The first `units` units of the code of n rows, with or without a gradient through thresholds. */
train_units train_nested_units(const train_nested_network *net, size_t n, uint32_t units,
                               const uint32_t *kept, int straight_through);
/* Dropout on the values of hidden layer l, or on their gradients, if the step of the rows has it. A
 * perturbed copy has the same dropout as its row. side 0: encoder, 1: decoder. */
taper_status train_nested_drop(const train_nested_rows *rows, int side, uint32_t l, size_t n,
                               float *values);
/* Loads n <= BLOCK rows into `input`, corrupted if their step has corruption. twice: also loads
 * perturbed copies on the encoder's side. error_block uses these rows. */
taper_status train_nested_load(train_nested_rows *rows, size_t n, int twice);
/* From input[rows][D] to the pre-activations of the first `active` units; those of binary units
 * lack b_L. rows <= 2 BLOCK. */
taper_status train_nested_encode_block(train_nested_rows *rows, const float *input, size_t n,
                                       uint32_t active);
/* From pre-activations to x[n][active], 0 beyond kept[n] (NULL: none). With feedback, the
 * pre-activations are updated as units are decided. */
taper_status train_nested_decide(train_nested_rows *rows, int straight_through, size_t n,
                                 uint32_t active, const uint32_t *kept, float *x);
/* From codes [n][active] to g_0[n][D]. */
taper_status train_nested_decode_block(train_nested_rows *rows, const float *code, size_t n,
                                       uint32_t active, float *g_0);
/* row_error, and errors[n][D] = factor (g_0 - c); errors may be g_0. */
taper_status train_nested_error_block(train_nested_rows *rows, float factor, const float *g_0,
                                      float *errors);
#endif
