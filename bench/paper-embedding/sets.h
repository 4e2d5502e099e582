/* sets.h -- images and labels of a cell: MNIST and USPS as published, IDX, plain or .gz; concentric
 * circles; drawn digits in place of both for the quick version. */
#ifndef BENCH_PAPER_EMBEDDING_SETS_H
#define BENCH_PAPER_EMBEDDING_SETS_H
#include "bench/paper-embedding/cells.h"
#include "bench/paper-embedding/embedding.h"
#include "train/sampling/dataset.h"

enum { EMBEDDING_CLASSES = 10, USPS_TRAINING = 7291, MNIST_CHOOSING = 10000 };

/* Rows of bytes with labels 0..9, in the order in which they are used. Owned. */
typedef struct embedding_set {
    train_pixels train, test;
    uint8_t *pixels; /* of both */
    uint32_t *label;
} embedding_set;

/* Are the set's files in the data folder? Always so for circles and the quick version. */
int embedding_set_is_here(const embedding *e, const char *set);

/* The training and test rows of a cell. USPS: all 9,298 images in an order that the split's number
 * alone decides, the first 7,291 for training. choosing: the last of the training rows, 10,000 of
 * MNIST and one in six of others, are the test rows, and no test row is read. Circles (circles.h) x
 * are bytes 127.5 + 7 x. */
void embedding_set_read(const embedding *e, const embedding_cell *cell, int choosing,
                        embedding_set *out);
/* Of each class's training rows, so many percent, or `each` where that is above 0, drawn by the
 * seed, keep their label (at least one does); the others become TRAIN_UNLABELLED, and later ... */
void embedding_hide_labels(embedding_set *set, double percent, size_t each, uint64_t seed);
/* ... leave the training rows. */
void embedding_keep_labelled(embedding_set *set);
void embedding_set_free(embedding_set *set);
#endif
