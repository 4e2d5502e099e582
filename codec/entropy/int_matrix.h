/* int_matrix.h -- the serialised form of networks that compute in integers: matrices of integers
 * with a power of two per row, in the form of weights_coder.h. */
#ifndef CODEC_INT_MATRIX_H
#define CODEC_INT_MATRIX_H
#include "formats/bytes.h"

enum { CODEC_INT_MATRIX_MOST_SHIFT = 30 };

/* A matrix in one of the arrays, the others NULL. Element (r, c) is at index r * row_stride + c *
 * column_stride; with lists, at row_at[r] * row_stride + column_at[c] * column_stride. */
typedef struct codec_int_matrix {
    int8_t *i8;
    int16_t *i16;
    int32_t *i32;
    uint32_t rows, columns;
    size_t row_stride, column_stride;
    uint8_t *shift; /* [rows] the step of a row is 2^-shift; NULL: all steps are 1 */
    int32_t most;   /* the largest legal magnitude */
    /* [rows], [columns] which ones of a larger matrix these are; also in `shift`. NULL: the first.
     */
    const uint32_t *row_at, *column_at;
} codec_int_matrix;

taper_status codec_int_matrix_write(const codec_int_matrix *m, formats_buffer *out);
/* TAPER_ERR_CORRUPT: a magnitude is above `most`, or a step is not 1 (with shift: not a power of
 * two from 2^0 to 2^-CODEC_INT_MATRIX_MOST_SHIFT). */
taper_status codec_int_matrix_read(const codec_int_matrix *m, formats_cursor *in,
                                   taper_error *error);

#endif
