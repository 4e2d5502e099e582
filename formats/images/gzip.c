/* gzip.c -- gzip by zlib's streaming interface; see gzip.h. */
#include "formats/images/gzip.h"
#include "formats/bytes.h"
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16 }; /* zlib: the largest window, with a gzip wrapper */

/* zlib counts in unsigned int; larger inputs and outputs are passed in pieces. */
static const size_t piece = (size_t)1 << 30;

int formats_gzip_detect(const void *bytes, size_t n) {
    const uint8_t *p = bytes;
    return n >= 2 && p[0] == 0x1F && p[1] == 0x8B;
}

int formats_gzip_can_hold(size_t size, uint64_t expected) { return expected / 1032 <= size; }

typedef struct inflation {
    z_stream z;
    const uint8_t *from;
    size_t from_left;
    uint8_t *to;
    size_t to_left;
} inflation;

static void refill(inflation *s) {
    if (s->z.avail_in == 0 && s->from_left) {
        uInt n = (uInt)(s->from_left < piece ? s->from_left : piece);
        s->z.next_in = (z_const Bytef *)s->from;
        s->z.avail_in = n;
        s->from += n;
        s->from_left -= n;
    }
    if (s->z.avail_out == 0 && s->to_left) {
        uInt n = (uInt)(s->to_left < piece ? s->to_left : piece);
        s->z.next_out = s->to;
        s->z.avail_out = n;
        s->to += n;
        s->to_left -= n;
    }
}

/* Inflate until the output is full, the input ends, or damage is found. Z_OK: the output is full;
 * Z_STREAM_END: the last member ended; Z_BUF_ERROR: the input ends early. */
static int inflate_members(inflation *s) {
    for (;;) {
        refill(s);
        int code = inflate(&s->z, Z_NO_FLUSH);
        int input_left = s->z.avail_in || s->from_left;
        if (code == Z_STREAM_END) {
            if (!input_left) return code;
            refill(s);
            if (inflateReset(&s->z) != Z_OK) return Z_DATA_ERROR;
            continue;
        }
        if (code != Z_OK && code != Z_BUF_ERROR) return code;
        if (s->z.avail_out == 0 && s->to_left == 0) return Z_OK;
        if (!input_left) return Z_BUF_ERROR;
    }
}

static taper_status inflate_to(const void *bytes, size_t size, void *to, size_t n, size_t *got,
                               int *code, taper_error *error) {
    inflation s = {.from = bytes, .from_left = size, .to = to, .to_left = n};
    *got = 0;
    if (inflateInit2(&s.z, GZIP_WINDOW) != Z_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to expand gzip");
    *code = inflate_members(&s);
    *got = n - s.to_left - s.z.avail_out;
    taper_status status = TAPER_OK;
    if (*code == Z_MEM_ERROR)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory to expand gzip");
    else if (*code != Z_OK && *code != Z_STREAM_END && *code != Z_BUF_ERROR)
        status = formats_fail(error, TAPER_ERR_CORRUPT,
                              "the gzip data are damaged: %s; fetch the file anew",
                              s.z.msg ? s.z.msg : "bad data");
    inflateEnd(&s.z);
    return status;
}

taper_status formats_gzip_peek(const void *bytes, size_t size, void *to, size_t n, size_t *got,
                               taper_error *error) {
    int code;
    return inflate_to(bytes, size, to, n, got, &code, error);
}

taper_status formats_gzip_unpack(const void *bytes, size_t size, void *to, size_t expected,
                                 taper_error *error) {
    inflation s = {.from = bytes, .from_left = size, .to = to, .to_left = expected};
    uint8_t excess;
    if (inflateInit2(&s.z, GZIP_WINDOW) != Z_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to expand gzip");
    int code = inflate_members(&s);
    size_t got = expected - s.to_left - s.z.avail_out;
    int too_much = 0;
    if (code == Z_OK) { /* full: only the end may follow, which has the checksum */
        s.z.next_out = &excess;
        s.z.avail_out = 1;
        code = inflate_members(&s);
        too_much = s.z.avail_out == 0;
    }
    const char *reason = s.z.msg;
    inflateEnd(&s.z);
    if (too_much)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the gzip data hold more than the %zu bytes promised", expected);
    if (code == Z_STREAM_END && got == expected) return TAPER_OK;
    if (code == Z_MEM_ERROR)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to expand gzip");
    if (code == Z_STREAM_END || code == Z_BUF_ERROR)
        return formats_fail(error, TAPER_ERR_TRUNCATED,
                            "the gzip data end early, after %zu of %zu bytes; fetch the file anew",
                            got, expected);
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the gzip data are damaged: %s; fetch the file anew",
                        reason ? reason : "bad data");
}

taper_status formats_gzip_pack(const void *bytes, size_t n, uint8_t **out, size_t *out_size,
                               taper_error *error) {
    *out = NULL;
    *out_size = 0;
    formats_buffer buffer = formats_buffer_make(FORMATS_MOST_BYTES);
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to compress");
    const uint8_t *from = bytes;
    for (int code = Z_OK; code == Z_OK && buffer.status == TAPER_OK;) {
        uint8_t block[1 << 14];
        if (z.avail_in == 0 && n) {
            z.next_in = (z_const Bytef *)from;
            z.avail_in = (uInt)(n < piece ? n : piece);
            from += z.avail_in;
            n -= z.avail_in;
        }
        z.next_out = block;
        z.avail_out = sizeof block;
        code = deflate(&z, n ? Z_NO_FLUSH : Z_FINISH);
        formats_write_bytes(&buffer, block, sizeof block - z.avail_out);
    }
    deflateEnd(&z);
    taper_status status = buffer.status;
    if (status == TAPER_OK)
        *out = formats_buffer_take(&buffer, out_size);
    else
        formats_fail(error, status = TAPER_ERR_NOMEM, "no memory to compress");
    formats_buffer_free(&buffer);
    return status;
}
