/* rbm_layer.h -- a layer on a device as it learns, and what moves it: gradient ascent with momentum
 * and weight decay. With g the mean gradient of a batch of B rows, over rate r, momentum m:
 *     velocity = m velocity + B (g - decay W)        W += r / B velocity
 * so that the sum over rows, and the product that makes it, is all that a batch costs beside its
 * own products; biases likewise, without decay. */
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
    float *weight, *hidden_bias, *visible_bias;     /* one behind the other */
    float *velocity, *hidden_moves, *visible_moves; /* likewise */
    /* Rows that the gradient is made of: that of W is above^T below, over both halves. */
    float *below;    /* [2 batch][visible]: the data first */
    float *above;    /* [2 batch][hidden] */
    float *between;  /* [batch][the larger of both] */
    double *squares; /* [2] */
    double *error;   /* [1] squared errors of reconstructions since train_rbm_layer_errors */
    train_arena arena;
} train_rbm_layer;

/* What a batch is learned with. */
typedef struct train_rbm_batch {
    size_t rows; /* 1 .. batch, which lie in below[rows][visible] */
    float rate, momentum;
    train_noise noise;
    const train_rbm_options *options;
} train_rbm_batch;

/* A way of learning, from layer->below: velocities with the momentum, and the gradient's sums over
 * the batch added; squared errors of the reconstruction added to layer->error. below is lost. */
typedef taper_status train_rbm_gradient_fn(train_rbm_layer *layer, const train_rbm_batch *batch);

/* From a machine's numbers, at rest. layer zeroed before; close it after a failure, too.
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_rbm_layer_open(train_rbm_layer *layer, train_stream *stream,
                                  const train_rbm *from, size_t batch);
void train_rbm_layer_close(train_rbm_layer *layer); /* leaves it zeroed; zeroed is fine */

/* One batch: a gradient, decay, and the move. */
taper_status train_rbm_layer_learn(train_rbm_layer *layer, const train_rbm_batch *batch,
                                   train_rbm_gradient_fn *gradient);
/* *sum: squared errors since the last call. Waits. */
taper_status train_rbm_layer_errors(train_rbm_layer *layer, double *sum);
/* The numbers as they are. Waits. */
taper_status train_rbm_layer_fetch(train_rbm_layer *layer, train_rbm *to);

/* --- for ways of learning ------------------------------------------------------------------ */

/* to[rows][hidden] = means of hidden units from v[rows][visible]; and back, from h. */
taper_status train_rbm_up(const train_rbm_layer *layer, size_t rows, const float *v, float *to);
taper_status train_rbm_down(const train_rbm_layer *layer, size_t rows, const float *h, float *to);
/* layer->error += |below - reconstruction|^2 over rows. */
taper_status train_rbm_add_error(train_rbm_layer *layer, size_t rows, const float *reconstruction);
/* velocity = momentum velocity + above^T below over 2 rows. */
taper_status train_rbm_add_products(train_rbm_layer *layer, size_t rows, float momentum);

#endif
