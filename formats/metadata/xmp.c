/* xmp.c -- finds the orientation in XMP without an XML parser; see xmp.h. */
#include "formats/metadata/xmp.h"
#include "formats/metadata/exif.h"
#include <string.h>

static const char name[] = "tiff:Orientation";
enum { NAME_BYTES = sizeof name - 1 };

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static const char *pass_blanks(const char *p, const char *end) {
    while (p < end && is_blank(*p)) p++;
    return p;
}

/* The value after the name: ="6" of an attribute, or >6< of an element. 0: neither. */
static unsigned value_at(const char *p, const char *end) {
    char closing = '<';
    p = pass_blanks(p, end);
    if (p < end && *p == '=') {
        p = pass_blanks(p + 1, end);
        if (p == end || (*p != '"' && *p != '\'')) return FORMATS_NO_ORIENTATION;
        closing = *p;
    } else if (p == end || *p != '>') {
        return FORMATS_NO_ORIENTATION;
    }
    const char *digit = pass_blanks(p + 1, end), *after = pass_blanks(digit + 1, end);
    if (after >= end || *after != closing) return FORMATS_BAD_ORIENTATION;
    if (*digit == '0') return FORMATS_NO_ORIENTATION;
    return *digit >= '1' && *digit <= '8' ? (unsigned)(*digit - '0') : FORMATS_BAD_ORIENTATION;
}

unsigned formats_xmp_orientation(const void *bytes, size_t n) {
    const char *start = bytes, *end = start + n;
    for (const char *p = start; (size_t)(end - p) > NAME_BYTES; p++) {
        p = memchr(p, *name, (size_t)(end - p) - NAME_BYTES);
        if (!p) break;
        if (memcmp(p, name, NAME_BYTES) != 0) continue;
        if (p == start || (!is_blank(p[-1]) && p[-1] != '<')) continue;
        const unsigned value = value_at(p + NAME_BYTES, end);
        if (value != FORMATS_NO_ORIENTATION) return value;
    }
    return FORMATS_NO_ORIENTATION;
}
