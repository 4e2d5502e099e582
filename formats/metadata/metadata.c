/* metadata.c -- iterates over the segments of a JPEG and the chunks of a PNG; see metadata.h. */
#include "formats/metadata/metadata.h"
#include "formats/bytes.h"
#include "formats/metadata/exif.h"
#include "formats/metadata/icc.h"
#include "formats/metadata/png_text.h"
#include "formats/metadata/xmp.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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
    size_t n, at; /* at: offset after the last piece */
} walk;

/* --- orientation --- */

typedef enum source { FROM_EXIF, FROM_RAW_PROFILE, FROM_XMP, SOURCES } source;

typedef struct orientations {
    unsigned first[SOURCES]; /* the first legal value of each source; 0: none */
    unsigned said;           /* bit k: some source has value k, FORMATS_BAD_ORIENTATION included */
} orientations;

static void note(orientations *o, source from, unsigned how) {
    if (how == FORMATS_NO_ORIENTATION) return;
    o->said |= 1u << how;
    if (how != FORMATS_BAD_ORIENTATION && !o->first[from]) o->first[from] = how;
}

static formats_orientation choose(const orientations *o) {
    unsigned how = 1;
    for (int from = SOURCES; from-- > 0;)
        if (o->first[from]) how = o->first[from];
    return (formats_orientation){(uint8_t)how, (o->said & ~(1u << how)) != 0};
}

static const char exif_name[6] = "Exif\0"; /* before EXIF and XMP in a JPEG's segment */
static const char xmp_name[29] = "http://ns.adobe.com/xap/1.0/";

static int begins_with(const uint8_t *bytes, size_t n, const char *name, size_t name_size) {
    return n >= name_size && memcmp(bytes, name, name_size) == 0;
}

/* The data of a JPEG's segment APP1. */
static void note_app1(orientations *o, source exif, const uint8_t *p, size_t n) {
    const size_t e = sizeof exif_name, x = sizeof xmp_name;
    if (begins_with(p, n, exif_name, e)) note(o, exif, formats_exif_orientation(p + e, n - e));
    if (begins_with(p, n, xmp_name, x)) note(o, FROM_XMP, formats_xmp_orientation(p + x, n - x));
}

/* EXIF outside a JPEG. Some programs wrongly write the name there that it has in a JPEG. */
static void note_exif(orientations *o, source from, const uint8_t *p, size_t n) {
    if (begins_with(p, n, exif_name, sizeof exif_name))
        note_app1(o, from, p, n);
    else
        note(o, from, formats_exif_orientation(p, n));
}

/* --- JPEG --- */

enum { SOI_BYTES = 2, END_OF_IMAGE = 0xD9, START_OF_SCAN = 0xDA, APP1 = 0xE1, APP2 = 0xE2 };

/* The next segment, or the end of the image. Skips bytes between segments, such as scan data. 0 at
 * the end of the bytes. */
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

/* Find a segment of an application before the first scan, and skip its name. */
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

formats_orientation formats_jpeg_orientation(const void *bytes, size_t n) {
    walk w = walk_jpeg(bytes, n);
    orientations o = {0};
    piece segment;
    while (find_segment(&w, APP1, "", 0, &segment))
        note_app1(&o, FROM_EXIF, segment.at, segment.size);
    return choose(&o);
}

int formats_jpeg_has_profile(const void *bytes, size_t n) {
    walk w = walk_jpeg(bytes, n);
    piece profile;
    if (!find_segment(&w, APP2, "ICC_PROFILE\0", 12, &profile) || profile.size < 2) return 0;
    const int is_cmyk = profile.size >= 2 + 20 && !memcmp(profile.at + 2 + 16, "CMYK", 4);
    if (is_cmyk) return 0;          /* pixels are converted by it */
    unsigned parts = profile.at[1]; /* index of this picture among them */
    return parts != 1 || !formats_icc_is_srgb(profile.at + 2, profile.size - 2);
}

static int is_mpf(const piece *p) {
    return p->marker == APP2 && begins_with(p->at, p->size, "MPF", 4);
}

unsigned formats_jpeg_losses(const void *bytes, size_t n) {
    walk w = walk_jpeg(bytes, n);
    unsigned losses = 0;
    piece p;
    while (next_segment(&w, &p) && p.marker != START_OF_SCAN && p.marker != END_OF_IMAGE) {
        if (p.marker == APP1 && (begins_with(p.at, p.size, exif_name, sizeof exif_name) ||
                                 begins_with(p.at, p.size, xmp_name, sizeof xmp_name)))
            losses |= FORMATS_LOST_EXIF;
        if (is_mpf(&p)) losses |= FORMATS_LOST_PICTURES;
    }
    return losses;
}

size_t formats_jpeg_end(const void *bytes, size_t n) {
    walk w = walk_jpeg(bytes, n);
    piece p;
    while (next_segment(&w, &p)) {
        if (p.marker == END_OF_IMAGE) return w.at;
        if (is_mpf(&p)) return n;
    }
    return n;
}

/* --- PNG --- */

enum { SIGNATURE_BYTES = 8, AROUND_CHUNK = 12, MOST_PROFILE = 1 << 16 };
/* Limits on the text chunks that are read, and on the bytes of each. An EXIF profile needs less
 * than half of these; XMP has the orientation near its start. */
enum { MOST_TEXTS = 16, MOST_TEXT = 1 << 18 };

/* The next chunk; 0 at the end of the bytes. */
static int next_chunk(walk *w, piece *out) {
    if (w->at > w->n || w->n - w->at < AROUND_CHUNK) return 0;
    const uint8_t *p = w->bytes + w->at;
    size_t size = formats_get_u32be(p);
    if (size > w->n - w->at - AROUND_CHUNK) return 0;
    *out = (piece){.type = (const char *)p + 4, .at = p + 8, .size = size};
    w->at += AROUND_CHUNK + size;
    return 1;
}

static int is_type(const piece *chunk, const char *type) { return !memcmp(chunk->type, type, 4); }

static int is_sum_right(const piece *chunk) {
    uLong sum = crc32(0, chunk->at - 4, 4); /* crc32 takes 32-bit sizes: chunks are below 2^31 */
    return crc32(sum, chunk->at, (uInt)chunk->size) == formats_get_u32be(chunk->at + chunk->size);
}

/* Find a chunk with a correct checksum. */
static int find_chunk(const void *bytes, size_t n, const char *type, piece *out) {
    walk w = {bytes, n, SIGNATURE_BYTES};
    while (next_chunk(&w, out)) {
        if (is_type(out, "IEND")) return 0;
        if (is_type(out, type)) return is_sum_right(out);
    }
    return 0;
}

/* Keywords of text chunks that may have the orientation; others are not unpacked. */
typedef enum text_kind { TEXT_OTHER, TEXT_PROFILE, TEXT_XMP_PROFILE, TEXT_XMP } text_kind;

static text_kind kind_of_text(const piece *chunk) {
    static const struct {
        const char *keyword;
        text_kind kind;
    } kinds[] = {{"Raw profile type exif", TEXT_PROFILE},
                 {"Raw profile type APP1", TEXT_PROFILE},
                 {"Raw profile type xmp", TEXT_XMP_PROFILE},
                 {"XML:com.adobe.xmp", TEXT_XMP}};
    if (!is_type(chunk, "tEXt") && !is_type(chunk, "zTXt") && !is_type(chunk, "iTXt"))
        return TEXT_OTHER;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t size = strlen(kinds[i].keyword) + 1;
        if (chunk->size >= size && !strncasecmp((const char *)chunk->at, kinds[i].keyword, size))
            return kinds[i].kind;
    }
    return TEXT_OTHER;
}

static taper_status note_text(orientations *o, const piece *chunk, text_kind kind,
                              taper_error *error) {
    size_t n = 0;
    uint8_t *text = malloc(MOST_TEXT);
    if (!text) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a PNG's text");
    taper_status status = TAPER_OK;
    if (is_sum_right(chunk))
        status = formats_png_text(chunk->type, chunk->at, chunk->size, text, MOST_TEXT, &n, error);
    if (n && kind != TEXT_XMP) n = formats_raw_profile(text, n);
    if (!n)
        note(o, FROM_XMP, FORMATS_BAD_ORIENTATION);
    else if (kind != TEXT_PROFILE)
        note(o, FROM_XMP, formats_xmp_orientation(text, n));
    else if (begins_with(text, n, xmp_name, sizeof xmp_name))
        note_app1(o, FROM_XMP, text, n);
    else
        note_exif(o, FROM_RAW_PROFILE, text, n);
    free(text);
    return status;
}

taper_status formats_png_orientation(const void *bytes, size_t n, formats_orientation *out,
                                     taper_error *error) {
    walk w = {bytes, n, SIGNATURE_BYTES};
    orientations o = {0};
    piece chunk;
    for (int texts = 0; next_chunk(&w, &chunk) && !is_type(&chunk, "IEND");) {
        const text_kind kind = kind_of_text(&chunk);
        if (kind && texts++ < MOST_TEXTS) TAPER_TRY(note_text(&o, &chunk, kind, error));
        if (!is_type(&chunk, "eXIf")) continue;
        if (is_sum_right(&chunk))
            note_exif(&o, FROM_EXIF, chunk.at, chunk.size);
        else
            note(&o, FROM_EXIF, FORMATS_BAD_ORIENTATION);
    }
    *out = choose(&o);
    return TAPER_OK;
}

/* The chunk has a name, a zero, the method 0, and the deflated profile. */
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

unsigned formats_png_losses(const void *bytes, size_t n) {
    walk w = {bytes, n, SIGNATURE_BYTES};
    unsigned losses = 0;
    piece p;
    while (next_chunk(&w, &p) && !is_type(&p, "IEND")) {
        if (is_type(&p, "eXIf") || kind_of_text(&p) != TEXT_OTHER) losses |= FORMATS_LOST_EXIF;
        if (is_type(&p, "acTL") && p.size >= 4 && formats_get_u32be(p.at) > 1)
            losses |= FORMATS_LOST_PICTURES;
    }
    return losses;
}

size_t formats_png_end(const void *bytes, size_t n) {
    walk w = {bytes, n, SIGNATURE_BYTES};
    piece chunk;
    while (next_chunk(&w, &chunk))
        if (is_type(&chunk, "IEND")) return w.at;
    return n;
}

size_t formats_png_data_end(const void *bytes, size_t n) {
    walk w = {bytes, n, SIGNATURE_BYTES};
    piece chunk;
    size_t end = 0;
    while (next_chunk(&w, &chunk)) {
        if (is_type(&chunk, "IDAT"))
            end = w.at;
        else if (end)
            return end;
    }
    const int is_cut = w.at + 8 <= w.n && memcmp(w.bytes + w.at + 4, "IDAT", 4) == 0;
    return is_cut ? 0 : end;
}
