/* weights_coder.h -- the serialised form of a matrix of weights: quantised, entropy-coded integers.
 *
 * Row r contains integers times step[r]. The class of a magnitude depends on its neighbours: the
 * two before it and the one `width` before it (eigenimages are smooth). Magnitudes up to 15 are
 * symbols of their class. Above, each quarter of an octave is a symbol; the lower digits follow as
 * plain bits, and so do signs. Symbols are coded with rans.h; their frequencies come first. */
#ifndef CODEC_WEIGHTS_CODER_H
#define CODEC_WEIGHTS_CODER_H
#include "formats/bytes.h"

enum {
    CODEC_WEIGHT_MAX = 1 << 20, /* the largest magnitude of a quantised weight */
    CODEC_WEIGHT_CLASSES = 12
};

/* Append the matrix [rows][columns] to out. Weights are rounded to the nearest multiple of their
 * step and replaced by the rounded values. step[r] > 0, with |weight / step| <= CODEC_WEIGHT_MAX.
 * width: columns of the picture that a row represents, at least 1. TAPER_ERR_NOMEM, or the status
 * of out. */
taper_status codec_weights_write(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                                 const float *step, formats_buffer *out);
/* TAPER_ERR_CORRUPT, _TRUNCATED, _NOMEM. */
taper_status codec_weights_read(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                                formats_cursor *in, taper_error *error);
/* Read the integers and the steps: q[rows][columns], step[rows]. The same errors. */
taper_status codec_weights_read_integers(int32_t *q, float *step, uint32_t rows, uint32_t columns,
                                         uint32_t width, formats_cursor *in, taper_error *error);

#endif
