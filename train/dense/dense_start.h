/* dense_start.h -- the start of dense training: initial weights, the data's scale, and thresholds
 * for a quality range. */
#ifndef TRAIN_DENSE_START_H
#define TRAIN_DENSE_START_H
#include "codec/transform/network.h"
#include "train/device/operations.h"
#include "train/sampling/dataset.h"

/* Statistics of the untrained network on the data, from at most `most` evenly spaced rows. */
typedef struct train_start {
    /* Standard deviation of a pixel component around the mean image, at least 1. */
    float scale;
    float *magnitude; /* [units] mean |x| */
    double *variance; /* [units] mean x^2 */
    /* Squared error per row outside the span of the units. */
    double residual;
} train_start;

/* Initial weights of both stacks. Hidden layers are normal with variance 2 / inputs (He et al.
 * 2015), biases 0. Last layers are 0, so that the network equals its linear path, which is not
 * changed. */
void train_initialise_stacks(codec_network *net, uint64_t seed);

/* Measures net's linear path on the data, on a device. Free the arrays with train_start_free.
 * TAPER_ERR_ARG: no data, or of another size; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_start_measure(train_start *start, const codec_network *net, train_stream *stream,
                                 const train_pixels *data, size_t most);
void train_start_free(train_start *start);

/* The quantiser threshold at which the linear path reaches about `psnr` dB, at least 1 (8-bit
 * pixels need no finer). It uses reverse water-filling over the units' variances: the distortion is
 * min(variance, theta) with theta = T^2 / 6, which holds for a dead-zone quantiser at low rates. */
float train_threshold_for_psnr(const train_start *start, uint32_t inputs, uint32_t units,
                               double psnr);

/* The PSNR of the mean image. */
double train_psnr_without_code(const train_start *start, uint32_t inputs, uint32_t units);

#endif
