/* autoencoder.h -- a dense network in training on a device: an encoder with its objectives, whose
 * parameters are in one vector.
 *
 * Internally, pixels and codes are divided by one `scale` (the data's standard deviation), so that
 * a learning rate has the same effect for every data set. Networks are imported and exported on
 * the 0..255 scale (ReLU stacks are homogeneous: only the biases change). The network's mean is not
 * trained; the last bias of the decoder can compensate.
 *
 * The vector of parameters, for the optimiser and for checkpoints:
 *     A, G (absent when tied), encoder layers (weight, bias)..., decoder layers...,
 *     a tenth of log b of each unit's rate, parameters of further objectives
 *
 * For rows y the code is x = A c + f(c), c = (y - mean) / scale. The decoder belongs to the
 * objective `reconstruction`, the scales b to `rate`, and further objectives may be added. The loss
 * is the sum of theirs, mean over rows. An autoencoder belongs to one thread. */
#ifndef TRAIN_AUTOENCODER_H
#define TRAIN_AUTOENCODER_H
#include "codec/transform/network.h"
#include "train/objectives/rate.h"
#include "train/objectives/reconstruction.h"
#include "train/optimise/weights.h"

/* Settings of the two objectives that every autoencoder has. */
typedef struct train_trade {
    /* Weight of bits against squared error / T^2 (rate.h). */
    float lambda;
    float gradient_floor; /* reconstruction.h */
    /* 0..1: from squared error to its logarithm (reconstruction.h) */
    float balance;
} train_trade;

/* Sums over the rows of a batch; on the device an array of TRAIN_LOSSES. */
enum { TRAIN_LOSS_ALL, TRAIN_LOSS_ERROR, TRAIN_LOSS_BITS };
enum { TRAIN_MOST_OBJECTIVES = 3 };

/* Means over rows. */
typedef struct train_loss {
    double loss; /* all objectives */
    /* Squared error per pixel component on the 0..255 scale. */
    double distortion;
    double bits; /* estimated bits per row */
} train_loss;

typedef struct train_autoencoder {
    train_stream stream;
    train_arena numbers, activations;
    train_weights weights;
    float scale;
    size_t batch; /* rows of one call, at most */
    /* Views of the two vectors in the network's shape. view.mean is on the device too;
     * gradient.mean is NULL. */
    codec_network view, gradient;
    /* of the loaded rows */
    size_t rows;
    float *centred;              /* [batch][D] c */
    float *code;                 /* [batch][K] x */
    float *code_gradient;        /* [batch][K] */
    train_cut *cuts;             /* [batch] thresholds on the 0..255 scale */
    uint32_t *label;             /* [batch] */
    double *row_loss;            /* [batch] */
    double *sums;                /* [TRAIN_LOSSES] for train_autoencoder_means */
    train_stack_activations act; /* the encoder's */
    int labelled;
    train_reconstruction reconstruction;
    train_rate rate;
    train_objective_use use[TRAIN_MOST_OBJECTIVES];
    int n_objectives;
} train_autoencoder;

/* How to create one. */
typedef struct train_autoencoder_options {
    size_t batch; /* at least 1 */
    float scale;  /* above 0 */
    /* [units] mean |x| of each unit on the 0..255 scale: initial scales of the rate, raised to a
     * small positive minimum. */
    const float *rate_scale;
    train_ranks *ranks; /* that share each batch; NULL: one */
    /* Whether moments and the best parameters are kept. */
    train_weights_use use;
    const train_objective_use *also; /* [n_also] further objectives, borrowed */
    int n_also;                      /* at most TRAIN_MOST_OBJECTIVES - 2 */
} train_autoencoder_options;

/* Copies net (0..255 scale) to the device. TAPER_ERR_NOMEM, TAPER_ERR_ARG, TAPER_ERR_DEVICE;
 * nothing is held then. */
taper_status train_autoencoder_create(train_autoencoder *ae, const codec_network *net,
                                      train_device *device,
                                      const train_autoencoder_options *options);
void train_autoencoder_free(train_autoencoder *ae); /* leaves it zeroed */
void train_autoencoder_set_trade(train_autoencoder *ae, const train_trade *trade);
/* Writes the parameter vector `from` ([n] on the device; usually weights.parameter) into net, which
 * has the shape of the network that was imported. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; net is then
 * undefined. */
taper_status train_autoencoder_export(train_autoencoder *ae, const float *from, codec_network *net);

/* Loads n <= batch rows: row order[i] of pixels[..][D] (8 bit, channel-planar) becomes row i; order
 * NULL: row i. They have no labels. Arrays are on the device. */
taper_status train_autoencoder_load(train_autoencoder *ae, const uint8_t *pixels,
                                    const uint32_t *order, size_t n);
/* Sets the labels of the loaded rows: label[order[i]], on the device; label NULL: none. */
taper_status train_autoencoder_label(train_autoencoder *ae, const uint32_t *label,
                                     const uint32_t *order);

/* The losses of the loaded rows at the given cuts, to sums[TRAIN_LOSSES] on the device. cuts are on
 * the host, with thresholds on the 0..255 scale. */
taper_status train_autoencoder_forward(train_autoencoder *ae, const train_cut *cuts, double *sums);
/* In place of a forward call, on a rank that has no row of the batch. */
taper_status train_autoencoder_absent(train_autoencoder *ae);
/* The gradient of their mean, after a forward call on the same rows. Overwrites the gradient of the
 * weights. */
taper_status train_autoencoder_backward(train_autoencoder *ae);
/* Downloaded sums over `rows` rows as means. */
train_loss train_autoencoder_means(const train_autoencoder *ae, const double *sums, double rows);

/* For training the decoder alone (second stage). The codes of the loaded rows by the present
 * encoder, codes[n][units] on the 0..255 scale, to the host. */
taper_status train_autoencoder_codes(train_autoencoder *ae, float *codes);
/* The losses of decoding the host's codes_q[n][units]: log squared error (reconstruction.h).
 * gradient 1: also computes its gradient into the weights' gradient, 0 for the encoder. */
taper_status train_autoencoder_decode_loss(train_autoencoder *ae, const float *codes_q,
                                           int gradient, double *sums);

#endif
