/* write_payloads.c -- see write_payloads.h. */
#include "formats/metadata/write_payloads.h"
#include "formats/metadata/pieces.h"
#include <string.h>
#include <zlib.h>

/* A profile of the image's kind of colours: others make readers refuse the file. */
static int fits(const formats_blob *icc, unsigned channels) {
    return icc->size >= 20 && !memcmp(icc->bytes + 16, channels < 3 ? "GRAY" : "RGB ", 4);
}

/* --- PNG --------------------------------------------------------------------------------- */

static taper_status begin_chunk(formats_buffer *out, const char *type, size_t size) {
    formats_write_u32be(out, (uint32_t)size);
    return formats_write_bytes(out, type, 4);
}

/* The checksum over the type and `size` bytes that were written. */
static taper_status end_chunk(formats_buffer *out, size_t size) {
    TAPER_TRY(out->status);
    const uint32_t sum = (uint32_t)crc32(0, out->data + out->size - size - 4, (uInt)size + 4);
    return formats_write_u32be(out, sum);
}

static taper_status add_chunk(formats_buffer *out, const char *type, const void *bytes,
                              size_t size) {
    begin_chunk(out, type, size);
    formats_write_bytes(out, bytes, size);
    return end_chunk(out, size);
}

static taper_status add_iccp(const formats_blob *icc, formats_buffer *out) {
    static const char name[] = "ICC profile\0"; /* with the method 0 */
    uLongf size = compressBound((uLong)icc->size);
    formats_buffer packed = formats_buffer_make(FORMATS_MOST_BYTES);
    uint8_t *to = formats_buffer_extend(&packed, size);
    taper_status status = packed.status;
    if (to && compress2(to, &size, icc->bytes, (uLong)icc->size, 9) != Z_OK)
        status = TAPER_ERR_NOMEM;
    if (status == TAPER_OK) {
        begin_chunk(out, "iCCP", sizeof name + size);
        formats_write_bytes(out, name, sizeof name);
        formats_write_bytes(out, to, size);
        status = end_chunk(out, sizeof name + size);
    }
    formats_buffer_free(&packed);
    return status;
}

static taper_status add_numbers(const formats_metadata *m, formats_buffer *out) {
    uint8_t bytes[32];
    uint32_t any = 0;
    if (m->gamma) {
        formats_set_u32be(bytes, m->gamma);
        TAPER_TRY(add_chunk(out, "gAMA", bytes, 4));
    }
    for (int i = 0; i < 8; i++) {
        any |= m->chromaticities[i];
        formats_set_u32be(bytes + 4 * i, m->chromaticities[i]);
    }
    if (any) TAPER_TRY(add_chunk(out, "cHRM", bytes, 32));
    if (!m->density_x) return TAPER_OK;
    formats_set_u32be(bytes, m->density_x);
    formats_set_u32be(bytes + 4, m->density_y);
    bytes[8] = m->density_unit;
    return add_chunk(out, "pHYs", bytes, 9);
}

/* Not compressed, with no language and no translated keyword. */
static taper_status add_xmp(const formats_blob *xmp, formats_buffer *out) {
    static const char front[] = "XML:com.adobe.xmp\0\0\0\0";
    begin_chunk(out, "iTXt", sizeof front + xmp->size);
    formats_write_bytes(out, front, sizeof front);
    formats_write_bytes(out, xmp->bytes, xmp->size);
    return end_chunk(out, sizeof front + xmp->size);
}

taper_status formats_png_chunks(const formats_metadata *m, unsigned channels, formats_buffer *out) {
    if (m->has_cicp) TAPER_TRY(add_chunk(out, "cICP", m->cicp, sizeof m->cicp));
    if (fits(&m->icc, channels)) TAPER_TRY(add_iccp(&m->icc, out));
    TAPER_TRY(add_numbers(m, out));
    if (m->exif.bytes) TAPER_TRY(add_chunk(out, "eXIf", m->exif.bytes, m->exif.size));
    return m->xmp.bytes ? add_xmp(&m->xmp, out) : out->status;
}

/* --- JPEG -------------------------------------------------------------------------------- */

enum { MOST_SEGMENT = 65533, PROFILE_NAME = 12, PART_NUMBERS = 2, MOST_PARTS = 255 };

static void begin_segment(formats_buffer *out, unsigned marker, const void *name, size_t name_size,
                          size_t size) {
    formats_write_u8(out, 0xFF), formats_write_u8(out, (uint8_t)marker);
    formats_write_u16be(out, (uint16_t)(2 + name_size + size));
    formats_write_bytes(out, name, name_size);
}

/* Pixels per inch if that is a number of 16 bits. */
static uint16_t per_inch(uint32_t per_metre) {
    const double inches = per_metre * 0.0254 + 0.5;
    return inches < 65536 ? (uint16_t)inches : 0;
}

static void add_jfif(const formats_metadata *m, formats_buffer *out) {
    uint8_t bytes[14] = "JFIF\0\1\1\0\0\1\0\1"; /* no unit, 1 : 1, no thumbnail */
    const int is_metre = m->density_unit == 1;
    const uint32_t x = is_metre ? per_inch(m->density_x) : m->density_x;
    const uint32_t y = is_metre ? per_inch(m->density_y) : m->density_y;
    if (x && y && x <= UINT16_MAX && y <= UINT16_MAX) {
        bytes[7] = (uint8_t)is_metre;
        formats_set_u16be(bytes + 8, (uint16_t)x);
        formats_set_u16be(bytes + 10, (uint16_t)y);
    }
    begin_segment(out, FORMATS_APP0, bytes, sizeof bytes, 0);
}

/* Returns 1 if the payload is too large. */
static int add_app1(const char *name, size_t name_size, const formats_blob *blob,
                    formats_buffer *out) {
    if (!blob->bytes) return 0;
    if (blob->size > MOST_SEGMENT - name_size) return 1;
    begin_segment(out, FORMATS_APP1, name, name_size, blob->size);
    formats_write_bytes(out, blob->bytes, blob->size);
    return 0;
}

static int add_profile(const formats_blob *icc, unsigned channels, formats_buffer *out) {
    const size_t most = MOST_SEGMENT - PROFILE_NAME - PART_NUMBERS;
    const size_t parts = (icc->size + most - 1) / most;
    if (!icc->bytes) return 0;
    if (!fits(icc, channels) || parts > MOST_PARTS) return 1;
    for (size_t k = 0; k < parts; k++) {
        const size_t size = formats_smaller(icc->size - k * most, most);
        begin_segment(out, FORMATS_APP2, "ICC_PROFILE", PROFILE_NAME, PART_NUMBERS + size);
        formats_write_u8(out, (uint8_t)(k + 1)), formats_write_u8(out, (uint8_t)parts);
        formats_write_bytes(out, icc->bytes + k * most, size);
    }
    return 0;
}

unsigned formats_jpeg_segments(const formats_metadata *m, unsigned channels, formats_buffer *out) {
    unsigned left = 0;
    add_jfif(m, out);
    if (add_app1(formats_exif_name, FORMATS_EXIF_NAME, &m->exif, out)) left |= FORMATS_LEFT_EXIF;
    if (add_app1(formats_xmp_name, FORMATS_XMP_NAME, &m->xmp, out)) left |= FORMATS_LEFT_XMP;
    if (add_profile(&m->icc, channels, out)) left |= FORMATS_LEFT_ICC;
    return left;
}
