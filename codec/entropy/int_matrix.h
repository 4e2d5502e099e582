/* int_matrix.h -- matrices of integers, times a power of two for each row, in the file form of
 * weights_coder.h: so networks that compute in integers are stored. */
#ifndef CODEC_INT_MATRIX_H
#define CODEC_INT_MATRIX_H
#include "formats/bytes.h"

enum { CODEC_INT_MATRIX_MOST_SHIFT = 30 };

/* Where element (r, c) lies: in one of the arrays, at r * row_stride + c * column_stride. */
typedef struct codec_int_matrix {
    int8_t *i8;
    int16_t *i16;
    int32_t *i32;
    uint32_t rows, columns;
    size_t row_stride, column_stride;
    uint8_t *shift; /* [rows] the row's step is 2^-shift; NULL: all steps are 1 */
    int32_t most;   /* magnitude */
} codec_int_matrix;

taper_status codec_int_matrix_write(const codec_int_matrix *m, formats_buffer *out);
/* TAPER_ERR_CORRUPT: a magnitude above `most`, or a step that is not 1, or with shifts none of 2^0
 * .. 2^-MOST_SHIFT. */
taper_status codec_int_matrix_read(const codec_int_matrix *m, formats_cursor *in,
                                   taper_error *error);

#endif
