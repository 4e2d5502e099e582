/* autoencoder.h -- one dense network in training, on a device: an encoder, its objectives, and the
 * numbers of both in one vector.
 *
 * Inside, pixels and codes are divided by one `scale` (the data's standard deviation), so that
 * learning rates mean the same for every data set; networks go in and come out on the 0..255 scale
 * (ReLU stacks are homogeneous: only the biases change). The mean of the network stays as it is;
 * the last bias of the decoder can move it.
 *
 * All trained numbers lie in one vector, so that the optimiser and a checkpoint see just that:
 *     A, G (absent when tied), encoder layers (weight, bias)..., decoder layers...,
 *     a tenth of log b of each unit's rate, numbers of further objectives
 *
 * For rows y the code is x = A c + f(c), c = (y - mean) / scale; the decoder belongs to the
 * objective `reconstruction`, the scales b to `rate`, and further objectives may be added. The loss
 * is the sum of theirs, mean over rows. One autoencoder belongs to one thread. */
#ifndef TRAIN_AUTOENCODER_H
#define TRAIN_AUTOENCODER_H
#include "codec/transform/network.h"
#include "train/objectives/rate.h"
#include "train/objectives/reconstruction.h"
#include "train/optimise/weights.h"

/* What the two objectives that every autoencoder has are asked for. */
typedef struct train_trade {
    float lambda;         /* bits against squared error / T^2 (rate.h) */
    float gradient_floor; /* reconstruction.h */
    float balance;        /* 0..1: from squared error to its logarithm (reconstruction.h) */
} train_trade;

/* Sums over the rows of a batch; on the device an array of TRAIN_LOSSES. */
enum { TRAIN_LOSS_ALL, TRAIN_LOSS_ERROR, TRAIN_LOSS_BITS };
enum { TRAIN_MOST_OBJECTIVES = 3 };

/* Means over rows. */
typedef struct train_loss {
    double loss;       /* all objectives */
    double distortion; /* squared error per pixel component on the 0..255 scale */
    double bits;       /* rate proxy per row */
} train_loss;

typedef struct train_autoencoder {
    train_stream stream;
    train_arena numbers, activations;
    train_weights weights;
    float scale;
    size_t batch; /* most rows of one call */
    /* Views of the two vectors in the network's shape; view.mean is on the device, too; the
     * gradient's mean is NULL. */
    codec_network view, gradient;
    /* of the rows that are loaded */
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

/* How one is made. */
typedef struct train_autoencoder_options {
    size_t batch;            /* at least 1 */
    float scale;             /* above 0 */
    const float *rate_scale; /* [units] mean |x| of each unit, on the 0..255 scale, at which the
                                rate's scales start, raised to a small positive floor */
    train_weights_use use;   /* moments and best, too? */
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
/* Write parameter vector `from` ([n] on the device; usually weights.parameter) into net, which has
 * the shape it was created with. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; net is then undefined. */
taper_status train_autoencoder_export(train_autoencoder *ae, const float *from, codec_network *net);

/* Load n <= batch rows: row order[i] of pixels[..][D] (8 bit, channel-planar) becomes row i; order
 * NULL: row i does. They have no labels. Arrays are on the device. */
taper_status train_autoencoder_load(train_autoencoder *ae, const uint8_t *pixels,
                                    const uint32_t *order, size_t n);
/* Labels of the rows that are loaded: label[order[i]], on the device; label NULL: none. */
taper_status train_autoencoder_label(train_autoencoder *ae, const uint32_t *label,
                                     const uint32_t *order);

/* The loaded rows' losses at the given cuts (the host's, thresholds on the 0..255 scale), to sums
 * [TRAIN_LOSSES] on the device. */
taper_status train_autoencoder_forward(train_autoencoder *ae, const train_cut *cuts, double *sums);
/* The gradient of their mean, after a forward call on the same rows. Overwrites the weights'
 * gradient. */
taper_status train_autoencoder_backward(train_autoencoder *ae);
/* Sums that have come down, over `rows` rows, as means. */
train_loss train_autoencoder_means(const train_autoencoder *ae, const double *sums, double rows);

/* Decoder alone (second stage): codes[n][units] of the loaded rows on the 0..255 scale, as the
 * encoder half gives them now, to the host ... */
taper_status train_autoencoder_codes(train_autoencoder *ae, float *codes);
/* ... and the losses of decoding the host's codes_q[n][units] instead: the logarithm of the squared
 * error (reconstruction.h). gradient 1: leave its gradient in the weights' gradient, 0 for the
 * encoder half. */
taper_status train_autoencoder_decode_loss(train_autoencoder *ae, const float *codes_q,
                                           int gradient, double *sums);

#endif
