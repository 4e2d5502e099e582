/* read_payloads.c -- see read_payloads.h. */
#include "formats/metadata/read_payloads.h"
#include "formats/bytes.h"
#include "formats/metadata/exif.h"
#include "formats/metadata/pieces.h"
#include "formats/metadata/png_text.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static taper_status no_memory(taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the metadata of a picture");
}

/* Take a payload unless there is one already. */
static taper_status take(formats_metadata *m, formats_blob *blob, unsigned kind,
                         const uint8_t *bytes, size_t n, taper_error *error) {
    if (blob->bytes) return TAPER_OK;
    if (!n || n > FORMATS_MOST_BLOB) m->left_out |= (uint8_t)kind;
    if (!n || n > FORMATS_MOST_BLOB) return TAPER_OK;
    return formats_blob_set(blob, bytes, n) ? TAPER_OK : no_memory(error);
}

static taper_status take_exif(formats_metadata *m, const uint8_t *bytes, size_t n,
                              taper_error *error) {
    if (!formats_exif_detect(bytes, n)) n = 0;
    return take(m, &m->exif, FORMATS_LEFT_EXIF, bytes, n, error);
}

/* The data of a segment APP1, with or without the name of EXIF. */
static taper_status take_app1(formats_metadata *m, const uint8_t *p, size_t n, taper_error *error) {
    const size_t e = FORMATS_EXIF_NAME, x = FORMATS_XMP_NAME;
    if (formats_begins(p, n, formats_xmp_name, x))
        return take(m, &m->xmp, FORMATS_LEFT_XMP, p + x, n - x, error);
    if (formats_begins(p, n, formats_exif_name, e)) return take_exif(m, p + e, n - e, error);
    return take_exif(m, p, n, error);
}

/* --- JPEG -------------------------------------------------------------------------------- */

enum { MOST_PARTS = 255, PART_NUMBERS = 2 };

/* The parts of a profile, which are numbered from 1. */
typedef struct profile_parts {
    formats_piece part[MOST_PARTS + 1];
    unsigned said; /* how many there are to be; 0: no profile */
    int is_damaged;
} profile_parts;

static void note_part(profile_parts *parts, const formats_piece *segment) {
    static const char name[12] = "ICC_PROFILE";
    if (!formats_begins(segment->at, segment->size, name, sizeof name)) return;
    const uint8_t *p = segment->at + sizeof name;
    const size_t n = segment->size - sizeof name;
    if (n < PART_NUMBERS || !p[0] || p[0] > p[1] || (parts->said && parts->said != p[1])) {
        parts->is_damaged = 1;
        return;
    }
    parts->said = p[1];
    if (!parts->part[p[0]].at)
        parts->part[p[0]] = (formats_piece){.at = p + PART_NUMBERS, .size = n - PART_NUMBERS};
}

static taper_status join_parts(formats_metadata *m, const profile_parts *parts,
                               taper_error *error) {
    size_t size = 0;
    int is_whole = !parts->is_damaged;
    for (unsigned k = 1; k <= parts->said; k++) {
        is_whole &= parts->part[k].at != NULL;
        size += parts->part[k].size;
    }
    if (!parts->said && is_whole) return TAPER_OK;
    if (!is_whole || !size || size > FORMATS_MOST_BLOB) {
        m->left_out |= FORMATS_LEFT_ICC;
        return TAPER_OK;
    }
    m->icc.bytes = malloc(size);
    if (!m->icc.bytes) return no_memory(error);
    for (unsigned k = 1; k <= parts->said; k++) {
        memcpy(m->icc.bytes + m->icc.size, parts->part[k].at, parts->part[k].size);
        m->icc.size += parts->part[k].size;
    }
    return TAPER_OK;
}

static uint32_t per_metre(unsigned density, unsigned unit) {
    return unit == 1 ? (uint32_t)(density / 0.0254 + 0.5) : density * 100;
}

/* JFIF: version, unit (0 ratio, 1 inch, 2 centimetre), density. Equal numbers without a unit say
 * nothing. */
static void take_jfif(formats_metadata *m, const uint8_t *p, size_t n) {
    if (m->density_x || n < 12 || memcmp(p, "JFIF", 5) != 0 || p[7] > 2) return;
    const unsigned unit = p[7], x = formats_get_u16be(p + 8), y = formats_get_u16be(p + 10);
    if (!x || !y || (!unit && x == y)) return;
    m->density_unit = unit != 0;
    m->density_x = unit ? per_metre(x, unit) : x;
    m->density_y = unit ? per_metre(y, unit) : y;
}

static taper_status take_segment(formats_metadata *m, profile_parts *parts, const formats_piece *s,
                                 taper_error *error) {
    if (s->marker == FORMATS_APP0) take_jfif(m, s->at, s->size);
    if (s->marker == FORMATS_APP2) note_part(parts, s);
    if (s->marker == FORMATS_APP1 &&
        (formats_begins(s->at, s->size, formats_exif_name, FORMATS_EXIF_NAME) ||
         formats_begins(s->at, s->size, formats_xmp_name, FORMATS_XMP_NAME)))
        return take_app1(m, s->at, s->size, error);
    return TAPER_OK;
}

taper_status formats_jpeg_metadata(const void *bytes, size_t n, formats_metadata *out,
                                   taper_error *error) {
    formats_walk w = formats_walk_jpeg(bytes, n);
    formats_piece s;
    taper_status status = TAPER_OK;
    *out = (formats_metadata){0};
    profile_parts *parts = calloc(1, sizeof *parts);
    if (!parts) return no_memory(error);
    while (status == TAPER_OK && formats_next_segment(&w, &s) &&
           s.marker != FORMATS_START_OF_SCAN && s.marker != FORMATS_END_OF_IMAGE)
        status = take_segment(out, parts, &s, error);
    if (status == TAPER_OK) status = join_parts(out, parts, error);
    free(parts);
    if (status != TAPER_OK) formats_metadata_free(out);
    return status;
}

/* --- PNG --------------------------------------------------------------------------------- */

enum { MOST_TEXTS = 16, PIECE = 1 << 16 };

/* Expand a whole zlib stream of at most FORMATS_MOST_BLOB bytes; fewer than 1: it is damaged, or
 * longer. */
static taper_status expand(const uint8_t *from, size_t size, formats_buffer *to,
                           taper_error *error) {
    z_stream z = {.next_in = (z_const Bytef *)from, .avail_in = (uInt)size}; /* below 2^31 */
    int code = Z_OK;
    if (inflateInit(&z) != Z_OK) return no_memory(error);
    while (code == Z_OK) {
        uint8_t *room = formats_buffer_extend(to, PIECE);
        if (!room) break;
        z.next_out = room, z.avail_out = PIECE;
        code = inflate(&z, Z_NO_FLUSH);
        to->size -= z.avail_out;
        if (code == Z_OK && z.avail_out) break; /* the input ends early */
    }
    inflateEnd(&z);
    if (code == Z_MEM_ERROR || to->status == TAPER_ERR_NOMEM) return no_memory(error);
    if (code != Z_STREAM_END) to->size = 0;
    return TAPER_OK;
}

/* iCCP: a name, a zero, the method 0, the deflated profile. */
static taper_status take_iccp(formats_metadata *m, const formats_piece *c, taper_error *error) {
    formats_buffer profile = formats_buffer_make(FORMATS_MOST_BLOB + PIECE);
    const uint8_t *zero = memchr(c->at, 0, c->size);
    const size_t before = zero ? (size_t)(zero - c->at) + 2 : c->size;
    taper_status status = TAPER_OK;
    if (before < c->size) status = expand(c->at + before, c->size - before, &profile, error);
    if (status == TAPER_OK)
        status = take(m, &m->icc, FORMATS_LEFT_ICC, profile.data, profile.size, error);
    formats_buffer_free(&profile);
    return status;
}

static taper_status take_text(formats_metadata *m, const formats_piece *c, formats_text_kind kind,
                              taper_error *error) {
    const int is_plain = formats_is_type(c, "tEXt");
    const size_t room = is_plain ? c->size + 1 : (size_t)FORMATS_MOST_BLOB + 1;
    size_t n = 0;
    uint8_t *text = malloc(room);
    if (!text) return no_memory(error);
    taper_status status = formats_png_text(c->type, c->at, c->size, text, room, &n, error);
    if (status == TAPER_OK && n <= FORMATS_MOST_BLOB && kind != FORMATS_TEXT_XMP)
        n = formats_raw_profile(text, n);
    if (status == TAPER_OK && kind == FORMATS_TEXT_PROFILE)
        status = take_app1(m, text, n, error);
    else if (status == TAPER_OK)
        status = take(m, &m->xmp, FORMATS_LEFT_XMP, text, n, error);
    free(text);
    return status;
}

/* Numbers below 2^31, as PNG has them. */
static uint32_t number_at(const uint8_t *p) {
    const uint32_t value = formats_get_u32be(p);
    return value <= INT32_MAX ? value : 0;
}

static void take_numbers(formats_metadata *m, const formats_piece *c) {
    enum { CICP = 4, GAMMA = 4, CHROMATICITIES = 32, DENSITY = 9 };
    if (formats_is_type(c, "cICP") && c->size == CICP && c->at[3] <= 1) {
        m->has_cicp = 1;
        memcpy(m->cicp, c->at, sizeof m->cicp);
    }
    if (formats_is_type(c, "gAMA") && c->size == GAMMA) m->gamma = number_at(c->at);
    for (int i = 0; formats_is_type(c, "cHRM") && c->size == CHROMATICITIES && i < 8; i++)
        m->chromaticities[i] = number_at(c->at + 4 * i);
    if (!formats_is_type(c, "pHYs") || c->size != DENSITY || c->at[8] > 1) return;
    const uint32_t x = number_at(c->at), y = number_at(c->at + 4);
    if (!x || !y || (!c->at[8] && x == y)) return;
    m->density_x = x, m->density_y = y, m->density_unit = c->at[8];
}

/* A chunk with a correct checksum. */
static taper_status take_chunk(formats_metadata *m, const formats_piece *c, int *texts,
                               taper_error *error) {
    const formats_text_kind kind = formats_kind_of_text(c);
    if (kind && (*texts)++ < MOST_TEXTS) return take_text(m, c, kind, error);
    if (formats_is_type(c, "iCCP")) return take_iccp(m, c, error);
    take_numbers(m, c);
    if (!formats_is_type(c, "eXIf")) return TAPER_OK;
    formats_blob_free(&m->exif); /* it counts more than text */
    return take_app1(m, c->at, c->size, error);
}

static int is_wanted(const formats_piece *c) {
    static const char types[][5] = {"iCCP", "cICP", "gAMA", "cHRM", "pHYs", "eXIf", "sRGB"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (formats_is_type(c, types[i])) return 1;
    return formats_kind_of_text(c) != FORMATS_TEXT_OTHER;
}

taper_status formats_png_metadata(const void *bytes, size_t n, formats_metadata *out,
                                  taper_error *error) {
    formats_walk w = formats_walk_png(bytes, n);
    formats_piece c;
    taper_status status = TAPER_OK;
    int texts = 0, is_srgb = 0;
    *out = (formats_metadata){0};
    while (status == TAPER_OK && formats_next_chunk(&w, &c) && !formats_is_type(&c, "IEND")) {
        if (!is_wanted(&c) || !formats_is_sum_right(&c)) continue;
        is_srgb |= formats_is_type(&c, "sRGB");
        status = take_chunk(out, &c, &texts, error);
    }
    if (status != TAPER_OK) formats_metadata_free(out);
    if (is_srgb && !out->icc.bytes) { /* these say the same less well */
        out->gamma = 0;
        memset(out->chromaticities, 0, sizeof out->chromaticities);
    }
    return status;
}
