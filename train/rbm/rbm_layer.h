/* rbm_layer.h -- a layer on a device during training, and its updates: gradient ascent with
 * momentum and weight decay. With g the mean gradient of a batch of B rows, rate r and momentum m:
 *     velocity = m velocity + B (g - decay W)        W += r / B velocity
 * In this form a batch needs no pass over the weights beyond its matrix products. Biases are
 * updated alike, without decay. */
#ifndef TRAIN_RBM_LAYER_H
#define TRAIN_RBM_LAYER_H
#include "train/device/operations.h"
#include "train/rbm/rbm_options.h"

typedef struct train_rbm_layer {
    train_stream *stream; /* borrowed */
    uint32_t visible, hidden;
    train_states visible_states, hidden_states;
    size_t batch;
    /* on the device */
    float *weight, *hidden_bias, *visible_bias;     /* contiguous */
    float *velocity, *hidden_moves, *visible_moves; /* contiguous: velocities */
    /* Rows from which the gradient is computed: that of W is above^T below, over both halves. */
    float *below;    /* [2 batch][visible]: the data first */
    float *above;    /* [2 batch][hidden] */
    float *between;  /* [batch][the larger of both] */
    double *squares; /* [2] */
    /* [1] squared reconstruction errors since train_rbm_layer_errors */
    double *error;
    train_arena arena;
} train_rbm_layer;

/* The arguments of a batch. */
typedef struct train_rbm_batch {
    /* 1 .. batch, which are in below[rows][visible] */
    size_t rows;
    float rate, momentum;
    train_noise noise;
    const train_rbm_options *options;
    /* Ranks that share the batch, of which these are the rows that are here, perhaps none. NULL:
     * one. */
    train_ranks *ranks;
} train_rbm_batch;

/* A training method. Reads layer->below; multiplies the velocities by the momentum and adds the
 * gradient's sums over the batch; adds the squared errors of the reconstruction to layer->error.
 * below is overwritten. */
typedef taper_status train_rbm_gradient_fn(train_rbm_layer *layer, const train_rbm_batch *batch);

/* Uploads a machine's parameters, with velocities 0. layer must be zeroed; close it after a failure
 * too. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_rbm_layer_open(train_rbm_layer *layer, train_stream *stream,
                                  const train_rbm *from, size_t batch);
void train_rbm_layer_close(train_rbm_layer *layer); /* leaves it zeroed; zeroed is fine */

/* Trains on one batch: gradient, of all ranks, decay, and update. */
taper_status train_rbm_layer_learn(train_rbm_layer *layer, const train_rbm_batch *batch,
                                   train_rbm_gradient_fn *gradient, taper_error *error);
/* *sum: squared errors since the last call. Waits for the device. */
taper_status train_rbm_layer_errors(train_rbm_layer *layer, double *sum);
/* Downloads the parameters. Waits for the device. */
taper_status train_rbm_layer_fetch(train_rbm_layer *layer, train_rbm *to);

/* --- for training methods ------------------------------------------------------------------ */

/* to[rows][hidden] = means of hidden units from v[rows][visible]; and the reverse from h. */
taper_status train_rbm_up(const train_rbm_layer *layer, size_t rows, const float *v, float *to);
taper_status train_rbm_down(const train_rbm_layer *layer, size_t rows, const float *h, float *to);
/* layer->error += |below - reconstruction|^2 over rows. */
taper_status train_rbm_add_error(train_rbm_layer *layer, size_t rows, const float *reconstruction);
/* velocity = momentum velocity + above^T below over 2 rows. */
taper_status train_rbm_add_products(train_rbm_layer *layer, size_t rows, float momentum);

#endif
