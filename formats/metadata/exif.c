/* exif.c -- reads the orientation from the first directory (IFD0) of a TIFF; see exif.h. */
#include "formats/metadata/exif.h"
#include <stdint.h>
#include <string.h>

enum { HEADER_BYTES = 8, ENTRY_BYTES = 12, ORIENTATION = 0x0112, SHORT = 3, LONG = 4 };

/* Numbers in the byte order of the file. */
static uint32_t number(const uint8_t *p, unsigned bytes, int big) {
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint32_t)p[i] << 8 * (big ? bytes - 1 - i : i);
    return value;
}

unsigned formats_exif_orientation(const void *bytes, size_t n) {
    const uint8_t *p = bytes;
    if (n < HEADER_BYTES) return FORMATS_BAD_ORIENTATION;
    int big = memcmp(p, "MM\0*", 4) == 0;
    if (!big && memcmp(p, "II*\0", 4) != 0) return FORMATS_BAD_ORIENTATION;
    size_t at = number(p + 4, 4, big);
    if (at > n || n - at < 2) return FORMATS_BAD_ORIENTATION;
    size_t entries = number(p + at, 2, big), there = (n - at - 2) / ENTRY_BYTES;
    const uint8_t *entry = p + at + 2;
    for (size_t i = 0; i < entries && i < there; i++, entry += ENTRY_BYTES) {
        if (number(entry, 2, big) != ORIENTATION) continue;
        uint32_t type = number(entry + 2, 2, big), count = number(entry + 4, 4, big);
        if (count != 1 || (type != SHORT && type != LONG)) return FORMATS_BAD_ORIENTATION;
        uint32_t value = number(entry + 8, type == SHORT ? 2 : 4, big);
        return value <= 8 ? value : FORMATS_BAD_ORIENTATION;
    }
    return entries > there ? FORMATS_BAD_ORIENTATION : FORMATS_NO_ORIENTATION;
}
