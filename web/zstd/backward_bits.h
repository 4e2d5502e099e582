/* backward_bits.h -- bit streams that are read from their end (RFC 8878, 4.1). Bits before the
 * start are zeros: `left` is negative when such were taken. */
#ifndef WEB_ZSTD_BACKWARD_BITS_H
#define WEB_ZSTD_BACKWARD_BITS_H
#include <stddef.h>
#include <stdint.h>

typedef struct web_bits {
    const uint8_t *data;
    size_t size;  /* bytes */
    int64_t left; /* bits */
} web_bits;

/* 0 if the stream has no end mark. */
int web_bits_open(web_bits *bits, const uint8_t *data, size_t size);
/* The next n bits, at most 32; they stay. */
uint32_t web_bits_peek(const web_bits *bits, unsigned n);
uint32_t web_bits_take(web_bits *bits, unsigned n);
/* The number of bits that hold a value: 0 of 0, 1 of 1, 2 of 2 and 3, ... */
unsigned web_bits_of(uint32_t value);

#endif
