/* metadata.c -- walking the segments of a JPEG and the chunks of a PNG; see metadata.h. */
#include "formats/metadata.h"
#include "formats/bytes.h"
#include "formats/exif.h"
#include "formats/icc.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A piece of a file: a JPEG segment or a PNG chunk. */
typedef struct piece {
    unsigned marker;   /* JPEG */
    const char *type;  /* PNG: 4 characters */
    const uint8_t *at; /* its data */
    size_t size;
} piece;

typedef struct walk {
    const uint8_t *bytes;
    size_t n, at; /* at: behind the last piece */
} walk;

/* --- JPEG --- */

enum { SOI_BYTES = 2, END_OF_IMAGE = 0xD9, START_OF_SCAN = 0xDA, APP1 = 0xE1, APP2 = 0xE2 };

/* The next segment, or the end of the image; what stands between segments (the data of a scan) is
 * passed over. 0 where the bytes end. */
static int next_segment(walk *w, piece *out) {
    while (w->at < w->n && w->n - w->at >= 2) {
        const uint8_t *p = memchr(w->bytes + w->at, 0xFF, w->n - w->at - 1);
        if (!p) break;
        w->at = (size_t)(p - w->bytes);
        unsigned marker = p[1];
        int is_data = marker == 0 || marker == 1 || (marker >= 0xD0 && marker <= 0xD8);
        w->at += marker == 0xFF ? 1 : 2;
        if (marker == 0xFF || is_data) continue;
        *out = (piece){.marker = marker, .at = p + 4};
        if (marker == END_OF_IMAGE) return 1;
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

static walk walk_jpeg(const void *bytes, size_t n) { return (walk){bytes, n, SOI_BYTES}; }

/* Look before the first scan for a segment of an application, and pass its name. */
static int find_segment(walk *w, unsigned marker, const char *name, size_t name_size, piece *out) {
    while (next_segment(w, out) && out->marker != START_OF_SCAN && out->marker != END_OF_IMAGE) {
        if (out->marker != marker || out->size < name_size) continue;
        if (memcmp(out->at, name, name_size) != 0) continue;
        out->at += name_size;
        out->size -= name_size;
        return 1;
    }
    return 0;
}

unsigned formats_jpeg_orientation(const void *bytes, size_t n) {
    walk w = walk_jpeg(bytes, n);
    piece exif;
    return find_segment(&w, APP1, "Exif\0\0", 6, &exif)
               ? formats_exif_orientation(exif.at, exif.size)
               : 1;
}

int formats_jpeg_has_profile(const void *bytes, size_t n) {
    walk w = walk_jpeg(bytes, n);
    piece profile;
    if (!find_segment(&w, APP2, "ICC_PROFILE\0", 12, &profile) || profile.size < 2) return 0;
    unsigned parts = profile.at[1]; /* before it: which of them this is */
    return parts != 1 || !formats_icc_is_srgb(profile.at + 2, profile.size - 2);
}

size_t formats_jpeg_end(const void *bytes, size_t n) {
    walk w = walk_jpeg(bytes, n);
    piece p;
    while (next_segment(&w, &p)) {
        if (p.marker == END_OF_IMAGE) return w.at;
        if (p.marker == APP2 && p.size >= 4 && memcmp(p.at, "MPF\0", 4) == 0) return n;
    }
    return n;
}

/* --- PNG --- */

enum { SIGNATURE_BYTES = 8, AROUND_CHUNK = 12, MOST_PROFILE = 1 << 16 };

/* The next chunk; 0 where the bytes end. */
static int next_chunk(walk *w, piece *out) {
    if (w->at > w->n || w->n - w->at < AROUND_CHUNK) return 0;
    const uint8_t *p = w->bytes + w->at;
    size_t size = formats_get_u32be(p);
    if (size > w->n - w->at - AROUND_CHUNK) return 0;
    *out = (piece){.type = (const char *)p + 4, .at = p + 8, .size = size};
    w->at += AROUND_CHUNK + size;
    return 1;
}

/* Find a chunk whose checksum holds: others are not taken at their word. */
static int find_chunk(const void *bytes, size_t n, const char *type, piece *out) {
    walk w = {bytes, n, SIGNATURE_BYTES};
    while (next_chunk(&w, out)) {
        if (memcmp(out->type, "IEND", 4) == 0) return 0;
        if (memcmp(out->type, type, 4) != 0) continue;
        uLong sum = crc32(0, out->at - 4, 4); /* crc32 takes 32-bit sizes: chunks are below 2^31 */
        return crc32(sum, out->at, (uInt)out->size) == formats_get_u32be(out->at + out->size);
    }
    return 0;
}

unsigned formats_png_orientation(const void *bytes, size_t n) {
    piece exif;
    if (!find_chunk(bytes, n, "eXIf", &exif)) return 1;
    if (exif.size >= 6 && memcmp(exif.at, "Exif\0\0", 6) == 0) /* JPEG's name before it: wrong, */
        return formats_exif_orientation(exif.at + 6, exif.size - 6); /* and met all the same */
    return formats_exif_orientation(exif.at, exif.size);
}

/* The chunk is a name, a zero, the method 0, and the profile, deflated. */
int formats_png_has_profile(const void *bytes, size_t n) {
    piece chunk;
    if (!find_chunk(bytes, n, "iCCP", &chunk)) return 0;
    const uint8_t *zero = memchr(chunk.at, 0, chunk.size);
    size_t before = zero ? (size_t)(zero - chunk.at) + 2 : chunk.size;
    uint8_t *profile = before < chunk.size ? malloc(MOST_PROFILE) : NULL;
    if (!profile) return before < chunk.size;
    uLongf size = MOST_PROFILE;
    int code = uncompress(profile, &size, chunk.at + before, (uLong)(chunk.size - before));
    int other = code == Z_BUF_ERROR || (code == Z_OK && !formats_icc_is_srgb(profile, size));
    free(profile);
    return other;
}

size_t formats_png_end(const void *bytes, size_t n) {
    walk w = {bytes, n, SIGNATURE_BYTES};
    piece chunk;
    while (next_chunk(&w, &chunk))
        if (memcmp(chunk.type, "IEND", 4) == 0) return w.at;
    return n;
}

size_t formats_png_data_end(const void *bytes, size_t n) {
    walk w = {bytes, n, SIGNATURE_BYTES};
    piece chunk;
    size_t end = 0;
    while (next_chunk(&w, &chunk)) {
        if (memcmp(chunk.type, "IDAT", 4) == 0)
            end = w.at;
        else if (end)
            return end;
    }
    const int is_cut = w.at + 8 <= w.n && memcmp(w.bytes + w.at + 4, "IDAT", 4) == 0;
    return is_cut ? 0 : end;
}
