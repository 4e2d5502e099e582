/* packed_rows.c -- see packed_rows.h. */
#include "codec/parking/packed_rows.h"
#include "codec/backend/simd.h"
#include <string.h>

enum { ALL_ZERO, ONE_BYTE, TWO_BYTES, ONLY_ONES };

/* What a row has: values other than 0, the bits of magnitudes, and whether one is negative. */
typedef struct content {
    uint32_t count, bits, is_negative;
} content;

static inline int32_t value_at(const void *row, size_t bytes, uint32_t p) {
    return bytes == 1 ? ((const int8_t *)row)[p] : ((const int16_t *)row)[p];
}

CODEC_CLONES static content content_of(const void *row, size_t bytes, uint32_t n) {
    uint32_t count = 0, bits = 0, negative = 0;
    for (uint32_t p = 0; p < n; p++) {
        const int32_t value = value_at(row, bytes, p);
        count += value != 0;
        bits |= (uint32_t)(value < 0 ? ~value : value);
        negative |= value < 0;
    }
    return (content){count, bits, negative};
}

static uint8_t kind_of(content c) {
    if (!c.count) return ALL_ZERO;
    if (!c.is_negative && c.bits == 1) return ONLY_ONES;
    return c.bits > INT8_MAX ? TWO_BYTES : ONE_BYTE;
}

static size_t bitmap_bytes(uint32_t n) { return ((size_t)n + 7) / 8; }

static size_t packed_size(content c, uint8_t kind, uint32_t n) {
    const size_t value = kind == TWO_BYTES ? 2 : kind == ONE_BYTE;
    return kind == ALL_ZERO ? 1 : 1 + bitmap_bytes(n) + c.count * value;
}

/* Nonzero: the 8 bytes from position p on are in the row, and 0. */
static inline int are_zero(const void *row, size_t bytes, uint32_t p, uint32_t n) {
    uint64_t eight = 1;
    if (n - p >= 8 / bytes) memcpy(&eight, (const uint8_t *)row + p * bytes, sizeof eight);
    return !eight;
}

size_t codec_pack_row(const void *row, size_t bytes, uint32_t n, uint8_t *to) {
    const content c = content_of(row, bytes, n);
    const uint8_t kind = kind_of(c);
    const size_t size = packed_size(c, kind, n);
    if (to) *to = kind;
    if (!to || kind == ALL_ZERO) return size;
    uint8_t *bitmap = to + 1, *next = bitmap + bitmap_bytes(n);
    memset(bitmap, 0, bitmap_bytes(n));
    for (uint32_t p = 0; p < n; p++) {
        if (are_zero(row, bytes, p, n)) {
            p += (uint32_t)(8 / bytes) - 1;
            continue;
        }
        const int16_t value = (int16_t)value_at(row, bytes, p);
        if (!value) continue;
        bitmap[p / 8] |= (uint8_t)(1u << p % 8);
        if (kind == TWO_BYTES) memcpy(next, &value, sizeof value), next += sizeof value;
        if (kind == ONE_BYTE) *next++ = (uint8_t)value;
    }
    return size;
}

static inline int16_t next_value(uint8_t kind, const uint8_t **from) {
    int16_t wide;
    if (kind == ONLY_ONES) return 1;
    if (kind == ONE_BYTE) return (int8_t) * (*from)++;
    memcpy(&wide, *from, sizeof wide);
    *from += sizeof wide;
    return wide;
}

size_t codec_unpack_row(const uint8_t *from, size_t bytes, uint32_t n, void *row) {
    const uint8_t kind = *from, *bitmap = from + 1, *next = bitmap + bitmap_bytes(n);
    if (kind == ALL_ZERO) return 1;
    for (size_t i = 0; i < bitmap_bytes(n); i++)
        for (uint32_t bits = bitmap[i]; bits; bits &= bits - 1) {
            const size_t p = 8 * i + (uint32_t)__builtin_ctz(bits);
            const int16_t value = next_value(kind, &next);
            if (bytes == 1)
                ((int8_t *)row)[p] = (int8_t)value;
            else
                ((int16_t *)row)[p] = value;
        }
    return (size_t)(next - from);
}
