/* prefixes.h -- NCA and MCML for every prefix of a code: nested dropout (Rippel, Gelbart & Adams
 * 2014) of these objectives.
 *
 *     loss = mean over lengths b of the loss of neighbours.h of the first b units
 *
 * The paper draws a length for each example and step. A pair of neighbours needs the same length,
 * so every step uses all lengths of a short list, which adds no noise. At length b, Student's
 * kernel has alpha = max(b - 1, 1) degrees (Min et al. 2010, for codes of b units). */
#ifndef TRAIN_PREFIXES_H
#define TRAIN_PREFIXES_H
#include "train/objectives/neighbours.h"

enum { TRAIN_MOST_PREFIXES = 32 };

typedef struct train_prefix_list {
    /* Rising, from 1; the last is the number of units. */
    uint32_t length[TRAIN_MOST_PREFIXES];
    uint32_t lengths;
} train_prefix_list;

typedef struct train_prefixes {
    /* Settings for each prefix; alpha is ignored and not learned. */
    train_neighbour_objective of;
    train_prefix_list list;
    /* On the device, for `batch` rows. */
    float *code;     /* [batch][units] a prefix */
    float *gradient; /* [batch][units] of the prefix */
    float *part;     /* [batch][units] the first units of `sum` */
    float *sum;      /* [batch][units] gradient of all prefixes */
    double *own;     /* [batch] losses of a prefix's rows */
    double *figure;  /* [1] */
} train_prefixes;

extern const train_objective train_prefixes_objective; /* self: train_prefixes */

/* The default lengths for ordered codes of bits: all units, half of them, a quarter, and so on down
 * to 8 or slightly more. Codes of full length lose almost no accuracy by it
 * (bench/results/README.md). */
train_prefix_list train_prefix_halves(uint32_t units);

#endif
