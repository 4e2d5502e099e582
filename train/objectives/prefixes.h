/* prefixes.h -- codes each of whose prefixes has neighbours that share their label: nested dropout
 * (Rippel, Gelbart & Adams 2014) of NCA and MCML.
 *
 *     loss = mean over lengths b of neighbours' loss (neighbours.h) of the first b units
 *
 * The paper draws a length for each example and step. Neighbours are pairs, which need one length;
 * so all lengths of a short list count in every step, which has no noise. Student's kernel has
 * alpha = b - 1 degrees at length b, at least 1 (Min et al. 2010, for codes of b units). */
#ifndef TRAIN_PREFIXES_H
#define TRAIN_PREFIXES_H
#include "train/objectives/neighbours.h"

enum { TRAIN_MOST_PREFIXES = 32 };

typedef struct train_prefix_list {
    uint32_t length[TRAIN_MOST_PREFIXES]; /* rising, from 1; the last one all units */
    uint32_t lengths;
} train_prefix_list;

typedef struct train_prefixes {
    train_neighbour_objective of; /* of each prefix; alpha is not looked at, and none is learned */
    train_prefix_list list;
    /* On the device, for `batch` rows. */
    float *code;     /* [batch][units] a prefix */
    float *gradient; /* [batch][units] of its code */
    float *part;     /* [batch][units] of the sum so far, as many units */
    float *sum;      /* [batch][units] gradient of all */
    double *own;     /* [batch] losses of a prefix's rows */
    double *figure;  /* [1] */
} train_prefixes;

extern const train_objective train_prefixes_objective; /* self: train_prefixes */

/* All units, half of them, a quarter, down to 8 or a few more: what codes of bits are ordered by
 * unless lengths are given. It costs their whole length next to nothing (bench/results/README.md).
 */
train_prefix_list train_prefix_halves(uint32_t units);

#endif
