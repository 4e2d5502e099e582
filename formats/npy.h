/* npy.h -- arrays as numpy reads them: .npy files of format 1.0, little endian, rows one after the
 * other.
 *
 * A file is a header of FORMATS_NPY_HEADER bytes, then the numbers. The header is 0x93 "NUMPY", the
 * version 1, 0, the length of what follows in two bytes, and a Python dictionary with the type, the
 * order and the shape, filled up with blanks and ended by a newline. From numpy's own description,
 * numpy/lib/format.py; https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef FORMATS_NPY_H
#define FORMATS_NPY_H
#include <stddef.h>
#include <stdint.h>

enum { FORMATS_NPY_HEADER = 128 };
typedef enum formats_npy_type { FORMATS_NPY_FLOAT32, FORMATS_NPY_INT32 } formats_npy_type;

/* The header of an array of rows x columns; columns 0: of one dimension, [rows]. */
void formats_npy_header(formats_npy_type type, uint64_t rows, uint64_t columns,
                        uint8_t header[FORMATS_NPY_HEADER]);

/* to[4 n]: n numbers of four bytes each, float or int32_t, as a file holds them. `to` may be
 * `numbers` itself. */
void formats_npy_store(const void *numbers, size_t n, uint8_t *to);

#endif
