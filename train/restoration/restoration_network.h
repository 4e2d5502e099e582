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
#include "codec/backend/backend.h"
#include "codec/transform/restoration.h"
#include "train/optimise/steps.h"
#include "train/restoration/restoration_batch.h"

typedef struct train_restoration_weights {        /* views into a vector of parameters */
    float *stage;                                 /* [stages][hidden] */
    float *gain;                                  /* [stages] */
    float *weight[CODEC_RESTORATION_MOST_LAYERS]; /* [taps][inputs][outputs] */
    float *bias[CODEC_RESTORATION_MOST_LAYERS];   /* [outputs]; the first is not there */
} train_restoration_weights;

typedef struct train_restoration_network {
    codec_restoration shape;     /* channels, hidden, layers, stages and at (borrowed) */
    codec_backend *be;           /* borrowed */
    size_t n;                    /* parameters */
    float *parameter, *gradient; /* [n] */
    train_restoration_weights w, w_gradient;
    /* of the batch in work */
    const train_restoration_batch *batch;
    uint32_t stage; /* and the part of the way to the next one */
    float part;
    size_t room;                                    /* rows that the rest has memory for */
    float *a[CODEC_RESTORATION_MOST_LAYERS];        /* [rows + 1][inputs] of a layer, then zeros */
    float *gathered[CODEC_RESTORATION_MOST_LAYERS]; /* [rows][taps][inputs] */
    float *h[CODEC_RESTORATION_MOST_LAYERS];        /* [rows][hidden], h(i) at i */
    float *z;                                       /* [rows][values] the last layer's */
    float *dz, *da, *dh;                            /* [rows + 1][widest] */
    float *wide;                                    /* [rows][taps][widest] */
    double *sum;                                    /* [blocks][3] */
} train_restoration_network;

/* First weights are random (of the seed), those of the last layer and gains zero. shape->at stays
 * the caller's. TAPER_ERR_ARG: an illegal shape; TAPER_ERR_NOMEM; nothing is held then. */
taper_status train_restoration_create(train_restoration_network *net,
                                      const codec_restoration *shape, codec_backend *be,
                                      uint64_t seed);
void train_restoration_free(train_restoration_network *net);
/* First gains: z times the root of a stage's mean squared error, mse[stages], is added, so that
 * coarse cuts and fine ones are learned alike. */
void train_restoration_set_gains(train_restoration_network *net, const double *mse);

/* z of a batch decoded from `pass` passes. The batch stays in use until backward is done.
 * TAPER_ERR_NOMEM: no room for it. */
taper_status train_restoration_forward(train_restoration_network *net,
                                       const train_restoration_batch *batch, uint32_t pass);

/* After forward: the squared errors of the batch, restored and as decoded, and `weight` times the
 * gradient of errors->now, which is added. */
taper_status train_restoration_backward(train_restoration_network *net, double weight,
                                        train_steps_sums *errors);

/* The integers nearest to the network, into *to, allocated here. */
taper_status train_restoration_export(const train_restoration_network *net, codec_restoration *to);
/* The other way round: from's integers as the network's numbers. Their shapes are equal. */
void train_restoration_import(train_restoration_network *net, const codec_restoration *from);

#endif
