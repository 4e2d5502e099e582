/* autoencoder.h -- one dense network in training: parameters, activations, loss, gradient.
 *
 * Inside, pixels and codes are divided by one `scale` (the data's standard deviation), so that
 * learning rates mean the same for every data set; networks go in and come out on the 0..255 scale
 * (ReLU stacks are homogeneous: only the biases change). The mean of the network stays as it is;
 * the last bias of the decoder can move it.
 *
 * All trained numbers lie in one array, so that the optimiser and a checkpoint see a vector:
 *     A, G (absent when tied), encoder layers (weight, bias)..., decoder layers...,
 *     a tenth of log b of each unit's rate
 *
 * Forward, for rows y with their cuts:
 *     c = (y - mean) / scale;  x = A c + f(c);  x_q = quantise(x);  y_hat = G^T x_q + g(x_q)
 * and the loss as in objective.h, mean over rows.
 * One autoencoder belongs to one thread; its backend may spread each call. */
#ifndef TRAIN_AUTOENCODER_H
#define TRAIN_AUTOENCODER_H
#include "codec/transform/network.h"
#include "train/dense/objective.h"

typedef struct train_objective {
    float lambda;         /* bits against squared error / T^2 */
    float gradient_floor; /* see train_quantise_row */
    float balance;        /* 0..1: from squared error to its logarithm (objective.h) */
} train_objective;

/* Means over the rows of a batch. */
typedef struct train_loss {
    double loss;       /* the objective */
    double distortion; /* squared error per pixel component on the 0..255 scale */
    double bits;       /* rate proxy per row */
} train_loss;

typedef struct train_autoencoder {
    codec_backend *be; /* borrowed */
    float scale;
    size_t batch;     /* most rows of one call */
    size_t n;         /* trained numbers */
    float *parameter; /* [n] */
    float *gradient;  /* [n]; the loss's, after train_autoencoder_backward */
    /* Views of the two arrays in the network's shape; weights.mean is a copy; the other's mean
     * is NULL. */
    codec_network weights, weight_gradients;
    float *log_scale, *log_scale_gradient; /* [units], views */
    struct train_activations *act;
} train_autoencoder;

/* Copies net (0..255 scale) in. batch >= 1; scale > 0. The rate scales start at rate_scale[units]
 * (mean |x| of each unit, on the 0..255 scale), raised to a small positive floor. TAPER_ERR_NOMEM,
 * TAPER_ERR_ARG; nothing is held then. */
taper_status train_autoencoder_create(train_autoencoder *ae, const codec_network *net,
                                      codec_backend *be, size_t batch, float scale,
                                      const float *rate_scale);
void train_autoencoder_free(train_autoencoder *ae); /* leaves it zeroed */
/* Write parameter vector `from` ([n]; usually ae->parameter) into net, which has the shape it was
 * created with. */
void train_autoencoder_export(const train_autoencoder *ae, const float *from, codec_network *net);

/* Load n <= batch rows: row order[i] of pixels[..][D] (8 bit, channel-planar) becomes row i; order
 * NULL: row i does. */
void train_autoencoder_load(train_autoencoder *ae, const uint8_t *pixels, const uint32_t *order,
                            size_t n);

/* The loaded rows' loss at the given cuts (thresholds on the 0..255 scale). */
taper_status train_autoencoder_forward(train_autoencoder *ae, const train_objective *objective,
                                       const train_cut *cuts, train_loss *out);
/* The gradient of that loss, after a forward call on the same rows. Overwrites ae->gradient. */
taper_status train_autoencoder_backward(train_autoencoder *ae);

/* Decoder alone (second stage): codes[n][units] of the loaded rows on the 0..255 scale, as the
 * encoder half gives them now ... */
taper_status train_autoencoder_codes(train_autoencoder *ae, float *codes);
/* ... and the loss of decoding codes_q[n][units] instead: mean over rows of the logarithm of the
 * squared error, which is mean PSNR up to a factor. gradient 1: leave its gradient in ae->gradient,
 * 0 for the encoder half. */
taper_status train_autoencoder_decode_loss(train_autoencoder *ae, const float *codes_q,
                                           int gradient, train_loss *out);

#endif
