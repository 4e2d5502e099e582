/* av1_noise.h -- the error that quantisation has left in an AVIF, estimated without its original,
 * as vp8_noise.h does: from the quantiser index of its frame and the bits a pixel.
 *
 * Reads the boxes that lead to the primary image, and the headers of its sequence and frame. Safe
 * on hostile input. */
#ifndef FORMATS_AV1_NOISE_H
#define FORMATS_AV1_NOISE_H
#include <stddef.h>
#include <stdint.h>

/* The data of the primary item of an AVIF or HEIC; NULL: it is damaged, or not in one piece. */
const uint8_t *formats_primary_item(const void *bytes, size_t n, size_t *size);

/* The quantiser index (base_q_idx) of the first frame of an AV1 stream; 0: it is lossless; -1: not
 * known, as it is damaged or of a rare kind. */
int formats_av1_quantiser(const void *bytes, size_t n);

/* The mean squared error per sample of RGB, on the 8-bit scale, of a still AVIF of so many pixels.
 * Within 1.3 dB (root mean square) for photographs, losses by smaller chroma planes included; of
 * graphs it may be several dB too large. 0: lossless, or not known, as of grids. */
double formats_avif_noise(const void *bytes, size_t n, uint64_t pixels);

#endif
