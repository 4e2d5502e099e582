/* restoration_network.h -- a restoration network (codec/transform/restoration.h) in floating point,
 * forward and backward, and its conversion to the integers of the codec.
 *
 * Floats represent the integers of the codec: an input a is a / 1024, an activation h is h / 256,
 * z(layers) is z / 2048, a gain is gain / 4096; 8 gain z is added to a pixel. Values are clipped as
 * there, but not rounded. A convolution is a gather of the nine neighbours and a matrix product:
 *     z(i) = sum over taps of a(i - 1)[neighbour] W(i)[tap] + bias(i) */
#ifndef TRAIN_RESTORATION_NETWORK_H
#define TRAIN_RESTORATION_NETWORK_H
#include "codec/transform/restoration.h"
#include "train/device/operations.h"
#include "train/optimise/weights.h"
#include "train/restoration/restoration_batch.h"

typedef struct train_restoration_weights {        /* views into a vector of parameters */
    float *stage;                                 /* [stages][hidden] */
    float *gain;                                  /* [stages] */
    float *weight[CODEC_RESTORATION_MOST_LAYERS]; /* [taps][inputs][outputs] */
    float *bias[CODEC_RESTORATION_MOST_LAYERS];   /* [outputs]; the first is unused */
} train_restoration_weights;

/* All arrays are on the device. */
typedef struct train_restoration_network {
    /* Channels, hidden, layers, stages and at (borrowed). */
    codec_restoration shape;
    train_stream stream;
    /* Of the weights, and of arrays whose size does not depend on the batch. */
    train_arena arena;
    train_weights weights;
    train_restoration_weights w, w_gradient; /* views */
    /* [hidden], [1] interpolated between two stages */
    float *first_bias, *gain;
    float *dbias, *dgain; /* [hidden or values], [1] gradients of these */
    float *transposed;    /* [taps][outputs][inputs] transposed weights */
    /* [2] of the batch: restored, and as decoded */
    double *errors;
    /* of the present batch */
    /* And `part`, 0..1: position between this stage and the next, on the host. */
    uint32_t stage;
    float part;
    /* rows, and rows that fit into the arrays */
    size_t rows, capacity;
    train_mirror decoded, target, neighbour;        /* the batch's arrays */
    train_arena rows_arena;                         /* of what follows */
    float *a[CODEC_RESTORATION_MOST_LAYERS];        /* [rows][inputs] of a layer */
    float *gathered[CODEC_RESTORATION_MOST_LAYERS]; /* [rows][taps][inputs] */
    float *h[CODEC_RESTORATION_MOST_LAYERS];        /* [rows][hidden], h(i) at i */
    float *z;                                       /* [rows][values] of the last layer */
    float *dz, *da, *dh;                            /* [rows][widest] */
    float *wide;                                    /* [rows][taps][widest] */
    double *sums;                                   /* scratch: [blocks][3] */
} train_restoration_network;

/* Creates a network on a device, which is borrowed. Initial weights are random (by seed), those of
 * the last layer and the gains zero. shape->at remains the caller's. TAPER_ERR_ARG: an illegal
 * shape; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; nothing is held then. */
taper_status train_restoration_create(train_restoration_network *net,
                                      const codec_restoration *shape, train_device *device,
                                      uint64_t seed);
void train_restoration_free(train_restoration_network *net);
/* Sets initial gains from mse[stages], the mean squared error of each stage: z is multiplied by its
 * root, so that coarse and fine cuts are learned equally well. TAPER_ERR_DEVICE. */
taper_status train_restoration_set_gains(train_restoration_network *net, const double *mse);

/* Computes z of a batch decoded from `pass` passes. The batch is used until backward is done.
 * TAPER_ERR_NOMEM: no memory for it; TAPER_ERR_DEVICE. */
taper_status train_restoration_forward(train_restoration_network *net,
                                       const train_restoration_batch *batch, uint32_t pass);

/* After forward: computes net->errors, the squared errors of the batch, and adds `weight` times the
 * gradient of errors[0]. TAPER_ERR_DEVICE. */
taper_status train_restoration_backward(train_restoration_network *net, double weight);

/* Rounds the network to integers in *to, whose arrays are allocated here. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE. */
taper_status train_restoration_export(train_restoration_network *net, codec_restoration *to);
/* The reverse: sets the network from from's integers. The shapes must be equal. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE. */
taper_status train_restoration_import(train_restoration_network *net,
                                      const codec_restoration *from);

/* Multiply all activations of a network in integers by 2^k, k = 1 or -1, and divide its output by
 * as much. The function is the same but for rounding and clamping: activations are stored in 7
 * bits, so small ones gain precision and large ones are clamped. TAPER_ERR_ARG: a shift or a bias
 * leaves its range; *r is unchanged. */
taper_status train_restoration_scale(codec_restoration *r, int k);

#endif
