/* png_text.c -- see png_text.h. */
#include "formats/metadata/png_text.h"
#include <string.h>
#include <zlib.h>

/* Expand a zlib stream as far as it is undamaged and fits. */
static taper_status expand(const uint8_t *from, size_t size, uint8_t *to, size_t room, size_t *got,
                           taper_error *error) {
    z_stream z = {.next_in = (z_const Bytef *)from,
                  .avail_in = (uInt)size, /* chunks are below 2^31 */
                  .next_out = to,
                  .avail_out = (uInt)room};
    if (inflateInit(&z) != Z_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to expand a PNG's text");
    const int code = inflate(&z, Z_SYNC_FLUSH);
    inflateEnd(&z);
    if (code == Z_MEM_ERROR)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to expand a PNG's text");
    *got = code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR ? room - z.avail_out : 0;
    return TAPER_OK;
}

/* Pointer after the next zero byte; NULL: none. */
static const uint8_t *pass_string(const uint8_t *p, const uint8_t *end) {
    const uint8_t *zero = memchr(p, 0, (size_t)(end - p));
    return zero ? zero + 1 : NULL;
}

/* After the keyword, zTXt has a method; iTXt has a flag, a method, a language and a translated
 * keyword. */
taper_status formats_png_text(const char type[4], const uint8_t *chunk, size_t size, uint8_t *to,
                              size_t room, size_t *got, taper_error *error) {
    const uint8_t *end = chunk + size, *p = pass_string(chunk, end);
    int is_packed = *type == 'z';
    *got = 0;
    if (*type == 'z' && p) p = end - p >= 1 ? p + 1 : NULL;
    if (*type == 'i' && p) {
        is_packed = p < end && *p == 1;
        p = end - p >= 2 ? pass_string(p + 2, end) : NULL;
        if (p) p = pass_string(p, end);
    }
    if (!p) return TAPER_OK;
    const size_t n = (size_t)(end - p);
    if (is_packed) return expand(p, n, to, room, got, error);
    *got = n < room ? n : room;
    memcpy(to, p, *got);
    return TAPER_OK;
}

static int digit_of(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t formats_raw_profile(uint8_t *text, size_t n) {
    size_t at = 0, used = 0;
    unsigned digits = 0, value = 0;
    while (at < n && text[at] == '\n') at++;
    for (int lines = 0; lines < 2 && at < n; at++) lines += text[at] == '\n'; /* name, length */
    for (; at < n; at++) {
        const int digit = digit_of(text[at]);
        if (digit < 0) continue;
        value = value << 4 | (unsigned)digit;
        if (++digits % 2 == 0) text[used++] = (uint8_t)value;
    }
    return used;
}
