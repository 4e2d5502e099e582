/* pieces.c -- see pieces.h. */
#include "formats/metadata/pieces.h"
#include "formats/bytes.h"
#include <string.h>
#include <strings.h>
#include <zlib.h>

const char formats_exif_name[FORMATS_EXIF_NAME] = "Exif\0";
const char formats_xmp_name[FORMATS_XMP_NAME] = "http://ns.adobe.com/xap/1.0/";

int formats_begins(const uint8_t *bytes, size_t n, const char *name, size_t name_size) {
    return n >= name_size && memcmp(bytes, name, name_size) == 0;
}

/* --- JPEG --- */

enum { SOI_BYTES = 2 };

int formats_next_segment(formats_walk *w, formats_piece *out) {
    while (w->at < w->n && w->n - w->at >= 2) {
        const uint8_t *p = memchr(w->bytes + w->at, 0xFF, w->n - w->at - 1);
        if (!p) break;
        w->at = (size_t)(p - w->bytes);
        unsigned marker = p[1];
        int is_data = marker == 0 || marker == 1 || (marker >= 0xD0 && marker <= 0xD8);
        w->at += marker == 0xFF ? 1 : 2;
        if (marker == 0xFF || is_data) continue;
        *out = (formats_piece){.marker = marker, .at = p + 4};
        if (marker == FORMATS_END_OF_IMAGE) return 1;
        if (w->n - w->at < 2) break;
        size_t size = formats_get_u16be(p + 2);
        if (size < 2 || size > w->n - w->at) break;
        out->size = size - 2;
        w->at += size;
        return 1;
    }
    w->at = w->n;
    return 0;
}

formats_walk formats_walk_jpeg(const void *bytes, size_t n) {
    return (formats_walk){bytes, n, SOI_BYTES};
}

int formats_find_segment(formats_walk *w, unsigned marker, const char *name, size_t name_size,
                         formats_piece *out) {
    while (formats_next_segment(w, out) && out->marker != FORMATS_START_OF_SCAN &&
           out->marker != FORMATS_END_OF_IMAGE) {
        if (out->marker != marker || out->size < name_size) continue;
        if (memcmp(out->at, name, name_size) != 0) continue;
        out->at += name_size;
        out->size -= name_size;
        return 1;
    }
    return 0;
}

/* --- PNG --- */

enum { SIGNATURE_BYTES = 8, AROUND_CHUNK = 12 };

formats_walk formats_walk_png(const void *bytes, size_t n) {
    return (formats_walk){bytes, n, SIGNATURE_BYTES};
}

int formats_next_chunk(formats_walk *w, formats_piece *out) {
    if (w->at > w->n || w->n - w->at < AROUND_CHUNK) return 0;
    const uint8_t *p = w->bytes + w->at;
    size_t size = formats_get_u32be(p);
    if (size > w->n - w->at - AROUND_CHUNK) return 0;
    *out = (formats_piece){.type = (const char *)p + 4, .at = p + 8, .size = size};
    w->at += AROUND_CHUNK + size;
    return 1;
}

int formats_is_type(const formats_piece *chunk, const char *type) {
    return !memcmp(chunk->type, type, 4);
}

int formats_is_sum_right(const formats_piece *chunk) {
    uLong sum = crc32(0, chunk->at - 4, 4); /* crc32 takes 32-bit sizes: chunks are below 2^31 */
    return crc32(sum, chunk->at, (uInt)chunk->size) == formats_get_u32be(chunk->at + chunk->size);
}

formats_text_kind formats_kind_of_text(const formats_piece *chunk) {
    static const struct {
        const char *keyword;
        formats_text_kind kind;
    } kinds[] = {{"Raw profile type exif", FORMATS_TEXT_PROFILE},
                 {"Raw profile type APP1", FORMATS_TEXT_PROFILE},
                 {"Raw profile type xmp", FORMATS_TEXT_XMP_PROFILE},
                 {"XML:com.adobe.xmp", FORMATS_TEXT_XMP}};
    if (!formats_is_type(chunk, "tEXt") && !formats_is_type(chunk, "zTXt") &&
        !formats_is_type(chunk, "iTXt"))
        return FORMATS_TEXT_OTHER;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t size = strlen(kinds[i].keyword) + 1;
        if (chunk->size >= size && !strncasecmp((const char *)chunk->at, kinds[i].keyword, size))
            return kinds[i].kind;
    }
    return FORMATS_TEXT_OTHER;
}
