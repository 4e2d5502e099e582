/* nested_classes.h -- an objective from labels for the first units of a nested-dropout autoencoder.
 *
 * The loss of a step gets the additional term
 *     weight x mean over lengths b of the neighbours' loss of the first b units
 * (train/objectives/prefixes.h: log NCA with Student's kernel). It uses the units before
 * truncation, so that every prefix of them is an embedding. In this term the two values of a bit
 * are TRAIN_BIT_APART apart, and bits have the same gradient through their thresholds as in the
 * reconstruction.
 *
 * Neighbours are pairs of a step's rows, so the encoder runs twice. The first pass collects the
 * codes of all rows. In the second pass, block after block, the gradient by labels is added to that
 * of the reconstruction. */
#ifndef TRAIN_NESTED_CLASSES_H
#define TRAIN_NESTED_CLASSES_H
#include "formats/bytes.h"
#include "train/nested/nested_forward.h"
#include "train/objectives/prefixes.h"
#include "train/sampling/dataset.h"

/* The distance of two bits that differ, in the objective. */
#define TRAIN_BIT_APART 3.0f

typedef struct train_nested_classes {
    uint32_t units;        /* d: number of the first units, 1 .. K */
    float weight;          /* of their loss; at least 0 */
    const uint32_t *label; /* [rows of the step] on the host; TRAIN_UNLABELLED: none */
    /* Ranks that share a step, NULL: one; of the rows that are here, the positions in the batch, on
     * the host. */
    train_ranks *ranks;
    const uint32_t *position;
    train_prefixes of; /* their objective */
    /* on the device */
    uint32_t *known; /* [batch] label */
    float *code;     /* [batch][d] TRAIN_BIT_APART x */
    float *gradient; /* [batch][d] weight d loss / d x */
    float *pre;      /* [batch][d] pre-activations of a block */
    float *own;      /* [batch][d] d loss / d a by labels only */
    float *sum;      /* [batch][d] d loss / d a */
    double *row;     /* [batch] losses */
    /* [2] their sum; the objective's reported figure */
    double *total;
} train_nested_classes;

/* Sets up the objective for prefixes of these lengths; if there are none, 8, 16, 32 .. units and
 * all of them. The caller sets units, weight and label. */
void train_nested_classes_begin(train_nested_classes *c, const train_prefix_list *lengths);
/* Checks that a network of this shape can learn from the labels of data. TAPER_ERR_ARG with the
 * remedy: more class units than units; lengths that do not rise to the class units; a weight that
 * is negative or not finite; units that are not binary or have no gradient; no labels, or only one
 * label. */
taper_status train_nested_classes_check(const train_nested_classes *c,
                                        const train_nested_shape *shape, int straight_through,
                                        const train_pixels *data, taper_error *error);
/* Lays out arrays for steps of `batch` rows (train_arena in device.h: called twice). */
void train_nested_classes_lay_out(train_nested_classes *c, train_arena *arena, size_t batch);

/* First pass of a step: copies the codes of a block of n rows to their place in `code`. */
taper_status train_nested_classes_collect(train_nested_rows *block, size_t n);
/* After all n rows that are here: computes their gradient, from the codes of all `of` rows of the
 * step; losses[0] += weight x mean loss, on the first rank. */
taper_status train_nested_classes_compare(train_nested_classes *c, train_stream *s, size_t n,
                                          size_t of, double *losses);
/* Second pass: da[n][active] += d loss / d a of a block. */
taper_status train_nested_classes_pull(train_nested_rows *block, size_t n, float *da);
#endif
