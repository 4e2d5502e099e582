/* nested_classes.h -- what labels say to the first units of a nested-dropout autoencoder.
 *
 * To the loss of a step's rows comes
 *     weight x mean over lengths b of neighbours' loss of the first b units
 * (train/objectives/prefixes.h: log NCA with Student's kernel), of units as they are before
 * truncation, so that every prefix of them is an embedding by itself. Bits are TRAIN_BIT_APART
 * apart there, and learn through their thresholds as the reconstruction has them learn.
 *
 * Neighbours are pairs of a step's rows. So a first way through the encoder collects the codes of
 * all rows; on the second one, block after block, what labels say of them joins what the
 * reconstruction says. */
#ifndef TRAIN_NESTED_CLASSES_H
#define TRAIN_NESTED_CLASSES_H
#include "formats/bytes.h"
#include "train/nested/nested_forward.h"
#include "train/objectives/prefixes.h"
#include "train/sampling/dataset.h"

/* Of two bits that differ, in the objective. */
#define TRAIN_BIT_APART 3.0f

typedef struct train_nested_classes {
    uint32_t units;        /* d: the first ones; 1 .. K */
    float weight;          /* of their loss; 0 .. */
    const uint32_t *label; /* [rows of the step] the host's; TRAIN_UNLABELLED: none */
    train_prefixes of;     /* their objective */
    /* on the device */
    uint32_t *known; /* [batch] label */
    float *code;     /* [batch][d] TRAIN_BIT_APART x */
    float *gradient; /* [batch][d] weight d loss / d x */
    float *pre;      /* [batch][d] of a block: pre-activations, */
    float *own;      /* d loss / d a by labels alone, */
    float *sum;      /* and all of it */
    double *row;     /* [batch] losses */
    double *total;   /* [2] their sum; the objective's figure */
} train_nested_classes;

/* The objective, of prefixes of these lengths; none: of 8, 16, 32 .. units, and all of them.
 * units, weight and label are the caller's. */
void train_nested_classes_begin(train_nested_classes *c, const train_prefix_list *lengths);
/* May a network of this shape learn from labels of data, with units from 1 on? TAPER_ERR_ARG with
 * the remedy: more class units than units, lengths that do not rise to them, a weight that is
 * negative or not finite, units that are not binary or have no gradient, no labels, or one label
 * alone. */
taper_status train_nested_classes_check(const train_nested_classes *c,
                                        const train_nested_shape *shape, int straight_through,
                                        const train_pixels *data, taper_error *error);
/* Room for steps of `batch` rows (train_arena in device.h: called twice). */
void train_nested_classes_lay_out(train_nested_classes *c, train_arena *arena, size_t batch);

/* A step. Codes of a block of n rows into their place in `code`. */
taper_status train_nested_classes_collect(train_nested_rows *block, size_t n);
/* All `rows` rows are collected: their gradient; losses[0] += weight x mean loss. */
taper_status train_nested_classes_compare(train_nested_classes *c, train_stream *s, size_t rows,
                                          double *losses);
/* da[n][active] += d loss / d a of a block that is on its way back. */
taper_status train_nested_classes_pull(train_nested_rows *block, size_t n, float *da);
#endif
