/* embedder.h -- an encoder with its objective on a device, forward and backward.
 *
 *     code = f(pixels / 255),   loss = objective(code, labels) + l2 / 2 |W|^2
 *
 * f is the encoder of a direct network without feedback; |W|^2 is the sum of its squared weights,
 * without biases. Its parameters are in one vector: for each layer the weights and then the biases,
 * then the objective's parameters (train_objective). The first layer takes pixels of 0..1 here, and
 * of 0..255 in a codec_network, so its weights differ by a factor of 255.
 *
 * Binary codes: 1 where f(pixels / 255) > 0, else 0, minus one half, so that the squared distance
 * of two codes is the number of different bits. The gradient through the threshold is that of a
 * logistic function of width TRAIN_BIT_SPREAD (train_units; straight-through, Bengio, Leonard &
 * Courville 2013, section 4). In a first phase of training, codes may be f itself.
 *
 * With a decoder g (Salakhutdinov & Hinton 2007, equations 16 to 18) the loss is
 *     (1 - part) objective(class units, labels) + part E + l2 / 2 |W|^2
 * where part is 1 - lambda in the paper, the objective is the mean over labelled rows, and E is the
 * mean over all rows of the cross-entropy of g(code) (objectives/decoding.h). Class units are the
 * first units of a code; the others are used for reconstruction only (section 5.1 there). The
 * decoder's parameters follow the encoder's. Its last layer gives logits a here and
 * 255 (1/2 + a / 4) in a codec_network, the tangent of 255 times the logistic function
 * (rbm_unroll.h).
 *
 * Several ranks (train/parallel/ranks.h) each have some rows of a batch. Each learns the codes of
 * all rows from the others and computes the objective of all pairs, as codes are short; then it
 * computes the gradient of its own rows. The caller adds up the gradients and losses.
 *
 * If a batch has more than TRAIN_EMBEDDER_BLOCK rows, the numbers of 0..1 are computed a block at a
 * time in both passes. So memory is that of a batch's bytes and codes, and of a block. On a
 * processor with fused multiply-adds the results are the same bits. */
#ifndef TRAIN_EMBEDDER_H
#define TRAIN_EMBEDDER_H
#include "train/objectives/decoding.h"
#include "train/objectives/prefixes.h"
#include "train/objectives/stack.h"
#include "train/optimise/weights.h"
#include "train/parallel/ranks.h"
#include "train/sampling/jitter.h"

enum { TRAIN_EMBEDDER_BLOCK = 32 * 384 };
/* Of 0.15, 0.3 and 0.6 this has the lowest error on MNIST (bench/results/README.md). */
#define TRAIN_BIT_SPREAD 0.3f

/* Augmentation of training rows, so that codes depend less on single pixels, units or positions. It
 * is a pure function of (seed, step) and of a row's number in the batch. */
typedef struct train_embedder_noise {
    train_jitter jitter; /* fraction 0: rows are not moved */
    /* Probability that an input is set to 0. */
    float corrupt;
    /* Probability that a hidden unit is set to 0. */
    float dropout;
    uint64_t seed;
} train_embedder_noise;

typedef struct train_embedder {
    train_stream stream;
    train_arena numbers, activations;
    train_weights weights;
    /* Of the two vectors, in the network's shape. */
    codec_stack view, gradient;
    codec_stack decoder, decoder_gradient; /* likewise; depth 0: there is none */
    uint32_t inputs, units;
    /* Number of class units, the first ones. */
    uint32_t class_units;
    int binary;   /* 1: codes are bits */
    size_t batch; /* rows of one call, at most */
    /* Rows of input, at most; batch or less. */
    size_t block;
    /* The objective's parameters, at the vector's end: 0 or 1. */
    size_t n_numbers;
    double l2;
    train_neighbour_objective objective;
    /* Of the objective; without lengths only whole codes are used. */
    train_prefixes prefixes;
    train_objective_use use; /* one of the two above */
    train_embedder_noise noise;
    /* 1: the next rows are loaded with noise, that of `step` */
    int noisy;
    uint64_t step;
    /* 1: binary codes are replaced by the numbers before thresholds */
    int as_numbers;
    /* of the loaded rows */
    size_t rows;
    /* rows of the batch, of all ranks */
    size_t of;
    /* labelled rows of them; the caller sets it after a load, if not all are */
    size_t labelled;
    train_ranks *ranks; /* NULL: one */
    /* Positions in the batch of the loaded rows, rising, on the host and on the device. */
    const uint32_t *here, *there;
    const uint8_t *pixels; /* borrowed */
    const uint32_t *order;
    codec_window window;         /* of rows that are described; else unused */
    codec_cells cells;           /* across 0: rows are the inputs */
    uint8_t *moved;              /* [batch][values of a row] rows after jitter; NULL without */
    uint8_t *described;          /* [batch][inputs] gradients of rows; NULL without cells */
    uint32_t *votes;             /* scratch for them */
    float *zero_mean;            /* [inputs] */
    float *input;                /* [block][inputs] pixels / 255 */
    float *code, *code_gradient; /* [batch][units] */
    /* [batch][units] codes before thresholds; else the codes */
    float *before;
    float *threshold, *spread; /* [units] of bits: 0, TRAIN_BIT_SPREAD */
    /* [batch][class_units], of all ranks; or code, code_gradient */
    float *class_code, *class_gradient;
    train_decoding decoding;
    train_inputs target;
    uint32_t *label;          /* [batch] */
    double *row_loss;         /* [batch] */
    double *figure, *squares; /* [1] */
    train_stack_activations act;
} train_embedder;

typedef struct train_embedder_options {
    size_t batch;                        /* at least 1 */
    train_neighbour_objective objective; /* its settings */
    const train_prefix_list *prefixes;   /* NULL: whole codes only */
    int binary;                          /* 1: codes are bits */
    double l2;                           /* at least 0 */
    /* 0 .. 1: weight of the reconstruction; 0: a decoder is ignored */
    double part;
    /* Number of last units that the objective does not use. */
    uint32_t free_units;
    train_embedder_noise noise;
    /* across above 0: rows are windows of noise.jitter's size, and the network gets their gradients
     * in these cells, which are legal. Otherwise rows are what it gets. */
    codec_cells cells;
    size_t block; /* 0: TRAIN_EMBEDDER_BLOCK */
    train_weights_use use;
    train_ranks *ranks; /* NULL: one; borrowed */
} train_embedder_options;

/* Copies net to the device. TAPER_ERR_ARG: net is not direct, has feedback, an activation of its
 * code, or a mean; or it has no decoder and `part` is above 0. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE.
 * Nothing is held then. */
taper_status train_embedder_create(train_embedder *e, const codec_network *net,
                                   train_device *device, const train_embedder_options *options);
void train_embedder_free(train_embedder *e); /* leaves it zeroed; zeroed is fine */
/* Writes the parameter vector `from` (on the device; usually weights.parameter) into net, which has
 * the shape of the network that was imported; an untrained decoder is not changed.
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: net is then undefined. */
taper_status train_embedder_export(train_embedder *e, const float *from, codec_network *net);
/* The present alpha of Student's kernel, after limiting it to `most`. Waits for the device.
 * TAPER_ERR_DEVICE. */
taper_status train_embedder_alpha(train_embedder *e, double most, double *alpha);

/* With several ranks, before a load for training, which then takes no labels and may have no rows:
 * the batch has `of` rows, and labels label[order[0 .. of - 1]], of arrays on the device. here,
 * there: the positions of the rows to be loaded. All borrowed. */
taper_status train_embedder_expect(train_embedder *e, const uint32_t *here, const uint32_t *there,
                                   const uint32_t *label, const uint32_t *order, size_t of);
/* Loads n <= batch rows of bytes, row order[i] as row i, and their labels label[order[i]]; label
 * may be NULL. All arrays are on the device. If n exceeds a block, pixels and order are read until
 * the next load. Set `noisy` and `step` before. */
taper_status train_embedder_load(train_embedder *e, const uint8_t *pixels, const uint32_t *order,
                                 const uint32_t *label, const uint32_t *labels_order, size_t n);
/* Computes their codes into e->code. */
taper_status train_embedder_forward(train_embedder *e);
/* Computes codes, and on the device losses[0], the mean loss of the rows, and losses[1], that of
 * the objective alone over labelled rows. The gradient of losses[0] overwrites the gradient of the
 * weights. With several ranks, both are this rank's parts. */
taper_status train_embedder_compute(train_embedder *e, double *losses);

#endif
