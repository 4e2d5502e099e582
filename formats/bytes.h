/* bytes.h -- bytes in memory: bounds-checked readers, a growing buffer, varints, CRC32C.
 *
 * Every reader of untrusted bytes in this project goes through formats_cursor, every writer through
 * formats_buffer. Both keep their first failure: a caller may do a row of reads or writes and look
 * at `status` once at the end. Nothing depends on the host's byte order or operating system,
 * prints, exits or keeps state between calls; threads may use different objects at once. */
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

/* A ceiling that memory reaches first; twice as much still fits a size_t. */
#define FORMATS_MOST_BYTES (SIZE_MAX / 4)

static inline size_t formats_smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t formats_larger(size_t a, size_t b) { return a > b ? a : b; }

/* *out = a * b, or a + b. Return TAPER_OK, or TAPER_ERR_LIMIT with *out = UINT64_MAX when the
 * result does not fit 64 bits: a saturated size then fails any comparison with a limit. */
taper_status formats_mul_u64(uint64_t a, uint64_t b, uint64_t *out);
taper_status formats_add_u64(uint64_t a, uint64_t b, uint64_t *out);

/* --- reading: a cursor over memory --- */

/* Borrows bytes; they must outlive the cursor. at never exceeds size. After a failure status is
 * TAPER_ERR_TRUNCATED (ran out of bytes) or TAPER_ERR_CORRUPT (an illegal varint), at stays where
 * the failing read began, and every later read yields 0 or NULL. */
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
/* LEB128, least significant 7 bits first, high bit set on all but the last byte. Only the shortest
 * form is legal: a superfluous last byte of 0, a tenth byte above 1, or an eleventh is
 * TAPER_ERR_CORRUPT. */
uint64_t formats_read_varint(formats_cursor *cursor);
/* As formats_read_varint; a value above max is TAPER_ERR_CORRUPT and yields 0. */
uint64_t formats_read_varint_max(formats_cursor *cursor, uint64_t max);
/* The next n bytes, in place; NULL on failure. n = 0 yields a pointer that must not be read. */
const uint8_t *formats_read_bytes(formats_cursor *cursor, size_t n);

/* TAPER_OK, or the cursor's failure with a sentence that names the field and the offset, e.g.
 * formats_cursor_check(&c, "directory", error): "directory ends early at byte 17 of 20". */
taper_status formats_cursor_check(const formats_cursor *cursor, const char *what,
                                  taper_error *error);

/* --- writing: a growing buffer --- */

/* data is malloc'd; size bytes of it are written. A write that would go beyond ceiling bytes writes
 * nothing and sets status to TAPER_ERR_LIMIT (TAPER_ERR_NOMEM when malloc refuses). After a failure
 * every write does nothing and returns that first status; what was written stays readable. */
typedef struct formats_buffer {
    uint8_t *data;
    size_t size, capacity, ceiling;
    taper_status status;
    formats_account *account; /* borrowed; is charged with capacity: TAPER_ERR_LIMIT. NULL: none */
} formats_buffer;

formats_buffer formats_buffer_make(size_t ceiling); /* takes no memory yet */
void formats_buffer_free(formats_buffer *buffer);  /* leaves it empty, usable again; NULL is fine */
void formats_buffer_clear(formats_buffer *buffer); /* size 0, status TAPER_OK; keeps its memory */
/* The bytes become the caller's to free (NULL when empty); the buffer is empty afterwards. */
uint8_t *formats_buffer_take(formats_buffer *buffer, size_t *size);
/* Make room for n more bytes, so that writes of n bytes in all cannot fail. */
taper_status formats_buffer_reserve(formats_buffer *buffer, size_t n);
/* Append n bytes of undefined content and return their address, to be filled before the next write;
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

/* --- CRC32C --- */

/* CRC32C (Castagnoli, RFC 3720 appendix B.4; reflected polynomial 0x82F63B78, initial value and
 * final exclusive-or 0xFFFFFFFF) of n bytes that follow bytes whose CRC32C is crc; 0 to begin.
 * formats_crc32c(0, "123456789", 9) = 0xE3069283. */
uint32_t formats_crc32c(uint32_t crc, const void *bytes, size_t n);

/* Room in *array (a pointer to a pointer) for an element of `size` bytes after count of them,
 * growing by half. 0 without memory: it stays as it is. */
int formats_grow(void *array, size_t count, size_t *capacity, size_t size);

#endif
