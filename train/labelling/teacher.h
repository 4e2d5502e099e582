/* teacher.h -- a classifier on a device: its forward pass, and its gradients from labelled and
 * unlabelled batches.
 *
 *     z_l = y_(l-1) W_l^T,   y_l = ReLU(normalised z_l + b_l),   logits = y_L W^T + b,
 *     y_0 = pixels / 255
 *
 * Each batch is normalised by its own statistics (train_normalise_fn), so that several hidden
 * layers learn quickly from random weights. The loss of a step is the sum of
 *   the mean cross-entropy of a labelled batch,
 *   the mean entropy of the softmax p of the logits of an unlabelled batch (Grandvalet & Bengio
 *       2005), which rewards certainty,
 *   the mean KL(p || q) on that batch, where q is the softmax at rows moved by `reach` in the
 *       direction that changes q most. This is virtual adversarial training (Miyato, Maeda, Koyama
 *       & Ishii, "Virtual adversarial training: a regularization method for supervised and
 *       semi-supervised learning", TPAMI 2018, equations 5 to 12, one power iteration).
 * p is a constant in the last term. The direction starts as a small random d. It becomes
 * d KL / d x at x + xi d, which is d times the Hessian at x. */
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
    /* Of weights.parameter and weights.gradient. */
    codec_stack view, gradient;
    uint32_t inputs, classes;
    size_t batch;    /* rows of one call, at most */
    float reach;     /* length of a move, for pixels of 0..1 */
    uint64_t seed;   /* of the random directions */
    size_t rows;     /* loaded */
    float *x;        /* [batch][inputs] */
    uint32_t *label; /* [batch] */
    /* of the last forward pass */
    float *unit[CODEC_MAX_LAYERS], *y[CODEC_MAX_LAYERS];       /* [batch][outputs] hidden layers' */
    float *mean[CODEC_MAX_LAYERS], *inverse[CODEC_MAX_LAYERS]; /* [outputs] */
    float *logit;                                              /* [batch][classes] */
    /* private */
    float *zero_mean;           /* [inputs] */
    float *moved, *by_input;    /* [batch][inputs] */
    float *back[2];             /* [batch][widest] */
    float *unused;              /* [widest] gradients of biases, discarded */
    float *believed, *by_logit; /* [batch][classes] */
    double *row_loss, *figure;  /* [batch], [1] */
} train_teacher;

/* Creates a teacher from an encoder network with hidden layers and a unit per class. Its layers are
 * the initial ones, the first one's weights times 255. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing
 * is held. */
taper_status train_teacher_create(train_teacher *t, const codec_network *net, train_device *device,
                                  size_t batch);
void train_teacher_free(train_teacher *t); /* leaves it zeroed; zeroed is fine */

/* Loads rows of bytes and their labels (NULL: none), both on the device: pixels[order[i]] and
 * label[labels_order[i]]. order NULL: row i. */
taper_status train_teacher_load(train_teacher *t, const uint8_t *pixels, const uint32_t *order,
                                const uint32_t *label, const uint32_t *labels_order, size_t rows);
/* Computes logit and all earlier activations for x[rows][inputs] on the device. */
taper_status train_teacher_forward(train_teacher *t, const float *x);

/* For the loaded rows: gradients are added to weights.gradient, mean losses of the batch to
 * losses[0]. Labelled batches also add to losses[1]; unlabelled ones add the entropy to [2] and
 * the divergence to [3]. step numbers the random directions. */
taper_status train_teacher_learn_labelled(train_teacher *t, double *losses);
taper_status train_teacher_learn_unlabelled(train_teacher *t, uint64_t step, double *losses);

#endif
