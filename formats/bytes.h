/* bytes.h -- bytes in memory: bounds-checked readers, a growing buffer, varints, CRC32C.
 *
 * All readers of untrusted bytes use formats_cursor; all writers use formats_buffer. Both keep
 * their first failure: a caller may read or write several times and test `status` once at the end.
 * Results do not depend on the byte order of the host. There is no global state: threads may use
 * different objects at once. */
#ifndef FORMATS_BYTES_H
#define FORMATS_BYTES_H
#include "formats/account.h"

enum { FORMATS_VARINT_MAX = 10 }; /* bytes of the longest u64 varint */

/* --- fixed-width integers at an address that the caller has checked --- */

uint16_t formats_get_u16le(const void *from);
uint32_t formats_get_u32le(const void *from);
uint64_t formats_get_u64le(const void *from);
uint16_t formats_get_u16be(const void *from);
uint32_t formats_get_u32be(const void *from);
void formats_set_u16le(void *to, uint16_t value);
void formats_set_u32le(void *to, uint32_t value);
void formats_set_u64le(void *to, uint64_t value);
void formats_set_u16be(void *to, uint16_t value);
void formats_set_u32be(void *to, uint32_t value);

/* --- sizes --- */

/* For a buffer without a ceiling of its own. Twice this value still fits a size_t. */
#define FORMATS_MOST_BYTES (SIZE_MAX / 4)

static inline size_t formats_smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t formats_larger(size_t a, size_t b) { return a > b ? a : b; }

/* *out = a * b, or a + b. TAPER_ERR_LIMIT: the result does not fit 64 bits; *out is UINT64_MAX,
 * which exceeds every limit that a caller compares it with. */
taper_status formats_mul_u64(uint64_t a, uint64_t b, uint64_t *out);
taper_status formats_add_u64(uint64_t a, uint64_t b, uint64_t *out);

/* --- reading: a cursor over memory --- */

/* bytes: borrowed; they must outlive the cursor. at <= size always. After a failure status is
 * TAPER_ERR_TRUNCATED (too few bytes) or TAPER_ERR_CORRUPT (an illegal varint). `at` then stays
 * where the failing read began, and every later read returns 0 or NULL. */
typedef struct formats_cursor {
    const uint8_t *bytes;
    size_t size, at;
    taper_status status;
} formats_cursor;

formats_cursor formats_cursor_over(const void *bytes, size_t size);
/* Bytes not yet read; 0 after a failure. */
size_t formats_cursor_left(const formats_cursor *cursor);

uint8_t formats_read_u8(formats_cursor *cursor);
uint16_t formats_read_u16le(formats_cursor *cursor);
uint32_t formats_read_u32le(formats_cursor *cursor);
uint64_t formats_read_u64le(formats_cursor *cursor);
uint16_t formats_read_u16be(formats_cursor *cursor);
uint32_t formats_read_u32be(formats_cursor *cursor);
/* LEB128: least significant 7 bits first, high bit set on all bytes but the last. Only the shortest
 * form is legal. TAPER_ERR_CORRUPT: a superfluous last byte of 0, a tenth byte above 1, or an
 * eleventh byte. */
uint64_t formats_read_varint(formats_cursor *cursor);
/* As formats_read_varint; a value above max is TAPER_ERR_CORRUPT and returns 0. */
uint64_t formats_read_varint_max(formats_cursor *cursor, uint64_t max);
/* The next n bytes, in place; NULL on failure. With n == 0 the pointer must not be read. */
const uint8_t *formats_read_bytes(formats_cursor *cursor, size_t n);

/* The cursor's status; on failure the text names `what` and the offset. Example:
 * formats_cursor_check(&c, "directory", error): "directory ends early at byte 17 of 20". */
taper_status formats_cursor_check(const formats_cursor *cursor, const char *what,
                                  taper_error *error);

/* --- writing: a growing buffer --- */

/* data: malloc'd; its first `size` bytes are valid. A write past `ceiling` bytes writes nothing and
 * sets status to TAPER_ERR_LIMIT; TAPER_ERR_NOMEM: malloc failed. After a failure every write does
 * nothing and returns the first status; earlier bytes stay readable. */
typedef struct formats_buffer {
    uint8_t *data;
    size_t size, capacity, ceiling;
    taper_status status;
    /* Borrowed; charged with capacity. When it is exhausted: TAPER_ERR_LIMIT. NULL: none. */
    formats_account *account;
} formats_buffer;

formats_buffer formats_buffer_make(size_t ceiling); /* allocates nothing yet */
void formats_buffer_free(formats_buffer *buffer);  /* leaves it empty, usable again; NULL is fine */
void formats_buffer_clear(formats_buffer *buffer); /* size 0, status TAPER_OK; keeps its memory */
/* The bytes, which become the caller's to free; NULL when empty. The buffer is empty afterwards. */
uint8_t *formats_buffer_take(formats_buffer *buffer, size_t *size);
/* Allocate for n more bytes: writes of n bytes in all then cannot fail. */
taper_status formats_buffer_reserve(formats_buffer *buffer, size_t n);
/* Append n bytes of undefined content and return their address; fill them before the next write.
 * NULL on failure. */
uint8_t *formats_buffer_extend(formats_buffer *buffer, size_t n);

taper_status formats_write_u8(formats_buffer *buffer, uint8_t value);
taper_status formats_write_u16le(formats_buffer *buffer, uint16_t value);
taper_status formats_write_u32le(formats_buffer *buffer, uint32_t value);
taper_status formats_write_u64le(formats_buffer *buffer, uint64_t value);
taper_status formats_write_u16be(formats_buffer *buffer, uint16_t value);
taper_status formats_write_u32be(formats_buffer *buffer, uint32_t value);
taper_status formats_write_varint(formats_buffer *buffer, uint64_t value);
taper_status formats_write_bytes(formats_buffer *buffer, const void *bytes, size_t n);

/* Signed numbers for varints: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...; and back. */
static inline uint64_t formats_zigzag(uint64_t signed_bits) {
    return signed_bits << 1 ^ (signed_bits >> 63 ? UINT64_MAX : 0);
}
static inline uint64_t formats_unzigzag(uint64_t number) {
    return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

/* --- CRC32C --- */

/* CRC32C (Castagnoli, RFC 3720 appendix B.4): reflected polynomial 0x82F63B78, initial value and
 * final exclusive-or 0xFFFFFFFF. crc: the CRC32C of the bytes before; 0 at the start.
 * formats_crc32c(0, "123456789", 9) = 0xE3069283. */
uint32_t formats_crc32c(uint32_t crc, const void *bytes, size_t n);
/* The reference implementation. */
uint32_t formats_crc32c_plain(uint32_t crc, const void *bytes, size_t n);

/* Grow an array by half if it is full. array: address of the pointer to it; count: elements in use;
 * size: bytes of one. Returns 1 when there is space for one element more; 0 without memory, and
 * the array is unchanged. */
int formats_grow(void *array, size_t count, size_t *capacity, size_t size);

#endif
