/* teacher.h -- a network that names classes, on a device: what it makes of a batch, and what it
 * learns from batches with labels and without.
 *
 *     z_l = y_(l-1) W_l^T,   y_l = ReLU(normalised z_l + b_l),   logits = y_L W^T + b,  y_0 =
 * pixels / 255
 *
 * with each batch normalised by its own statistics (train_normalise_fn), so that several hidden
 * layers learn quickly from random weights. The loss of a step is the sum of
 *   the mean cross-entropy of a batch with labels,
 * and, of a batch that needs none, the means of
 *   the entropy of the softmax p of its logits (Grandvalet & Bengio 2005): be sure;
 *   KL(p || q), q that of the rows moved by `reach` where that changes q the most: be as sure
 * nearby (virtual adversarial training, Miyato, Maeda, Koyama & Ishii, "Virtual adversarial
 * training: a regularization method for supervised and semi-supervised learning", TPAMI 2018,
 * equations 5 to 12, one power iteration). p stands still there. The direction is found from a
 * small random one: by d KL / d x at x + xi d, which is the direction itself times the Hessian at
 * x. */
#ifndef TRAIN_TEACHER_H
#define TRAIN_TEACHER_H
#include "codec/transform/network.h"
#include "train/device/device.h"
#include "train/optimise/weights.h"
#include "train/sampling/corruption.h"

typedef struct train_teacher {
    train_stream stream;
    train_arena numbers, activations;
    train_weights weights;
    codec_stack view, gradient; /* of weights.parameter and weights.gradient */
    uint32_t inputs, classes;
    size_t batch;    /* most rows of one call */
    float reach;     /* of pixels of 0..1: the length of a move */
    uint64_t seed;   /* of the random directions */
    size_t rows;     /* that are loaded: */
    float *x;        /* [batch][inputs] */
    uint32_t *label; /* [batch] */
    /* of the last forward */
    float *unit[CODEC_MAX_LAYERS], *y[CODEC_MAX_LAYERS];       /* [batch][outputs] hidden layers' */
    float *mean[CODEC_MAX_LAYERS], *inverse[CODEC_MAX_LAYERS]; /* [outputs] */
    float *logit;                                              /* [batch][classes] */
    /* private */
    float *zero_mean;           /* [inputs] */
    float *moved, *by_input;    /* [batch][inputs] */
    float *back[2];             /* [batch][widest] */
    float *unused;              /* [widest] biases' gradients that nothing learns from */
    float *believed, *by_logit; /* [batch][classes] */
    double *row_loss, *figure;  /* [batch], [1] */
} train_teacher;

/* Of an encoder network with hidden layers, whose units are the classes: its layers are the start,
 * the first one's weights times 255. Everything that lives is the device's. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE: nothing is held. */
taper_status train_teacher_create(train_teacher *t, const codec_network *net, train_device *device,
                                  size_t batch);
void train_teacher_free(train_teacher *t); /* leaves it zeroed; zeroed is fine */

/* rows of bytes, and their labels (NULL: none), both on the device: pixels[order[i]] and
 * label[labels_order[i]]. order NULL: row i. */
taper_status train_teacher_load(train_teacher *t, const uint8_t *pixels, const uint32_t *order,
                                const uint32_t *label, const uint32_t *labels_order, size_t rows);
/* logit, and what lies before it, of x[rows][inputs] on the device. */
taper_status train_teacher_forward(train_teacher *t, const float *x);

/* Of the rows that are loaded: gradients are added to weights.gradient, the batch's mean losses to
 * losses[0]; and, labelled, to losses[1], not labelled, entropy to [2] and divergence to [3].
 * step: numbers the random directions. */
taper_status train_teacher_learn_labelled(train_teacher *t, double *losses);
taper_status train_teacher_learn_unlabelled(train_teacher *t, uint64_t step, double *losses);

#endif
