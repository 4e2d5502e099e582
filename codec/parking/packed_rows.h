/* packed_rows.h -- rows of small integers, most of which are 0, in few bytes of memory.
 *
 *     byte               0: all are 0; otherwise the bytes of a value: 1 or 2; 3: every value is 0
 *                        or 1, and values are left out
 *     bitmap[n / 8]      which values are not 0
 *     these values, in the order of the processor */
#ifndef CODEC_PACKED_ROWS_H
#define CODEC_PACKED_ROWS_H
#include <stddef.h>
#include <stdint.h>

/* Pack a row of n values of so many bytes, 1 or 2, signed. Returns the size. NULL: only counted. */
size_t codec_pack_row(const void *row, size_t bytes, uint32_t n, uint8_t *to);
/* Set the values of a zeroed row that are not 0. Returns the bytes that were read. */
size_t codec_unpack_row(const uint8_t *from, size_t bytes, uint32_t n, void *row);

#endif
