/* orthonormal.h -- keeps a decoder's rows orthonormal: the constraint of theorem 3 (Rippel et al.
 * 2014, section 3.2), under which the optimum of a linear network is the principal components.
 *
 * V[K][D] holds the decoder's columns Gamma as rows, V V^T = I. Before a step its gradient G is
 * projected onto the tangent space, G - (G V^T + V G^T) V / 2. Without that, an optimiser that
 * scales each element separately, as Adam does, would converge elsewhere. After the step, V is
 * replaced by the nearest orthonormal matrix, (V V^T)^(-1/2) V, by the Newton-Schulz iteration
 * (Higham 2008, Functions of Matrices, section 8.3)
 *
 *     V <- (3 V - (V V^T) V) / 2,
 *
 * which converges quadratically if the singular values are between 0 and sqrt 3. It treats all rows
 * alike; their order results from the loss. An iteration takes 2 K^2 D multiply-adds, and a step
 * two to four iterations. */
#ifndef TRAIN_ORTHONORMAL_H
#define TRAIN_ORTHONORMAL_H
#include "train/device/operations.h"

typedef struct train_orthonormal {
    size_t units, inputs; /* K <= D */
    train_stream *stream;
    /* [K][K] on the device: products of rows, their transpose, I */
    float *square[3];
    float *scratch; /* [K][D] on the device, scratch */
    double *norms;  /* [2] on the device */
} train_orthonormal;

/* Lays out arrays for K rows of D elements (train_arena in device.h: called twice). */
void train_orthonormal_lay_out(train_orthonormal *o, train_arena *arena, size_t units,
                               size_t inputs);
/* The stream is borrowed. TAPER_ERR_DEVICE. */
taper_status train_orthonormal_begin(train_orthonormal *o, train_stream *stream);
/* Projects gradient[K][D] at the orthonormal v[K][D] onto the tangent space. */
taper_status train_orthonormal_project(const train_orthonormal *o, const float *v, float *gradient);
/* Replaces v[K][D] by the nearest orthonormal matrix. If rows are linearly dependent or not finite,
 * the result is that of 60 iterations. Waits for the device. */
taper_status train_orthonormal_retract(const train_orthonormal *o, float *v);
#endif
