/* int_matrix.c -- see int_matrix.h. */
#include "codec/entropy/int_matrix.h"
#include "codec/entropy/weights_coder.h"
#include <stdlib.h>
#include <string.h>

static uint32_t row_of(const codec_int_matrix *m, uint32_t r) {
    return m->row_at ? m->row_at[r] : r;
}

static size_t place_of(const codec_int_matrix *m, uint32_t r, uint32_t c) {
    return row_of(m, r) * m->row_stride + (m->column_at ? m->column_at[c] : c) * m->column_stride;
}

static int32_t get(const codec_int_matrix *m, uint32_t r, uint32_t c) {
    size_t at = place_of(m, r, c);
    return m->i8 ? m->i8[at] : m->i16 ? m->i16[at] : m->i32[at];
}

static void put(const codec_int_matrix *m, uint32_t r, uint32_t c, int32_t v) {
    size_t at = place_of(m, r, c);
    if (m->i8)
        m->i8[at] = (int8_t)v;
    else if (m->i16)
        m->i16[at] = (int16_t)v;
    else
        m->i32[at] = v;
}

/* 2^-shift as a float (binary32), and the inverse; -1: not a shift of 0 .. MOST_SHIFT. */
static float power(uint32_t shift) {
    uint32_t bits = (127 - shift) << 23;
    float step;
    memcpy(&step, &bits, sizeof step);
    return step;
}

static int shift_of(float step) {
    uint32_t bits;
    memcpy(&bits, &step, sizeof bits);
    uint32_t shift = 127 - (bits >> 23);
    return bits << 9 || shift > CODEC_INT_MATRIX_MOST_SHIFT ? -1 : (int)shift;
}

taper_status codec_int_matrix_write(const codec_int_matrix *m, formats_buffer *out) {
    float *weights = malloc((size_t)m->rows * m->columns * sizeof *weights),
          *step = malloc(m->rows * sizeof *step);
    taper_status status = weights && step ? TAPER_OK : TAPER_ERR_NOMEM;
    for (uint32_t r = 0; r < m->rows && status == TAPER_OK; r++) {
        step[r] = m->shift ? power(m->shift[row_of(m, r)]) : 1.0f;
        for (uint32_t c = 0; c < m->columns; c++)
            weights[(size_t)r * m->columns + c] = (float)get(m, r, c) * step[r];
    }
    if (status == TAPER_OK)
        status = codec_weights_write(weights, m->rows, m->columns, 1, step, out);
    free(weights), free(step);
    return status;
}

taper_status codec_int_matrix_read(const codec_int_matrix *m, formats_cursor *in,
                                   taper_error *error) {
    int32_t *q = malloc((size_t)m->rows * m->columns * sizeof *q);
    float *step = malloc(m->rows * sizeof *step);
    taper_status status =
        q && step ? codec_weights_read_integers(q, step, m->rows, m->columns, 1, in, error)
                  : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a network");
    for (uint32_t r = 0; r < m->rows && status == TAPER_OK; r++) {
        int shift = shift_of(step[r]), exact = m->shift ? shift >= 0 : shift == 0;
        for (uint32_t c = 0; c < m->columns && exact; c++) {
            int32_t v = q[(size_t)r * m->columns + c];
            exact = v >= -m->most && v <= m->most;
            if (exact) put(m, r, c, v);
        }
        if (!exact)
            status = formats_fail(error, TAPER_ERR_CORRUPT,
                                  "model: row %u of a network's weights would overflow "
                                  "its sums",
                                  r);
        else if (m->shift)
            m->shift[row_of(m, r)] = (uint8_t)shift;
    }
    free(q), free(step);
    return status;
}
