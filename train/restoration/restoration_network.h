/* restoration_network.h -- a restoration network (codec/transform/restoration.h) in floats, forward
 * and backward, and its rounding to the integers that ship.
 *
 * Numbers stand for the integers of the codec: an input a for a / 1024, an activation h for h /
 * 256, z(layers) for z / 2048, a gain for gain / 4096; a pixel gets 8 gain z. Here nothing is
 * rounded; what is clipped there is clipped here. A convolution is a gather of the nine neighbours
 * and a matrix product:
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
    float *bias[CODEC_RESTORATION_MOST_LAYERS];   /* [outputs]; the first is not there */
} train_restoration_weights;

/* All arrays are on the device. */
typedef struct train_restoration_network {
    codec_restoration shape; /* channels, hidden, layers, stages and at (borrowed) */
    train_stream stream;
    train_arena arena; /* of the weights, and of what does not grow with a batch */
    train_weights weights;
    train_restoration_weights w, w_gradient; /* views */
    float *first_bias, *gain;                /* [hidden], [1] between the stages */
    float *dbias, *dgain;                    /* [hidden or values], [1] gradients of these */
    float *turned;                           /* a layer's weights [taps][outputs][inputs] */
    double *errors;                          /* [2] of the batch: restored, and as decoded */
    /* of the batch in work */
    uint32_t stage; /* and the part of the way to the next one, on the host */
    float part;
    size_t rows, room;                              /* rows that the rest has memory for */
    train_lent decoded, target, neighbour;          /* the batch's arrays */
    train_arena rows_arena;                         /* of what follows */
    float *a[CODEC_RESTORATION_MOST_LAYERS];        /* [rows][inputs] of a layer */
    float *gathered[CODEC_RESTORATION_MOST_LAYERS]; /* [rows][taps][inputs] */
    float *h[CODEC_RESTORATION_MOST_LAYERS];        /* [rows][hidden], h(i) at i */
    float *z;                                       /* [rows][values] the last layer's */
    float *dz, *da, *dh;                            /* [rows][widest] */
    float *wide;                                    /* [rows][taps][widest] */
    double *sums;                                   /* scratch: [blocks][3] */
} train_restoration_network;

/* A network on a device, which is borrowed. First weights are random (of the seed), those of the
 * last layer and gains zero. shape->at stays the caller's. TAPER_ERR_ARG: an illegal shape;
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; nothing is held then. */
taper_status train_restoration_create(train_restoration_network *net,
                                      const codec_restoration *shape, train_device *device,
                                      uint64_t seed);
void train_restoration_free(train_restoration_network *net);
/* First gains: z times the root of a stage's mean squared error, mse[stages], is added, so that
 * coarse cuts and fine ones are learned alike. TAPER_ERR_DEVICE. */
taper_status train_restoration_set_gains(train_restoration_network *net, const double *mse);

/* z of a batch decoded from `pass` passes. The batch stays in use until backward is done.
 * TAPER_ERR_NOMEM: no room for it; TAPER_ERR_DEVICE. */
taper_status train_restoration_forward(train_restoration_network *net,
                                       const train_restoration_batch *batch, uint32_t pass);

/* After forward: net->errors, the squared errors of the batch, and `weight` times the gradient of
 * errors[0], which is added. TAPER_ERR_DEVICE. */
taper_status train_restoration_backward(train_restoration_network *net, double weight);

/* The integers nearest to the network, into *to, allocated here. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE. */
taper_status train_restoration_export(train_restoration_network *net, codec_restoration *to);
/* The other way round: from's integers as the network's numbers. Their shapes are equal.
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_restoration_import(train_restoration_network *net,
                                      const codec_restoration *from);

#endif
