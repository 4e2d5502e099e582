/* packed.c -- see packed.h. */
#include "formats/packed.h"
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

int formats_packed_is_bounded(formats_packed_bound bound, uint64_t stored, uint64_t unpacked) {
    const uint64_t excess = unpacked > bound.more ? unpacked - bound.more : 0;
    return unpacked >= stored && excess / bound.times + (excess % bound.times > 0) <= stored;
}

/* --- unpacking ------------------------------------------------------------------------- */

static taper_status refuse_frame(size_t got, const char *what, taper_error *error) {
    if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to unpack %s of the front matter",
                            what);
    return formats_fail(error, TAPER_ERR_CORRUPT, "%s does not unpack; fetch the file again", what);
}

void formats_unpack_free(formats_front *f, uint8_t *content, uint64_t unpacked) {
    free(content);
    if (content) formats_account_give(formats_front_account(f), unpacked + 1);
}

taper_status formats_unpack(formats_front *f, const uint8_t *stored, uint64_t size,
                            uint64_t unpacked, formats_packed_bound bound, const char *what,
                            uint8_t **out, taper_error *error) {
    *out = NULL;
    if (!formats_packed_is_bounded(bound, size, unpacked))
        return formats_fail(error, TAPER_ERR_CORRUPT, "%s claims to unpack to an impossible size",
                            what);
    uint8_t *to;
    TAPER_TRY(formats_front_take(f, unpacked, 1, &to, error));
    to[unpacked] = 0;
    if (unpacked == size) {
        memcpy(to, stored, (size_t)size);
    } else {
        size_t got = ZSTD_decompress(to, (size_t)unpacked, stored, (size_t)size);
        if (ZSTD_isError(got) || got != unpacked) {
            formats_unpack_free(f, to, unpacked);
            return refuse_frame(got, what, error);
        }
    }
    *out = to;
    return TAPER_OK;
}

taper_status formats_part_read(formats_front *f, formats_cursor *in, const char *what,
                               uint8_t **content, uint64_t *unpacked, taper_error *error) {
    *unpacked = formats_read_varint(in);
    const uint64_t size = formats_read_varint(in), left = formats_cursor_left(in);
    const uint8_t *stored = formats_read_bytes(in, size <= left ? (size_t)size : SIZE_MAX);
    *content = NULL;
    TAPER_TRY(formats_cursor_check(in, what, error));
    return formats_unpack(f, stored, size, *unpacked, FORMATS_PACKED_USUAL, what, content, error);
}

/* --- packing --------------------------------------------------------------------------- */

/* Upper bound of the memory that zstd needs to pack n bytes. */
static uint64_t packing_bytes(uint64_t n) {
    const uint64_t most = (uint64_t)100 << 20, least = (uint64_t)2 << 20;
    return n < most / 20 ? least + 20 * n : most;
}

static taper_status pack(const formats_buffer *content, int level, uint8_t *to, size_t bound,
                         formats_account *account, size_t *packed) {
    uint64_t bytes = packing_bytes(content->size);
    if (!level) return TAPER_OK;
    TAPER_TRY(formats_account_take(account, bytes));
    *packed = ZSTD_compress(to, bound, content->data, content->size, level);
    formats_account_give(account, bytes);
    return ZSTD_isError(*packed) ? TAPER_ERR_NOMEM : TAPER_OK;
}

taper_status formats_pack(const formats_buffer *content, int level, formats_packed_bound bound,
                          formats_buffer *out, size_t *stored) {
    size_t room = ZSTD_compressBound(content->size), start = out->size, packed = 0;
    TAPER_TRY(content->status);
    uint8_t *to = formats_buffer_extend(out, room);
    TAPER_TRY(out->status);
    TAPER_TRY(pack(content, level, to, room, out->account, &packed));
    *stored = content->size;
    if (level && packed < content->size && formats_packed_is_bounded(bound, packed, content->size))
        *stored = packed;
    else if (content->size)
        memcpy(to, content->data, content->size);
    out->size = start + *stored;
    return TAPER_OK;
}

taper_status formats_part_write(formats_buffer *content, int level, formats_buffer *out) {
    formats_buffer packed = formats_buffer_make(FORMATS_MOST_BYTES);
    size_t stored = 0;
    packed.account = out->account;
    taper_status status = formats_pack(content, level, FORMATS_PACKED_USUAL, &packed, &stored);
    if (status == TAPER_OK) {
        formats_write_varint(out, content->size);
        formats_write_varint(out, stored);
        status = formats_write_bytes(out, packed.data, stored);
    }
    formats_buffer_free(content), formats_buffer_free(&packed);
    return status;
}
