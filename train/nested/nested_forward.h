/* nested_forward.h -- the way forward of a block of rows through a nested-dropout autoencoder. */
#ifndef TRAIN_NESTED_FORWARD_H
#define TRAIN_NESTED_FORWARD_H
#include "formats/bytes.h"
#include "train/device/operations.h"
#include "train/nested/nested_network.h"

/* What one step asks of its rows. */
typedef struct train_nested_step {
    uint64_t seed, step;  /* number all that is random, with the row's index */
    float corruption;     /* 0..1: fraction of input elements set to 0 (section 4) */
    float dropout;        /* 0..1: of hidden units, not of the code (section 4) */
    float invariance;     /* weight of equation 14 ... */
    float perturbation;   /* ... and its epsilon bar, the variance of the noise on c */
    int straight_through; /* binary: see nested_network.h */
    const uint32_t *kept; /* [rows] b of every row, frozen < b <= K; the host's */
    struct train_nested_classes *classes; /* what labels say (nested_classes.h), of networks whose
                                             thresholds are learned through; NULL: nothing */
} train_nested_step;

/* A block of rows in work. step and order may be NULL: nothing random; rows 0 .. n. */
typedef struct train_nested_rows {
    train_nested_network *net;
    const train_nested_step *step;
    const uint8_t *pixels; /* [..][D] on the device */
    const uint32_t *order; /* on the device */
    size_t first_row, of;  /* number of the first row within the step; rows of the step */
} train_nested_rows;

/* What the code's units are, with a gradient through thresholds or without. */
train_units train_nested_units(const train_nested_network *net, int straight_through);
/* Dropout on hidden layer l's values (or their gradients) of rows.net, if its step asks for it; a
 * perturbed copy keeps its row's. side 0: encoder, 1: decoder. */
taper_status train_nested_drop(const train_nested_rows *rows, int side, uint32_t l, size_t n,
                               float *values);
/* n <= BLOCK rows into `input`, with elements set to 0 as their step asks for, or as they are;
 * twice: the encoder's side has perturbed copies, too. They stay the rows of error_block. */
taper_status train_nested_load(train_nested_rows *rows, size_t n, int twice);
/* From input [rows][D] to the pre-activations of the first `active` units; of binary units without
 * b_L. rows <= 2 BLOCK. */
taper_status train_nested_encode_block(train_nested_rows *rows, const float *input, size_t n,
                                       uint32_t active);
/* From pre-activations, which change as units with feedback decide, to x[n][active], 0 beyond
 * kept[n] (NULL: none). */
taper_status train_nested_decide(train_nested_rows *rows, int straight_through, size_t n,
                                 uint32_t active, const uint32_t *kept, float *x);
/* From codes [n][active] to g_0[n][D]. */
taper_status train_nested_decode_block(train_nested_rows *rows, const float *code, size_t n,
                                       uint32_t active, float *g_0);
/* row_error, and errors[n][D] = factor (g_0 - c); they may lie where g_0 does. */
taper_status train_nested_error_block(train_nested_rows *rows, float factor, const float *g_0,
                                      float *errors);
#endif
