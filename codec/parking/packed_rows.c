/* packed_rows.c -- see packed_rows.h. */
#include "codec/parking/packed_rows.h"
#include "codec/backend/simd.h"
#include "codec/bitplane/group.h"
#include <string.h>

enum { ALL_ZERO, ONE_BYTE, TWO_BYTES, ONLY_ONES };

/* What a row has: values other than 0, the bits of magnitudes, and whether one is negative. */
typedef struct content {
    uint32_t count, bits, is_negative;
} content;

CODEC_CLONES static content content_of_levels(const int16_t *restrict row, uint32_t n) {
    uint32_t count = 0, bits = 0, negative = 0;
    for (uint32_t p = 0; p < n; p++) {
        count += row[p] != 0;
        bits |= (uint32_t)(row[p] < 0 ? ~row[p] : row[p]);
        negative |= row[p] < 0;
    }
    return (content){count, bits, negative};
}

CODEC_CLONES static content content_of_bytes(const int8_t *restrict row, uint32_t n) {
    uint32_t count = 0, bits = 0, negative = 0;
    for (uint32_t p = 0; p < n; p++) {
        count += row[p] != 0;
        bits |= (uint32_t)(row[p] < 0 ? ~row[p] : row[p]);
        negative |= row[p] < 0;
    }
    return (content){count, bits, negative};
}

static uint8_t kind_of(content c) {
    if (!c.count) return ALL_ZERO;
    if (!c.is_negative && c.bits == 1) return ONLY_ONES;
    return c.bits > INT8_MAX ? TWO_BYTES : ONE_BYTE;
}

static size_t bitmap_bytes(uint32_t n) { return ((size_t)n + 7) / 8; }

static size_t packed_size(content c, uint32_t n) {
    const uint8_t kind = kind_of(c);
    const size_t value = kind == TWO_BYTES ? 2 : kind == ONE_BYTE;
    return kind == ALL_ZERO ? 1 : 1 + bitmap_bytes(n) + c.count * value;
}

size_t codec_packed_levels(const int16_t *row, uint32_t n) {
    return packed_size(content_of_levels(row, n), n);
}
size_t codec_packed_bytes(const int8_t *row, uint32_t n) {
    return packed_size(content_of_bytes(row, n), n);
}

static void add_value(uint8_t kind, int32_t value, uint8_t **to) {
    if (kind == TWO_BYTES) {
        const int16_t wide = (int16_t)value;
        memcpy(*to, &wide, sizeof wide);
        *to += sizeof wide;
    } else if (kind == ONE_BYTE)
        *(*to)++ = (uint8_t)value;
}

size_t codec_pack_levels(const int16_t *row, uint32_t n, uint8_t *to) {
    const uint8_t kind = *to = kind_of(content_of_levels(row, n));
    uint8_t *bitmap = to + 1, *value = bitmap + bitmap_bytes(n);
    if (kind == ALL_ZERO) return 1;
    memset(bitmap, 0, bitmap_bytes(n));
    for (uint32_t p = 0; (p = codec_next_nonzero(row, p, n)) < n; p++) {
        bitmap[p / 8] |= (uint8_t)(1u << p % 8);
        add_value(kind, row[p], &value);
    }
    return (size_t)(value - to);
}

size_t codec_pack_bytes(const int8_t *row, uint32_t n, uint8_t *to) {
    const uint8_t kind = *to = kind_of(content_of_bytes(row, n));
    uint8_t *bitmap = to + 1, *value = bitmap + bitmap_bytes(n);
    if (kind == ALL_ZERO) return 1;
    memset(bitmap, 0, bitmap_bytes(n));
    for (uint32_t p = 0; p < n; p++) {
        if (!row[p]) continue;
        bitmap[p / 8] |= (uint8_t)(1u << p % 8);
        add_value(kind, row[p], &value);
    }
    return (size_t)(value - to);
}

static int32_t next_value(uint8_t kind, const uint8_t **from) {
    int16_t wide;
    if (kind == ONLY_ONES) return 1;
    if (kind == ONE_BYTE) return (int8_t) * (*from)++;
    memcpy(&wide, *from, sizeof wide);
    *from += sizeof wide;
    return wide;
}

size_t codec_unpack_levels(const uint8_t *from, uint32_t n, int16_t *row) {
    const uint8_t kind = *from, *bitmap = from + 1, *value = bitmap + bitmap_bytes(n);
    if (kind == ALL_ZERO) return 1;
    for (size_t i = 0; i < bitmap_bytes(n); i++)
        for (uint32_t bits = bitmap[i]; bits; bits &= bits - 1)
            row[8 * i + (uint32_t)__builtin_ctz(bits)] = (int16_t)next_value(kind, &value);
    return (size_t)(value - from);
}

size_t codec_unpack_bytes(const uint8_t *from, uint32_t n, int8_t *row) {
    const uint8_t kind = *from, *bitmap = from + 1, *value = bitmap + bitmap_bytes(n);
    if (kind == ALL_ZERO) return 1;
    for (size_t i = 0; i < bitmap_bytes(n); i++)
        for (uint32_t bits = bitmap[i]; bits; bits &= bits - 1)
            row[8 * i + (uint32_t)__builtin_ctz(bits)] = (int8_t)next_value(kind, &value);
    return (size_t)(value - from);
}
