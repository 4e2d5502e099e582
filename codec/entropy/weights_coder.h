/* weights_coder.h -- a matrix of weights as quantised, entropy-coded integers.
 *
 * Row r is integers times step[r]. A magnitude's class is that of its neighbourhood: the two to the
 * left and the one `width` before (eigenimages are smooth). Magnitudes up to 15 are symbols of
 * their class. Above, each quarter of an octave is a symbol, and the digits below follow as plain
 * bits, as signs do. The symbols go through rans.h; their frequencies precede them. */
#ifndef CODEC_WEIGHTS_CODER_H
#define CODEC_WEIGHTS_CODER_H
#include "formats/bytes.h"

enum {
    CODEC_WEIGHT_MAX = 1 << 20, /* magnitude of a quantised weight */
    CODEC_WEIGHT_CLASSES = 12
};

/* Append the matrix [rows][columns] to out. Rows are quantised to nearest; weights are replaced by
 * what a reader will get. step[r] > 0, with |weight / step| <= CODEC_WEIGHT_MAX. width: columns of
 * the picture that a row is, at least 1. TAPER_ERR_NOMEM or what out has failed with. */
taper_status codec_weights_write(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                                 const float *step, formats_buffer *out);
/* TAPER_ERR_CORRUPT, _TRUNCATED, _NOMEM. */
taper_status codec_weights_read(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                                formats_cursor *in, taper_error *error);
/* The integers and the steps themselves: q[rows][columns], step[rows]. */
taper_status codec_weights_read_integers(int32_t *q, float *step, uint32_t rows, uint32_t columns,
                                         uint32_t width, formats_cursor *in, taper_error *error);

#endif
