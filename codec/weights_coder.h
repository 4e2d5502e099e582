/* weights_coder.h -- a matrix of weights as quantised, entropy-coded integers.
 *
 * Row r is integers times step[r]. The integers go through the range coder with adaptive bits: zero
 * or not, sign, then the magnitude in unary up to an escape, an Exp-Golomb code after it. The
 * contexts see the two neighbours to the left and the one `width` before (eigenimages are smooth).
 */
#ifndef CODEC_WEIGHTS_CODER_H
#define CODEC_WEIGHTS_CODER_H
#include "range_coder.h"

enum { CODEC_WEIGHT_MAX = 1 << 20 }; /* magnitude of a quantised weight */

/* Append the matrix [rows][columns] to out: step (float32 each), length, string. Rows are quantised
 * to nearest; weights are replaced by what a reader will get. step[r] > 0, with |weight / step| <=
 * CODEC_WEIGHT_MAX. width: columns of the picture that a row is, at least 1. */
taper_status codec_weights_write(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                                 const float *step, formats_buffer *out);
taper_status codec_weights_read(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                                formats_cursor *in, taper_error *error);
/* The integers and the steps themselves: q[rows][columns], step[rows]. */
taper_status codec_weights_read_integers(int32_t *q, float *step, uint32_t rows, uint32_t columns,
                                         uint32_t width, formats_cursor *in, taper_error *error);

#endif
