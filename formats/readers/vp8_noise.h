/* vp8_noise.h -- the error that quantisation has left in a lossy WebP, estimated without its
 * original.
 *
 * The header of the picture tells the step of the quantiser in each of up to four segments, and how
 * often they occur. The bytes a pixel tell how many coefficients are not 0. The mean squared error
 * is a product of powers of both, fitted to photographs at qualities 20 to 92. Safe on hostile
 * input. */
#ifndef FORMATS_VP8_NOISE_H
#define FORMATS_VP8_NOISE_H
#include <stddef.h>
#include <stdint.h>

/* The mean squared error per sample of RGB, on the 8-bit scale, of a still WebP of so many pixels.
 * Within 1.1 dB (root mean square) for photographs, losses by smaller chroma planes included; of
 * graphs it may be several dB too large. 0: not lossy, animated, or damaged. */
double formats_webp_noise(const void *bytes, size_t n, uint64_t pixels);

#endif
