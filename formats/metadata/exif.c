/* exif.c -- see exif.h. A TIFF is a chain of directories: the first (IFD0) is of the picture, the
 * second (IFD1) of its thumbnail. Entries of a directory lead to further ones. */
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

/* --- without orientation and thumbnail --------------------------------------------------- */

typedef struct tiff {
    uint8_t *p;
    size_t n;
    int big;
} tiff;

/* A directory that lies within the bytes. */
typedef struct directory {
    size_t at, entries, next_at; /* next_at: of the offset of the directory after it */
} directory;

enum {
    EXIF_DIRECTORY = 0x8769,
    GPS_DIRECTORY = 0x8825,
    INTEROPERABILITY_DIRECTORY = 0xA005,
    THUMBNAIL_AT = 0x0201,
    THUMBNAIL_SIZE = 0x0202,
    DEPTH = 3,
    MOST_DIRECTORIES = 16
};

static void set_number(uint8_t *p, unsigned bytes, int big, uint32_t value) {
    for (unsigned i = 0; i < bytes; i++) p[i] = (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

static int open_directory(const tiff *t, size_t at, directory *d) {
    if (at < HEADER_BYTES || at > t->n || t->n - at < 2) return 0;
    d->at = at;
    d->entries = number(t->p + at, 2, t->big);
    if ((t->n - at - 2) / ENTRY_BYTES < d->entries) return 0;
    d->next_at = at + 2 + d->entries * ENTRY_BYTES;
    return t->n - d->next_at >= 4;
}

static uint8_t *entry_of(const tiff *t, const directory *d, size_t i) {
    return t->p + d->at + 2 + i * ENTRY_BYTES;
}

/* A number of an entry; 0: it has no single one. */
static uint32_t value_of(const tiff *t, const uint8_t *entry) {
    const uint32_t type = number(entry + 2, 2, t->big);
    if (number(entry + 4, 4, t->big) != 1 || (type != SHORT && type != LONG)) return 0;
    return number(entry + 8, type == SHORT ? 2 : 4, t->big);
}

/* Where the data of a directory end, with all that it leads to; SIZE_MAX: it is damaged, or leads
 * to more than *left directories, as loops do. */
static size_t end_of(const tiff *t, size_t at, int depth, unsigned *left) {
    static const uint8_t sizes[13] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
    directory d;
    if (!depth || !*left || !open_directory(t, at, &d)) return SIZE_MAX;
    --*left;
    size_t end = d.next_at + 4;
    for (size_t i = 0; i < d.entries && end < SIZE_MAX; i++) {
        const uint8_t *entry = entry_of(t, &d, i);
        const uint32_t tag = number(entry, 2, t->big), type = number(entry + 2, 2, t->big);
        const uint64_t size = (uint64_t)number(entry + 4, 4, t->big) * sizes[type < 13 ? type : 0];
        const size_t from = number(entry + 8, 4, t->big);
        size_t own = end;
        if (size > 4) own = from <= t->n && size <= t->n - from ? from + (size_t)size : SIZE_MAX;
        if (tag == EXIF_DIRECTORY || tag == GPS_DIRECTORY || tag == INTEROPERABILITY_DIRECTORY)
            own = end_of(t, value_of(t, entry), depth - 1, left);
        if (own > end) end = own;
    }
    return end;
}

/* Of a directory that may be cut. */
static void set_orientation(const tiff *t, size_t at) {
    if (at > t->n || t->n - at < 2) return;
    const directory d = {.at = at, .entries = number(t->p + at, 2, t->big)};
    const size_t there = (t->n - at - 2) / ENTRY_BYTES;
    for (size_t i = 0; i < d.entries && i < there; i++) {
        uint8_t *entry = entry_of(t, &d, i);
        if (number(entry, 2, t->big) != ORIENTATION || !value_of(t, entry)) continue;
        set_number(entry + 8, number(entry + 2, 2, t->big) == SHORT ? 2 : 4, t->big, 1);
    }
}

/* Unlink the second directory. Erase it and the thumbnail if they lie behind all other data, and
 * cut them off if they are the last. */
static size_t drop_thumbnail(const tiff *t, const directory *first) {
    enum { PADDING = 16 };
    directory d;
    unsigned left = MOST_DIRECTORIES;
    const size_t live = end_of(t, first->at, DEPTH, &left);
    const size_t at = number(t->p + first->next_at, 4, t->big);
    size_t from = 0, size = 0;
    set_number(t->p + first->next_at, 4, t->big, 0);
    if (live > at || !open_directory(t, at, &d)) return t->n;
    for (size_t i = 0; i < d.entries; i++) {
        const uint8_t *entry = entry_of(t, &d, i);
        const uint32_t tag = number(entry, 2, t->big);
        if (tag == THUMBNAIL_AT) from = value_of(t, entry);
        if (tag == THUMBNAIL_SIZE) size = value_of(t, entry);
    }
    if (from < live || from > t->n || size > t->n - from) return t->n;
    memset(t->p + d.at, 0, d.next_at + 4 - d.at);
    memset(t->p + from, 0, size);
    if (t->n - from - size > PADDING) return t->n;
    return from < d.at ? from : d.at;
}

int formats_exif_detect(const void *bytes, size_t n) {
    return n >= HEADER_BYTES && (!memcmp(bytes, "MM\0*", 4) || !memcmp(bytes, "II*\0", 4));
}

size_t formats_exif_make_upright(void *bytes, size_t n) {
    const tiff t = {bytes, n, n && *(const char *)bytes == 'M'};
    directory first;
    if (!formats_exif_detect(bytes, n)) return n;
    const size_t at = number(t.p + 4, 4, t.big);
    set_orientation(&t, at);
    if (!open_directory(&t, at, &first)) return n;
    return number(t.p + first.next_at, 4, t.big) ? drop_thumbnail(&t, &first) : n;
}
