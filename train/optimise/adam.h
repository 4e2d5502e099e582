/* adam.h -- Adam (Kingma & Ba 2015): its schedule, and a step of it on a device. */
#ifndef TRAIN_ADAM_H
#define TRAIN_ADAM_H
#include "train/device/operations.h"
#include "train/optimise/weights.h"

/* The coefficients of step t (from 1) at learning rate `rate`: beta 0.9 and 0.99, epsilon 1e-8,
 * with the bias corrections (train_adam_fn). */
train_adam_step train_adam_numbers(float rate, uint64_t t);

/* A step on some ranges of the weights. */
typedef struct train_adam_ranges {
    const train_range *range;
    size_t ranges;
    float rate;
    uint64_t t; /* the number of the step, from 1 */
    /* As in train_judge_fn. *squares and *verdict are outputs. */
    float max_norm;
    const double *loss;
    double most_loss;
    double *squares;
    train_verdict *verdict;
} train_adam_ranges;
/* Judges the gradient of these ranges, and changes them. After divergence nothing is changed. */
taper_status train_adam_take(train_stream *stream, train_weights *weights,
                             const train_adam_ranges *of);

/* Learning rate at step t of `steps`: a linear warm-up over `warmup` steps, times half a cosine
 * from 1 to 0.001. */
float train_cosine_rate(float peak, uint64_t t, uint64_t steps, uint64_t warmup);

#endif
