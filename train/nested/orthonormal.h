/* orthonormal.h -- decoders whose rows stay orthonormal: the constraint of theorem 3 (Rippel et al.
 * 2014, section 3.2), under which a linear network's optimum is the principal components
 * themselves.
 *
 * V[K][D] holds the decoder's columns Gamma as rows, V V^T = I. Before a step its gradient G
 * becomes the part along such matrices, G - (G V^T + V G^T) V / 2: what is left out would pull V
 * off them, and an optimiser that scales each number by itself, as Adam does, would then come to
 * rest elsewhere. After the step V goes back to the nearest such matrix, (V V^T)^(-1/2) V, by
 * Newton's and Schulz's iteration (Higham 2008, Functions of Matrices, section 8.3)
 *
 *     V <- (3 V - (V V^T) V) / 2,
 *
 * which converges quadratically from singular values between 0 and sqrt 3. No row comes before
 * another in it: what order they have comes from the loss. Each iteration takes 2 K^2 D
 * multiply-adds, a step two to four of them. */
#ifndef TRAIN_ORTHONORMAL_H
#define TRAIN_ORTHONORMAL_H
#include "train/device/operations.h"

typedef struct train_orthonormal {
    size_t units, inputs; /* K <= D */
    train_stream *stream;
    float *square[3]; /* [K][K] on the device: products of rows, their transpose, I */
    float *room;      /* [K][D] on the device */
    double *norms;    /* [2] on the device */
} train_orthonormal;

/* Room for K rows of D, from an arena (device.h: first without memory). */
void train_orthonormal_lay_out(train_orthonormal *o, train_arena *arena, size_t units,
                               size_t inputs);
/* The stream is borrowed. TAPER_ERR_DEVICE. */
taper_status train_orthonormal_begin(train_orthonormal *o, train_stream *stream);
/* gradient[K][D] of v[K][D], orthonormal, to its part along orthonormal matrices. */
taper_status train_orthonormal_project(const train_orthonormal *o, const float *v, float *gradient);
/* v[K][D] to the nearest orthonormal matrix; rows that are not independent, or not finite, to where
 * the iteration is after 60. Waits for the device. */
taper_status train_orthonormal_retract(const train_orthonormal *o, float *v);
#endif
