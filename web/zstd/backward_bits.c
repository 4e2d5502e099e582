/* backward_bits.c -- see backward_bits.h. */
#include "web/zstd/backward_bits.h"

unsigned web_bits_of(uint32_t value) {
    unsigned n = 0;
    for (; value; value >>= 1) n++;
    return n;
}

int web_bits_open(web_bits *bits, const uint8_t *data, size_t size) {
    if (!size || !data[size - 1]) return 0;
    *bits = (web_bits){data, size, 8 * ((int64_t)size - 1) + web_bits_of(data[size - 1]) - 1};
    return 1;
}

/* n bits from bit `low` of the stream on. */
static uint32_t word(const web_bits *bits, uint64_t low, unsigned n) {
    uint64_t value = 0;
    size_t first = (size_t)(low >> 3);
    for (size_t i = 0; i < 5 && first + i < bits->size; i++)
        value |= (uint64_t)bits->data[first + i] << 8 * i;
    return (uint32_t)(value >> (low & 7) & (((uint64_t)1 << n) - 1));
}

uint32_t web_bits_peek(const web_bits *bits, unsigned n) {
    int64_t low = bits->left - (int64_t)n;
    if (low >= 0) return word(bits, (uint64_t)low, n);
    if (bits->left <= 0) return 0;
    return word(bits, 0, (unsigned)bits->left) << -low;
}

uint32_t web_bits_take(web_bits *bits, unsigned n) {
    uint32_t value = web_bits_peek(bits, n);
    bits->left -= n;
    return value;
}
