/* tiff_exif.c -- see tiff_exif.h. Entries are copied with their data; offsets are those of the new
 * place. Data of makers may hold offsets of their own, which then lead nowhere, as after any
 * program that writes a file anew. */
#include "formats/metadata/tiff_exif.h"
#include <string.h>

typedef enum level { PICTURE, EXIF, GPS, INTEROPERABILITY } level;
enum {
    EXIF_DIRECTORY = 0x8769,
    GPS_DIRECTORY = 0x8825,
    INTEROPERABILITY_DIRECTORY = 0xA005,
    HEADER_BYTES = 8,
    ENTRY_BYTES = 12,
    LONG = 4,
    LAST_TYPE = 12 /* of EXIF; those after it are offsets, and of BigTIFF */
};

typedef struct tiff {
    const uint8_t *p;
    uint64_t n;
    int is_big, is_large; /* big-endian; BigTIFF */
    formats_buffer *out;
} tiff;

/* An entry of the file. */
typedef struct entry {
    unsigned tag, type;
    uint64_t count, at, size; /* data: offset and bytes */
} entry;

/* A number in the byte order of the file; 0 beyond its end. */
static uint64_t number(const tiff *t, uint64_t at, unsigned bytes) {
    uint64_t value = 0;
    if (at > t->n || t->n - at < bytes) return 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)t->p[at + i] << 8 * (t->is_big ? bytes - 1 - i : i);
    return value;
}

static void set_number(const tiff *t, size_t at, unsigned bytes, uint64_t value) {
    for (unsigned i = 0; i < bytes; i++)
        t->out->data[at + i] = (uint8_t)(value >> 8 * (t->is_big ? bytes - 1 - i : i));
}

/* The entry at an offset. 0: its type is unknown, or its data are beyond the file. */
static int read_entry(const tiff *t, uint64_t at, entry *e) {
    static const uint8_t sizes[19] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    const unsigned wide = t->is_large ? 8 : 4;
    e->tag = (unsigned)number(t, at, 2), e->type = (unsigned)number(t, at + 2, 2);
    e->count = number(t, at + 4, wide);
    if (e->type > 18 || !e->count || e->count > t->n) return 0;
    e->size = e->count * sizes[e->type];
    e->at = e->size > wide ? number(t, at + 4 + wide, wide) : at + 4 + wide;
    return e->size > 0 && e->at <= t->n && e->size <= t->n - e->at;
}

/* Tags of a picture's directory that tell about the picture. */
static int is_about_picture(unsigned tag) {
    static const uint16_t tags[] = {
        0x010E, 0x010F, 0x0110,                 /* description, maker, model */
        0x0131, 0x0132, 0x013B, 0x013C,         /* software, date, artist, computer */
        0x4746, 0x4749, 0x8298,                 /* ratings, rights */
        0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F, /* title, comment, ... of Windows */
    };
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (tags[i] == tag) return 1;
    return 0;
}

/* The directory that an entry leads to; PICTURE: none. */
static level leads_to(level from, unsigned tag) {
    if (from == PICTURE && tag == EXIF_DIRECTORY) return EXIF;
    if (from == PICTURE && tag == GPS_DIRECTORY) return GPS;
    return from == EXIF && tag == INTEROPERABILITY_DIRECTORY ? INTEROPERABILITY : PICTURE;
}

static int is_pointer(unsigned tag) {
    return tag == EXIF_DIRECTORY || tag == GPS_DIRECTORY || tag == INTEROPERABILITY_DIRECTORY;
}

/* Write the front of an entry at `to`, with all but the value. */
static void set_entry(const tiff *t, size_t to, unsigned tag, unsigned type, uint64_t count) {
    set_number(t, to, 2, tag), set_number(t, to + 2, 2, type), set_number(t, to + 4, 4, count);
}

/* An entry with its data, which follow at the end if they are longer than 4 bytes. */
static int copy_entry(const tiff *t, const entry *e, size_t to) {
    if (e->type > LAST_TYPE) return 0;
    set_entry(t, to, e->tag, e->type, e->count);
    if (e->size <= 4) {
        memcpy(t->out->data + to + 8, t->p + e->at, (size_t)e->size);
        return 1;
    }
    if (t->out->size & 1) formats_write_u8(t->out, 0);
    set_number(t, to + 8, 4, t->out->size);
    return formats_write_bytes(t->out, t->p + e->at, (size_t)e->size) == TAPER_OK;
}

static size_t copy_directory(const tiff *t, uint64_t at, level which);

/* The directory behind an entry, of which the first of its kind counts. */
static int copy_deeper(const tiff *t, const entry *e, level deeper, unsigned *done, size_t to) {
    if (*done & 1u << deeper) return 0;
    *done |= 1u << deeper;
    const uint64_t from = number(t, e->at, (unsigned)formats_smaller((size_t)e->size, 8));
    const size_t place = copy_directory(t, from, deeper);
    if (!place || t->out->status != TAPER_OK) return 0;
    set_entry(t, to, e->tag, LONG, 1);
    set_number(t, to + 8, 4, place);
    return 1;
}

/* Copy what is kept of a directory to the end. Returns its offset; 0: nothing is kept. */
static size_t copy_directory(const tiff *t, uint64_t at, level which) {
    const unsigned head = t->is_large ? 8 : 2, step = t->is_large ? 20 : ENTRY_BYTES;
    const uint64_t entries = number(t, at, head);
    const size_t before = t->out->size, place = before + (before & 1);
    unsigned done = 0;
    size_t kept = 0;
    entry e;
    if (!entries || entries > UINT16_MAX || at + head + entries * step > t->n) return 0;
    uint8_t *room = formats_buffer_extend(t->out, place - before + 2 + entries * ENTRY_BYTES + 4);
    if (!room) return 0;
    memset(room, 0, t->out->size - before);
    for (uint64_t i = 0; i < entries && t->out->status == TAPER_OK; i++) {
        const size_t to = place + 2 + kept * ENTRY_BYTES;
        if (!read_entry(t, at + head + i * step, &e)) continue;
        const level deeper = leads_to(which, e.tag);
        if (deeper != PICTURE)
            kept += (size_t)copy_deeper(t, &e, deeper, &done, to);
        else if (which == PICTURE ? is_about_picture(e.tag) : !is_pointer(e.tag))
            kept += (size_t)copy_entry(t, &e, to);
    }
    if (!kept && t->out->status == TAPER_OK) t->out->size = before;
    if (!kept || t->out->status != TAPER_OK) return 0;
    set_number(t, place, 2, kept);
    return place;
}

void formats_tiff_exif(const void *bytes, size_t n, uint64_t directory, formats_buffer *out) {
    tiff t = {.p = bytes, .n = n, .out = out};
    if (n < HEADER_BYTES) return;
    t.is_big = t.p[0] == 'M';
    t.is_large = number(&t, 2, 2) == 43;
    formats_write_bytes(out, t.is_big ? "MM\0*\0\0\0\10" : "II*\0\10\0\0\0", HEADER_BYTES);
    if (!copy_directory(&t, directory, PICTURE) && out->status == TAPER_OK) out->size = 0;
}
