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

/* The value after the name: ="6" of an attribute, or >6< of an element. 0: neither. *at: where the
 * digit is. */
static unsigned value_at(const char *p, const char *end, const char **at) {
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
    *at = digit;
    if (*digit == '0') return FORMATS_NO_ORIENTATION;
    return *digit >= '1' && *digit <= '8' ? (unsigned)(*digit - '0') : FORMATS_BAD_ORIENTATION;
}

/* Find the next place from p on that gives an orientation, of which *digit is the value. NULL:
 * there is none. */
static const char *find(const char *start, const char *p, const char *end, const char **digit,
                        unsigned *value) {
    for (; (size_t)(end - p) > NAME_BYTES; p++) {
        p = memchr(p, *name, (size_t)(end - p) - NAME_BYTES);
        if (!p) break;
        if (memcmp(p, name, NAME_BYTES) != 0) continue;
        if (p == start || (!is_blank(p[-1]) && p[-1] != '<')) continue;
        *digit = NULL;
        *value = value_at(p + NAME_BYTES, end, digit);
        if (*value != FORMATS_NO_ORIENTATION) return p;
    }
    return NULL;
}

unsigned formats_xmp_orientation(const void *bytes, size_t n) {
    const char *start = bytes, *digit;
    unsigned value;
    return find(start, start, start + n, &digit, &value) ? value : FORMATS_NO_ORIENTATION;
}

void formats_xmp_make_upright(void *bytes, size_t n) {
    char *start = bytes;
    const char *end = start + n, *p = start, *digit;
    unsigned value;
    while ((p = find(start, p, end, &digit, &value)) != NULL) {
        if (digit) start[digit - start] = '1';
        p += NAME_BYTES;
    }
}
