/* metadata.c -- see metadata.h. */
#include "formats/metadata/metadata.h"
#include "formats/bytes.h"
#include "formats/metadata/exif.h"
#include "formats/metadata/icc.h"
#include "formats/metadata/pieces.h"
#include "formats/metadata/png_text.h"
#include "formats/metadata/xmp.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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

/* The data of a JPEG's segment APP1. */
static void note_app1(orientations *o, source exif, const uint8_t *p, size_t n) {
    const size_t e = FORMATS_EXIF_NAME, x = FORMATS_XMP_NAME;
    if (formats_begins(p, n, formats_exif_name, e))
        note(o, exif, formats_exif_orientation(p + e, n - e));
    if (formats_begins(p, n, formats_xmp_name, x))
        note(o, FROM_XMP, formats_xmp_orientation(p + x, n - x));
}

/* EXIF outside a JPEG. Some programs wrongly write the name there that it has in a JPEG. */
static void note_exif(orientations *o, source from, const uint8_t *p, size_t n) {
    if (formats_begins(p, n, formats_exif_name, FORMATS_EXIF_NAME))
        note_app1(o, from, p, n);
    else
        note(o, from, formats_exif_orientation(p, n));
}

/* --- JPEG --- */

formats_orientation formats_jpeg_orientation(const void *bytes, size_t n) {
    formats_walk w = formats_walk_jpeg(bytes, n);
    orientations o = {0};
    formats_piece segment;
    while (formats_find_segment(&w, FORMATS_APP1, "", 0, &segment))
        note_app1(&o, FROM_EXIF, segment.at, segment.size);
    return choose(&o);
}

int formats_jpeg_has_profile(const void *bytes, size_t n) {
    formats_walk w = formats_walk_jpeg(bytes, n);
    formats_piece profile;
    if (!formats_find_segment(&w, FORMATS_APP2, "ICC_PROFILE\0", 12, &profile) || profile.size < 2)
        return 0;
    const int is_cmyk = profile.size >= 2 + 20 && !memcmp(profile.at + 2 + 16, "CMYK", 4);
    if (is_cmyk) return 0;          /* pixels are converted by it */
    unsigned parts = profile.at[1]; /* index of this picture among them */
    return parts != 1 || !formats_icc_is_srgb(profile.at + 2, profile.size - 2);
}

static int is_mpf(const formats_piece *p) {
    return p->marker == FORMATS_APP2 && formats_begins(p->at, p->size, "MPF", 4);
}

unsigned formats_jpeg_losses(const void *bytes, size_t n) {
    formats_walk w = formats_walk_jpeg(bytes, n);
    unsigned losses = 0;
    formats_piece p;
    while (formats_next_segment(&w, &p) && p.marker != FORMATS_START_OF_SCAN &&
           p.marker != FORMATS_END_OF_IMAGE) {
        if (p.marker == FORMATS_APP1 &&
            (formats_begins(p.at, p.size, formats_exif_name, FORMATS_EXIF_NAME) ||
             formats_begins(p.at, p.size, formats_xmp_name, FORMATS_XMP_NAME)))
            losses |= FORMATS_LOST_EXIF;
        if (is_mpf(&p)) losses |= FORMATS_LOST_PICTURES;
    }
    return losses;
}

size_t formats_jpeg_end(const void *bytes, size_t n) {
    formats_walk w = formats_walk_jpeg(bytes, n);
    formats_piece p;
    while (formats_next_segment(&w, &p)) {
        if (p.marker == FORMATS_END_OF_IMAGE) return w.at;
        if (is_mpf(&p)) return n;
    }
    return n;
}

/* --- PNG --- */

enum { MOST_PROFILE = 1 << 16 };
/* Limits on the text chunks that are read, and on the bytes of each. An EXIF profile needs less
 * than half of these; XMP has the orientation near its start. */
enum { MOST_TEXTS = 16, MOST_TEXT = 1 << 18 };

/* Find a chunk with a correct checksum. */
static int find_chunk(const void *bytes, size_t n, const char *type, formats_piece *out) {
    formats_walk w = formats_walk_png(bytes, n);
    while (formats_next_chunk(&w, out)) {
        if (formats_is_type(out, "IEND")) return 0;
        if (formats_is_type(out, type)) return formats_is_sum_right(out);
    }
    return 0;
}

static taper_status note_text(orientations *o, const formats_piece *chunk, formats_text_kind kind,
                              taper_error *error) {
    size_t n = 0;
    uint8_t *text = malloc(MOST_TEXT);
    if (!text) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a PNG's text");
    taper_status status = TAPER_OK;
    if (formats_is_sum_right(chunk))
        status = formats_png_text(chunk->type, chunk->at, chunk->size, text, MOST_TEXT, &n, error);
    if (n && kind != FORMATS_TEXT_XMP) n = formats_raw_profile(text, n);
    if (!n)
        note(o, FROM_XMP, FORMATS_BAD_ORIENTATION);
    else if (kind != FORMATS_TEXT_PROFILE)
        note(o, FROM_XMP, formats_xmp_orientation(text, n));
    else if (formats_begins(text, n, formats_xmp_name, FORMATS_XMP_NAME))
        note_app1(o, FROM_XMP, text, n);
    else
        note_exif(o, FROM_RAW_PROFILE, text, n);
    free(text);
    return status;
}

taper_status formats_png_orientation(const void *bytes, size_t n, formats_orientation *out,
                                     taper_error *error) {
    formats_walk w = formats_walk_png(bytes, n);
    orientations o = {0};
    formats_piece chunk;
    for (int texts = 0; formats_next_chunk(&w, &chunk) && !formats_is_type(&chunk, "IEND");) {
        const formats_text_kind kind = formats_kind_of_text(&chunk);
        if (kind && texts++ < MOST_TEXTS) TAPER_TRY(note_text(&o, &chunk, kind, error));
        if (!formats_is_type(&chunk, "eXIf")) continue;
        if (formats_is_sum_right(&chunk))
            note_exif(&o, FROM_EXIF, chunk.at, chunk.size);
        else
            note(&o, FROM_EXIF, FORMATS_BAD_ORIENTATION);
    }
    *out = choose(&o);
    return TAPER_OK;
}

/* The chunk has a name, a zero, the method 0, and the deflated profile. */
int formats_png_has_profile(const void *bytes, size_t n) {
    formats_piece chunk;
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
    formats_walk w = formats_walk_png(bytes, n);
    unsigned losses = 0;
    formats_piece p;
    while (formats_next_chunk(&w, &p) && !formats_is_type(&p, "IEND")) {
        if (formats_is_type(&p, "eXIf") || formats_kind_of_text(&p) != FORMATS_TEXT_OTHER)
            losses |= FORMATS_LOST_EXIF;
    }
    return losses;
}

uint32_t formats_png_frames(const void *bytes, size_t n) {
    formats_walk w = formats_walk_png(bytes, n);
    formats_piece p;
    while (formats_next_chunk(&w, &p) && !formats_is_type(&p, "IDAT"))
        if (formats_is_type(&p, "acTL") && p.size >= 4) return formats_get_u32be(p.at);
    return 0;
}

int formats_png_may_be_animated(const void *front, size_t n) {
    formats_walk w = formats_walk_png(front, n);
    formats_piece p;
    while (formats_next_chunk(&w, &p)) {
        if (formats_is_type(&p, "IDAT")) return 0;
        if (formats_is_type(&p, "acTL")) return 1;
    }
    enum { LENGTH = 4, TYPE = 4 }; /* the next chunk is cut */
    return w.at > n || n - w.at < LENGTH + TYPE ||
           memcmp((const uint8_t *)front + w.at + LENGTH, "IDAT", TYPE) != 0;
}

size_t formats_png_end(const void *bytes, size_t n) {
    formats_walk w = formats_walk_png(bytes, n);
    formats_piece chunk;
    while (formats_next_chunk(&w, &chunk))
        if (formats_is_type(&chunk, "IEND")) return w.at;
    return n;
}

size_t formats_png_data_end(const void *bytes, size_t n) {
    formats_walk w = formats_walk_png(bytes, n);
    formats_piece chunk;
    size_t end = 0;
    while (formats_next_chunk(&w, &chunk)) {
        if (formats_is_type(&chunk, "IDAT"))
            end = w.at;
        else if (end)
            return end;
    }
    const int is_cut = w.at + 8 <= w.n && memcmp(w.bytes + w.at + 4, "IDAT", 4) == 0;
    return is_cut ? 0 : end;
}
