/* fuzz_metadata.c -- any bytes as what image files say beside their pixels. The first byte says as
 * what: XMP, EXIF, an ICC profile, the data of a PNG's text chunk, a raw profile, a JPEG's
 * segments or a PNG's chunks. What is said must lie in its range. */
#include "formats/metadata/exif.h"
#include "formats/metadata/icc.h"
#include "formats/metadata/metadata.h"
#include "formats/metadata/pieces.h"
#include "formats/metadata/png_text.h"
#include "formats/metadata/read_payloads.h"
#include "formats/metadata/settle.h"
#include "formats/metadata/tiff_exif.h"
#include "formats/metadata/write_payloads.h"
#include "formats/metadata/xmp.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { ROOM = 300, LOST = FORMATS_LOST_EXIF | FORMATS_LOST_PICTURES };

static void must(int holds) {
    if (!holds) abort();
}

/* Into exactly so much room, so that a sanitizer sees a write behind its end. */
static void try_text(const char type[4], const uint8_t *bytes, size_t n, size_t room) {
    uint8_t *text = malloc(room);
    size_t got;
    must(text != NULL);
    must(formats_png_text(type, bytes, n, text, room, &got, NULL) == TAPER_OK && got <= room);
    must(formats_raw_profile(text, got) <= got / 2);
    free(text);
}

static void try_raw_profile(const uint8_t *bytes, size_t n) {
    uint8_t *text = malloc(n + 1);
    must(text != NULL);
    if (n) memcpy(text, bytes, n);
    const size_t size = formats_raw_profile(text, n);
    must(size <= n / 2);
    must(formats_exif_orientation(text, size) <= FORMATS_BAD_ORIENTATION);
    free(text);
}

/* EXIF turned upright in place, and taken out of a TIFF: then it has no orientation, and taking it
 * out again changes nothing. */
static void try_exif(const uint8_t *bytes, size_t n) {
    formats_buffer b = formats_buffer_make(1 << 12), again = formats_buffer_make(1 << 12);
    uint8_t *copy = malloc(n + 1);
    must(copy != NULL && formats_exif_orientation(bytes, n) <= FORMATS_BAD_ORIENTATION);
    if (n) memcpy(copy, bytes, n);
    must(formats_exif_make_upright(copy, n) <= n);
    free(copy);
    for (unsigned at = 8; at <= 16; at += 8) { /* the first directory of a TIFF, of a BigTIFF */
        formats_buffer_clear(&b), formats_buffer_clear(&again);
        formats_tiff_exif(bytes, n, at, &b);
        must(b.status == TAPER_OK || b.status == TAPER_ERR_LIMIT);
        if (b.status != TAPER_OK || !b.size) continue;
        must(formats_exif_orientation(b.data, b.size) == FORMATS_NO_ORIENTATION);
        formats_tiff_exif(b.data, b.size, 8, &again);
        must(again.size <= b.size && again.size > 8);
    }
    formats_buffer_free(&b), formats_buffer_free(&again);
}

/* A copy of a PNG whose chunks have right checksums. */
static uint8_t *mended(const uint8_t *bytes, size_t n) {
    uint8_t *copy = malloc(n + 1);
    formats_piece c;
    must(copy != NULL);
    if (n) memcpy(copy, bytes, n);
    formats_walk w = formats_walk_png(copy, n);
    while (formats_next_chunk(&w, &c)) {
        uint8_t *at = copy + (c.at - copy);
        formats_set_u32be(at + c.size, (uint32_t)crc32(0, at - 4, (uInt)c.size + 4));
    }
    return copy;
}

/* What was read and settled is written, and read again as it was. */
static void try_payloads(const uint8_t *bytes, size_t n, int is_png) {
    formats_metadata m, again;
    formats_buffer file = formats_buffer_make(1 << 26);
    uint8_t *copy = mended(bytes, is_png ? n : 0);
    must((is_png ? formats_png_metadata(copy, n, &m, NULL)
                 : formats_jpeg_metadata(bytes, n, &m, NULL)) == TAPER_OK);
    const unsigned channels = 1 + n % 4;
    formats_metadata_settle(&m, channels);
    must(formats_exif_orientation(m.exif.bytes, m.exif.size) != 6 || !m.exif.size);
    formats_write_bytes(&file, is_png ? "\x89PNG\r\n\x1a\n" : "\xff\xd8", is_png ? 8 : 2);
    unsigned left = 0;
    if (is_png)
        must(formats_png_chunks(&m, channels, &file) == TAPER_OK);
    else
        left = formats_jpeg_segments(&m, channels, &file);
    must((is_png ? formats_png_metadata(file.data, file.size, &again, NULL)
                 : formats_jpeg_metadata(file.data, file.size, &again, NULL)) == TAPER_OK);
    must(left || (again.icc.size == m.icc.size && again.xmp.size == m.xmp.size &&
                  again.exif.size == m.exif.size && again.gamma == m.gamma));
    formats_metadata_keep_look(&m);
    formats_metadata_free(&m), formats_metadata_free(&again), formats_buffer_free(&file);
    free(copy);
}

/* One orientation that is 1 to 8, whatever the file. */
static void try_file(const uint8_t *bytes, size_t n, int is_png) {
    formats_orientation o;
    if (is_png)
        must(formats_png_orientation(bytes, n, &o, NULL) == TAPER_OK);
    else
        o = formats_jpeg_orientation(bytes, n);
    const unsigned losses = is_png ? formats_png_losses(bytes, n) : formats_jpeg_losses(bytes, n);
    const int profile =
        is_png ? formats_png_has_profile(bytes, n) : formats_jpeg_has_profile(bytes, n);
    must(o.how >= 1 && o.how <= 8 && o.is_uncertain <= 1);
    must((losses & ~(unsigned)LOST) == 0 && (profile == 0 || profile == 1));
    must((is_png ? formats_png_end(bytes, n) : formats_jpeg_end(bytes, n)) <= n);
    must(!is_png || formats_png_data_end(bytes, n) <= n);
    try_payloads(bytes, n, is_png);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static const char types[3][4] = {"tEXt", "zTXt", "iTXt"};
    if (n < 1) return 0;
    const uint8_t how = *bytes++ & 15;
    n--;
    switch (how) {
    case 0: must(formats_xmp_orientation(bytes, n) <= FORMATS_BAD_ORIENTATION); break;
    case 1: try_exif(bytes, n); break;
    case 2: must((unsigned)formats_icc_is_srgb(bytes, n) <= 1); break;
    case 3: try_raw_profile(bytes, n); break;
    case 4: try_file(bytes, n, 0); break;
    case 5: try_file(bytes, n, 1); break;
    default: try_text(types[how % 3], bytes, n, how < 9 ? ROOM : 1);
    }
    return 0;
}
