/* bytes.c -- readers, writers, varints and CRC32C over memory; see bytes.h. */
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

/* --- fixed-width integers --- */

uint16_t formats_get_u16le(const void *from) {
    const uint8_t *p = from;
    return (uint16_t)(p[0] | p[1] << 8);
}

uint32_t formats_get_u32le(const void *from) {
    const uint8_t *p = from;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint64_t formats_get_u64le(const void *from) {
    const uint8_t *p = from;
    return formats_get_u32le(p) | (uint64_t)formats_get_u32le(p + 4) << 32;
}

uint16_t formats_get_u16be(const void *from) {
    const uint8_t *p = from;
    return (uint16_t)(p[0] << 8 | p[1]);
}

uint32_t formats_get_u32be(const void *from) {
    const uint8_t *p = from;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

void formats_set_u16le(void *to, uint16_t value) {
    uint8_t *p = to;
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

void formats_set_u32le(void *to, uint32_t value) {
    uint8_t *p = to;
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(value >> 8 * i);
}

void formats_set_u64le(void *to, uint64_t value) {
    uint8_t *p = to;
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(value >> 8 * i);
}

void formats_set_u16be(void *to, uint16_t value) {
    uint8_t *p = to;
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

void formats_set_u32be(void *to, uint32_t value) {
    uint8_t *p = to;
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(value >> (24 - 8 * i));
}

taper_status formats_mul_u64(uint64_t a, uint64_t b, uint64_t *out) {
    int overflow = b != 0 && a > UINT64_MAX / b;
    *out = overflow ? UINT64_MAX : a * b;
    return overflow ? TAPER_ERR_LIMIT : TAPER_OK;
}

taper_status formats_add_u64(uint64_t a, uint64_t b, uint64_t *out) {
    int overflow = a > UINT64_MAX - b;
    *out = overflow ? UINT64_MAX : a + b;
    return overflow ? TAPER_ERR_LIMIT : TAPER_OK;
}

/* --- cursor --- */

formats_cursor formats_cursor_over(const void *bytes, size_t size) {
    return (formats_cursor){.bytes = bytes, .size = size, .at = 0, .status = TAPER_OK};
}

size_t formats_cursor_left(const formats_cursor *cursor) {
    return cursor->status == TAPER_OK ? cursor->size - cursor->at : 0;
}

const uint8_t *formats_read_bytes(formats_cursor *cursor, size_t n) {
    if (cursor->status != TAPER_OK) return NULL;
    if (n > cursor->size - cursor->at) {
        cursor->status = TAPER_ERR_TRUNCATED;
        return NULL;
    }
    /* no arithmetic on a NULL base, which an empty cursor may have */
    const uint8_t *p = n ? cursor->bytes + cursor->at : (const uint8_t *)"";
    cursor->at += n;
    return p;
}

uint8_t formats_read_u8(formats_cursor *cursor) {
    const uint8_t *p = formats_read_bytes(cursor, 1);
    return p ? *p : 0;
}

uint16_t formats_read_u16le(formats_cursor *cursor) {
    const uint8_t *p = formats_read_bytes(cursor, 2);
    return p ? formats_get_u16le(p) : 0;
}

uint32_t formats_read_u32le(formats_cursor *cursor) {
    const uint8_t *p = formats_read_bytes(cursor, 4);
    return p ? formats_get_u32le(p) : 0;
}

uint64_t formats_read_u64le(formats_cursor *cursor) {
    const uint8_t *p = formats_read_bytes(cursor, 8);
    return p ? formats_get_u64le(p) : 0;
}

uint16_t formats_read_u16be(formats_cursor *cursor) {
    const uint8_t *p = formats_read_bytes(cursor, 2);
    return p ? formats_get_u16be(p) : 0;
}

uint32_t formats_read_u32be(formats_cursor *cursor) {
    const uint8_t *p = formats_read_bytes(cursor, 4);
    return p ? formats_get_u32be(p) : 0;
}

uint64_t formats_read_varint(formats_cursor *cursor) {
    if (cursor->status != TAPER_OK) return 0;
    uint64_t value = 0;
    size_t left = cursor->size - cursor->at;
    for (size_t i = 0; i < FORMATS_VARINT_MAX; i++) {
        if (i == left) {
            cursor->status = TAPER_ERR_TRUNCATED;
            return 0;
        }
        uint8_t byte = cursor->bytes[cursor->at + i];
        int too_big = i == FORMATS_VARINT_MAX - 1 && byte > 1;
        int padded = i > 0 && byte == 0;
        if (too_big || padded) break;
        value |= (uint64_t)(byte & 0x7F) << 7 * i;
        if (byte < 0x80) {
            cursor->at += i + 1;
            return value;
        }
    }
    cursor->status = TAPER_ERR_CORRUPT;
    return 0;
}

uint64_t formats_read_varint_max(formats_cursor *cursor, uint64_t max) {
    size_t start = cursor->at;
    uint64_t value = formats_read_varint(cursor);
    if (value <= max) return value;
    cursor->at = start;
    cursor->status = TAPER_ERR_CORRUPT;
    return 0;
}

taper_status formats_cursor_check(const formats_cursor *cursor, const char *what,
                                  taper_error *error) {
    if (cursor->status == TAPER_OK) return TAPER_OK;
    if (cursor->status == TAPER_ERR_TRUNCATED)
        return formats_fail(error, TAPER_ERR_TRUNCATED, "%s ends early at byte %zu of %zu", what,
                            cursor->at, cursor->size);
    return formats_fail(error, cursor->status, "%s holds an illegal number at byte %zu of %zu",
                        what, cursor->at, cursor->size);
}

/* --- buffer --- */

formats_buffer formats_buffer_make(size_t ceiling) {
    return (formats_buffer){.ceiling = ceiling, .status = TAPER_OK};
}

void formats_buffer_free(formats_buffer *buffer) {
    if (!buffer) return;
    free(formats_buffer_take(buffer, &(size_t){0}));
}

void formats_buffer_clear(formats_buffer *buffer) {
    buffer->size = 0;
    buffer->status = TAPER_OK;
}

uint8_t *formats_buffer_take(formats_buffer *buffer, size_t *size) {
    uint8_t *data = buffer->data;
    *size = buffer->size;
    formats_account_give(buffer->account, buffer->capacity);
    *buffer = (formats_buffer){.ceiling = buffer->ceiling, .account = buffer->account};
    return data;
}

taper_status formats_buffer_reserve(formats_buffer *buffer, size_t n) {
    if (buffer->status != TAPER_OK) return buffer->status;
    if (n <= buffer->capacity - buffer->size) return TAPER_OK;
    if (buffer->size > buffer->ceiling || n > buffer->ceiling - buffer->size)
        return buffer->status = TAPER_ERR_LIMIT;
    size_t wanted = buffer->size + n;
    /* half as much again: amortised growth that never passes the ceiling */
    size_t grown = buffer->capacity / 2 < buffer->ceiling - buffer->capacity
                       ? buffer->capacity + buffer->capacity / 2
                       : buffer->ceiling;
    if (grown < wanted) grown = wanted;
    if (grown < 64 && buffer->ceiling >= 64) grown = 64;
    if (formats_account_take(buffer->account, grown - buffer->capacity) != TAPER_OK) {
        grown = wanted;
        if (formats_account_take(buffer->account, grown - buffer->capacity) != TAPER_OK)
            return buffer->status = TAPER_ERR_LIMIT;
    }
    uint8_t *data = realloc(buffer->data, grown);
    if (!data) {
        formats_account_give(buffer->account, grown - buffer->capacity);
        return buffer->status = TAPER_ERR_NOMEM;
    }
    buffer->data = data;
    buffer->capacity = grown;
    return TAPER_OK;
}

uint8_t *formats_buffer_extend(formats_buffer *buffer, size_t n) {
    if (formats_buffer_reserve(buffer, n ? n : 1) != TAPER_OK) {
        /* at the ceiling there is no byte left to point to, and none is needed */
        if (n == 0 && buffer->status == TAPER_ERR_LIMIT) buffer->status = TAPER_OK;
        return n ? NULL : buffer->data;
    }
    uint8_t *p = buffer->data + buffer->size;
    buffer->size += n;
    return p;
}

taper_status formats_write_bytes(formats_buffer *buffer, const void *bytes, size_t n) {
    TAPER_TRY(formats_buffer_reserve(buffer, n));
    if (n) memcpy(buffer->data + buffer->size, bytes, n);
    buffer->size += n;
    return TAPER_OK;
}

taper_status formats_write_u8(formats_buffer *buffer, uint8_t value) {
    return formats_write_bytes(buffer, &value, 1);
}

taper_status formats_write_u16le(formats_buffer *buffer, uint16_t value) {
    uint8_t b[2];
    formats_set_u16le(b, value);
    return formats_write_bytes(buffer, b, sizeof b);
}

taper_status formats_write_u32le(formats_buffer *buffer, uint32_t value) {
    uint8_t b[4];
    formats_set_u32le(b, value);
    return formats_write_bytes(buffer, b, sizeof b);
}

taper_status formats_write_u64le(formats_buffer *buffer, uint64_t value) {
    uint8_t b[8];
    formats_set_u64le(b, value);
    return formats_write_bytes(buffer, b, sizeof b);
}

taper_status formats_write_u16be(formats_buffer *buffer, uint16_t value) {
    uint8_t b[2];
    formats_set_u16be(b, value);
    return formats_write_bytes(buffer, b, sizeof b);
}

taper_status formats_write_u32be(formats_buffer *buffer, uint32_t value) {
    uint8_t b[4];
    formats_set_u32be(b, value);
    return formats_write_bytes(buffer, b, sizeof b);
}

taper_status formats_write_varint(formats_buffer *buffer, uint64_t value) {
    uint8_t b[FORMATS_VARINT_MAX];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7) b[n++] = (uint8_t)(value | 0x80);
    b[n++] = (uint8_t)value;
    return formats_write_bytes(buffer, b, n);
}

/* --- CRC32C --- */

#ifndef __OPTIMIZE_SIZE__

/* Eight tables, so that eight bytes are folded at once ("slicing by 8"). Table k holds the CRC of
 * each byte followed by k zero bytes. A CRC is linear, so entry i is the exclusive-or of the
 * entries of i's bits, and eight constants generate each table at compile time: no start-up code,
 * no writable state. */
#define BITS(i, a, b, c, d, e, f, g, h)                                          \
    (((i)&1 ? a : 0u) ^ ((i)&2 ? b : 0u) ^ ((i)&4 ? c : 0u) ^ ((i)&8 ? d : 0u) ^ \
     ((i)&16 ? e : 0u) ^ ((i)&32 ? f : 0u) ^ ((i)&64 ? g : 0u) ^ ((i)&128 ? h : 0u))
#define FOUR(i, ...)                                                          \
    BITS(i, __VA_ARGS__), BITS(i + 1, __VA_ARGS__), BITS(i + 2, __VA_ARGS__), \
        BITS(i + 3, __VA_ARGS__)
#define SIXTEEN(i, ...)                                                       \
    FOUR(i, __VA_ARGS__), FOUR(i + 4, __VA_ARGS__), FOUR(i + 8, __VA_ARGS__), \
        FOUR(i + 12, __VA_ARGS__)
#define SIXTY_FOUR(i, ...)                                                               \
    SIXTEEN(i, __VA_ARGS__), SIXTEEN(i + 16, __VA_ARGS__), SIXTEEN(i + 32, __VA_ARGS__), \
        SIXTEEN(i + 48, __VA_ARGS__)
#define TABLE(...)                                                                             \
    {                                                                                          \
        SIXTY_FOUR(0, __VA_ARGS__), SIXTY_FOUR(64, __VA_ARGS__), SIXTY_FOUR(128, __VA_ARGS__), \
            SIXTY_FOUR(192, __VA_ARGS__)                                                       \
    }

static const uint32_t crc_table[8][256] = {
    TABLE(0xF26B8303u, 0xE13B70F7u, 0xC79A971Fu, 0x8AD958CFu, 0x105EC76Fu, 0x20BD8EDEu, 0x417B1DBCu,
          0x82F63B78u),
    TABLE(0x13A29877u, 0x274530EEu, 0x4E8A61DCu, 0x9D14C3B8u, 0x3FC5F181u, 0x7F8BE302u, 0xFF17C604u,
          0xFBC3FAF9u),
    TABLE(0xA541927Eu, 0x4F6F520Du, 0x9EDEA41Au, 0x38513EC5u, 0x70A27D8Au, 0xE144FB14u, 0xC76580D9u,
          0x8B277743u),
    TABLE(0xDD45AAB8u, 0xBF672381u, 0x7B2231F3u, 0xF64463E6u, 0xE964B13Du, 0xD725148Bu, 0xABA65FE7u,
          0x52A0C93Fu),
    TABLE(0x38116FACu, 0x7022DF58u, 0xE045BEB0u, 0xC5670B91u, 0x8F2261D3u, 0x1BA8B557u, 0x37516AAEu,
          0x6EA2D55Cu),
    TABLE(0xEF306B19u, 0xDB8CA0C3u, 0xB2F53777u, 0x6006181Fu, 0xC00C303Eu, 0x85F4168Du, 0x0E045BEBu,
          0x1C08B7D6u),
    TABLE(0x68032CC8u, 0xD0065990u, 0xA5E0C5D1u, 0x4E2DFD53u, 0x9C5BFAA6u, 0x3D5B83BDu, 0x7AB7077Au,
          0xF56E0EF4u),
    TABLE(0x493C7D27u, 0x9278FA4Eu, 0x211D826Du, 0x423B04DAu, 0x847609B4u, 0x0D006599u, 0x1A00CB32u,
          0x34019664u),
};

/* The register of the CRC after n more bytes. */
static uint32_t crc_by_tables(uint32_t crc, const uint8_t *p, size_t n) {
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t low = formats_get_u32le(p) ^ crc, high = formats_get_u32le(p + 4);
        crc = crc_table[7][low & 0xFF] ^ crc_table[6][low >> 8 & 0xFF] ^
              crc_table[5][low >> 16 & 0xFF] ^ crc_table[4][low >> 24] ^ crc_table[3][high & 0xFF] ^
              crc_table[2][high >> 8 & 0xFF] ^ crc_table[1][high >> 16 & 0xFF] ^
              crc_table[0][high >> 24];
    }
    for (; n; n--, p++) crc = crc >> 8 ^ crc_table[0][(crc ^ *p) & 0xFF];
    return crc;
}

#else

/* For browsers: the tables are a tenth of what they load. Four bits at a time. */
static uint32_t crc_by_tables(uint32_t crc, const uint8_t *p, size_t n) {
    static const uint32_t table[16] = {0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1,
                                       0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
                                       0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9,
                                       0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75};
    for (; n; n--, p++) {
        crc ^= *p;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

#endif

uint32_t formats_crc32c_plain(uint32_t crc, const void *bytes, size_t n) {
    return ~crc_by_tables(~crc, bytes, n);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* x86-64 processors since 2008 have an instruction for CRC32C. */
__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(uint32_t crc, const uint8_t *p,
                                                                     size_t n) {
    uint64_t wide = crc, word;
    for (; n >= sizeof word; n -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; n; n--, p++) crc = __builtin_ia32_crc32qi(crc, *p);
    return crc;
}

uint32_t formats_crc32c(uint32_t crc, const void *bytes, size_t n) {
    if (__builtin_cpu_supports("sse4.2")) return ~crc_by_instruction(~crc, bytes, n);
    return formats_crc32c_plain(crc, bytes, n);
}
#else
uint32_t formats_crc32c(uint32_t crc, const void *bytes, size_t n) {
    return formats_crc32c_plain(crc, bytes, n);
}
#endif

int formats_grow(void *array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return 1;
    size_t more = *capacity ? *capacity + *capacity / 2 : 64;
    void *block;
    memcpy(&block, array, sizeof block);
    if (!(block = realloc(block, more * size))) return 0;
    memcpy(array, &block, sizeof block);
    *capacity = more;
    return 1;
}
