/* jpeg_noise.h -- the error that quantisation has left in a JPEG, estimated without its original.
 *
 * A coefficient that is not 0 is off by up to half a step of its table: step^2 / 12 in the mean.
 * How many are not 0 tells how widely the coefficients at this place of a block are spread (a
 * Laplace distribution), and from that the error of those that became 0. Losses by smaller chroma
 * planes are not counted. */
#ifndef FORMATS_JPEG_NOISE_H
#define FORMATS_JPEG_NOISE_H
#include <stddef.h>

/* The mean squared error per sample of RGB or grey, on the 8-bit scale, of a JPEG that
 * formats_jpeg_decode accepts. Within 1.5 dB for most photographs. 0: not known, for example as the
 * coefficients take more than 128 MiB of memory. */
double formats_jpeg_noise(const void *bytes, size_t n);

#endif
