/* corruption.h -- the noise of training: corrupted inputs, dropout, perturbed inputs.
 *
 * Rippel et al. 2014, section 4: input elements are set to 0 with probability 0.1 (as in Vincent et
 * al. 2010), and hidden layers other than the code have standard dropout with 0.2. Section 4.4,
 * equation 14: inputs are perturbed by normal noise, so that the code's change can be penalised.
 *
 * Rows are numbered over the whole step (first_row + r), and every decision is a pure function of
 * (seed, step, row, column) and of what it is for (the streams of philox.h): how a step is split
 * into batches or between threads changes nothing. Probabilities are rounded to multiples of
 * 1 / 65536. Rows have n elements each, the next row `stride` >= n elements further; n < 2^26, rows
 * are numbered below 2^40 and steps below 2^48. */
#ifndef TRAIN_CORRUPTION_H
#define TRAIN_CORRUPTION_H
#include <stddef.h>
#include <stdint.h>

/* Which noise: same numbers, same noise. */
typedef struct train_noise {
    uint64_t seed, step;
    uint64_t first_row; /* number of the first row at hand within the step */
} train_noise;

/* Set elements of x[rows][n] to 0, each with probability p in 0 .. 1. Inputs are centred already,
 * so that 0 is the mean. */
void train_corrupt_rows(const train_noise *noise, float p, size_t rows, size_t n, size_t stride,
                        float *x);

/* Dropout on hidden layer `layer` (0 .. 255; both stacks' layers need numbers of their own): each
 * element of x[rows][n] becomes 0 with probability p in 0 .. 1, otherwise it is divided by the
 * probability of that, so that the mean stays. The same call on gradients is the backward pass. */
void train_dropout_rows(const train_noise *noise, uint32_t layer, float p, size_t rows, size_t n,
                        size_t stride, float *x);

/* y = x + e with e normal, of mean 0 and the given variance (0 or more) in each element: the
 * perturbation of equation 14. x and y have the same shape and stride; y may be x. squares[rows]
 * (may be NULL) becomes |e|^2 of each row, in double. */
void train_perturb_rows(const train_noise *noise, double variance, size_t rows, size_t n,
                        size_t stride, const float *x, float *y, double *squares);

#endif
