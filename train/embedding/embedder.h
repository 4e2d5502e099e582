/* embedder.h -- an encoder on a device, forward and back before its objective.
 *
 *     code = f(pixels / 255),   loss = objective(code, labels) + l2 / 2 |W|^2
 *
 * with f the encoder of a direct network without feedback, and |W|^2 the sum of its squared
 * weights, biases left out. Its numbers lie in one vector: layers, each its weights and then its
 * biases, then what the objective trains (train_objective). The first layer takes pixels of 0..1
 * here, and of 0..255 in a codec_network: 1 / 255 stands in the one or the other.
 *
 * Of bits, code = 1 where f(pixels / 255) > 0, else 0, each less one half, so that the squared
 * distance of two codes is the number of bits in which they differ. Their gradient goes through
 * the threshold to f as through the slope of a logistic function of TRAIN_BIT_SPREAD (train_units:
 * Bengio, Leonard & Courville 2013, section 4, call it straight-through). Until they have learned
 * as numbers do, codes may be f itself.
 *
 * With a decoder g (Salakhutdinov & Hinton 2007, equations 16 to 18) the loss is
 *     (1 - part) objective(class units, labels) + part E + l2 / 2 |W|^2
 * where part is the 1 - lambda of the paper, the objective is the mean over rows that have a label,
 * and E the mean over all rows of the cross-entropy of g(code) (objectives/decoding.h). Class units
 * are the first of a code; the others only reconstruct (section 5.1 there). The decoder's numbers
 * lie behind the encoder's. Its last layer gives logits a here and 255 (1/2 + a / 4) in a
 * codec_network, the tangent of 255 times the logistic function (rbm_unroll.h).
 *
 * Of more than TRAIN_EMBEDDER_BLOCK rows the numbers of 0..1 are made a block at a time, on the way
 * there and on the way back, so that memory beyond a batch's bytes is a block's and the codes'. On
 * a processor with fused multiply-adds no bit depends on it. */
#ifndef TRAIN_EMBEDDER_H
#define TRAIN_EMBEDDER_H
#include "train/objectives/decoding.h"
#include "train/objectives/prefixes.h"
#include "train/objectives/stack.h"
#include "train/optimise/weights.h"
#include "train/sampling/jitter.h"

enum { TRAIN_EMBEDDER_BLOCK = 32 * 384 };
/* Of 0.15, 0.3 and 0.6 the one whose codes of MNIST err least (bench/results/README.md). */
#define TRAIN_BIT_SPREAD 0.3f

/* What training does to rows, so that codes depend less on any one pixel, unit or place: a pure
 * function of (seed, step) and of a row's number in the batch. */
typedef struct train_embedder_noise {
    train_jitter jitter; /* fraction 0: rows stay where they are */
    float corrupt;       /* probability that an input is set to 0 */
    float dropout;       /* that a hidden unit is */
    uint64_t seed;
} train_embedder_noise;

typedef struct train_embedder {
    train_stream stream;
    train_arena numbers, activations;
    train_weights weights;
    codec_stack view, gradient;            /* of the two vectors, in the network's shape */
    codec_stack decoder, decoder_gradient; /* likewise; depth 0: there is none */
    uint32_t inputs, units;
    uint32_t class_units; /* the first of them */
    int binary;           /* 1: codes are bits */
    size_t batch;         /* most rows of one call */
    size_t block;         /* most rows of input, batch or less */
    size_t n_numbers;     /* the objective's, at the vector's end: 0 or 1 */
    double l2;
    train_neighbour_objective objective;
    train_prefixes prefixes; /* of it; without lengths it is of whole codes */
    train_objective_use use; /* the one or the other */
    train_embedder_noise noise;
    int noisy;      /* 1: for now rows are loaded with the noise ... */
    uint64_t step;  /* ... of this step */
    int as_numbers; /* 1: for now codes that are to be bits are the numbers before thresholds */
    /* of the rows that are loaded */
    size_t rows;
    size_t labelled;       /* of them; the caller's to set, after a load, where it is not all */
    const uint8_t *pixels; /* borrowed */
    const uint32_t *order;
    uint8_t *moved;                     /* [batch][inputs] rows under jitter; NULL without */
    float *zero_mean;                   /* [inputs] */
    float *input;                       /* [block][inputs] pixels / 255 */
    float *code, *code_gradient;        /* [batch][units] */
    float *before;                      /* likewise: what bits are made of; else the codes */
    float *threshold, *spread;          /* [units] that of bits: 0, TRAIN_BIT_SPREAD */
    float *class_code, *class_gradient; /* [batch][class_units] the same, where all are */
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
    const train_prefix_list *prefixes;   /* NULL: whole codes count alone */
    int binary;                          /* 1: codes are bits */
    double l2;                           /* at least 0 */
    double part;         /* 0 .. 1: the reconstruction's; 0: a decoder is not looked at */
    uint32_t free_units; /* the last ones, which the objective does not see */
    train_embedder_noise noise;
    size_t block; /* 0: TRAIN_EMBEDDER_BLOCK */
    train_weights_use use;
} train_embedder_options;

/* Copies net to the device. TAPER_ERR_ARG: net is not direct, has feedback, an activation of its
 * code, or a mean, or no decoder where one is to learn; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. Nothing
 * is held then. */
taper_status train_embedder_create(train_embedder *e, const codec_network *net,
                                   train_device *device, const train_embedder_options *options);
void train_embedder_free(train_embedder *e); /* leaves it zeroed; zeroed is fine */
/* Write parameter vector `from` (on the device; usually weights.parameter) into net, of the shape
 * it was created with; a decoder that did not learn is not touched. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE: net is then undefined. */
taper_status train_embedder_export(train_embedder *e, const float *from, codec_network *net);
/* alpha of Student's kernel, as it is now; one above `most` becomes that. The host waits for it.
 * TAPER_ERR_DEVICE. */
taper_status train_embedder_alpha(train_embedder *e, double most, double *alpha);

/* Load n <= batch rows of bytes, row order[i] as row i, and their labels label[order[i]], or NULL.
 * All on the device; of more rows than a block's, pixels and order are read until the next load.
 * Set `noisy` and `step` before: the codes of these rows are under noise, or not. */
taper_status train_embedder_load(train_embedder *e, const uint8_t *pixels, const uint32_t *order,
                                 const uint32_t *label, const uint32_t *labels_order, size_t n);
/* Their codes, into e->code. */
taper_status train_embedder_forward(train_embedder *e);
/* Codes, and losses[0 .. 1] on the device: the mean loss of the rows, and that of the objective
 * alone, over rows that have a label. The gradient of the first goes to the weights' gradient,
 * overwritten. */
taper_status train_embedder_compute(train_embedder *e, double *losses);

#endif
