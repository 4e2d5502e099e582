/* npy.h -- writes arrays for numpy: .npy files of format 1.0, little-endian, row after row.
 *
 * A file is a header of FORMATS_NPY_HEADER bytes, then the numbers. The header is 0x93 "NUMPY", the
 * version 1, 0, the length of the rest in two bytes, and a Python dictionary with the type, the
 * order and the shape. It is padded with spaces and ends in a newline. Source: numpy/lib/format.py;
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef FORMATS_NPY_H
#define FORMATS_NPY_H
#include <stddef.h>
#include <stdint.h>

enum { FORMATS_NPY_HEADER = 128 };
typedef enum formats_npy_type { FORMATS_NPY_FLOAT32, FORMATS_NPY_INT32 } formats_npy_type;

/* The header of an array [rows][columns]; with columns == 0, of an array [rows]. */
void formats_npy_header(formats_npy_type type, uint64_t rows, uint64_t columns,
                        uint8_t header[FORMATS_NPY_HEADER]);

/* Convert n numbers of four bytes, float or int32_t, to the byte order of the file. to: [4 * n];
 * may be `numbers` itself. */
void formats_npy_store(const void *numbers, size_t n, uint8_t *to);

#endif
