/* fuzz_metadata.c -- any bytes as what image files say beside their pixels. The first byte says as
 * what: XMP, EXIF, an ICC profile, the data of a PNG's text chunk, a raw profile, a JPEG's
 * segments or a PNG's chunks. What is said must lie in its range. */
#include "formats/metadata/exif.h"
#include "formats/metadata/icc.h"
#include "formats/metadata/metadata.h"
#include "formats/metadata/png_text.h"
#include "formats/metadata/xmp.h"
#include <stdlib.h>
#include <string.h>

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
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static const char types[3][4] = {"tEXt", "zTXt", "iTXt"};
    if (n < 1) return 0;
    const uint8_t how = *bytes++ & 15;
    n--;
    switch (how) {
    case 0: must(formats_xmp_orientation(bytes, n) <= FORMATS_BAD_ORIENTATION); break;
    case 1: must(formats_exif_orientation(bytes, n) <= FORMATS_BAD_ORIENTATION); break;
    case 2: must((unsigned)formats_icc_is_srgb(bytes, n) <= 1); break;
    case 3: try_raw_profile(bytes, n); break;
    case 4: try_file(bytes, n, 0); break;
    case 5: try_file(bytes, n, 1); break;
    default: try_text(types[how % 3], bytes, n, how < 9 ? ROOM : 1);
    }
    return 0;
}
