/* tiff_writer.c -- TIFF by libtiff: deflated rows with differences; see writer.h. */
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/late/late_library.h"
#include "formats/writers/writer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LATE_LIBRARY
#include <tiffio.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(TIFFClientOpen) ONE(TIFFClose) ONE(TIFFSetField) \
    ONE(TIFFWriteScanline) ONE(TIFFSetErrorHandler) ONE(TIFFSetWarningHandler)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);

enum { STRIP_BYTES = 1 << 18 };
static const double METRES_A_CENTIMETRE = 0.01;

/* The file while libtiff writes it. */
typedef struct tiff_file {
    uint8_t *bytes;
    size_t size, room, at;
    int has_failed;
} tiff_file;

static tmsize_t file_read(thandle_t user, void *to, tmsize_t n) {
    tiff_file *f = user;
    const size_t left = f->size > f->at ? f->size - f->at : 0;
    const size_t take = (size_t)n < left ? (size_t)n : left;
    memcpy(to, f->bytes + f->at, take);
    f->at += take;
    return (tmsize_t)take;
}

static tmsize_t file_write(thandle_t user, void *from, tmsize_t n) {
    tiff_file *f = user;
    const size_t end = f->at + (size_t)n;
    while (end > f->room && !f->has_failed)
        f->has_failed = !formats_grow(&f->bytes, f->room, &f->room, 1);
    if (f->has_failed) return -1;
    if (f->at > f->size) memset(f->bytes + f->size, 0, f->at - f->size);
    memcpy(f->bytes + f->at, from, (size_t)n);
    f->at = end;
    if (end > f->size) f->size = end;
    return n;
}

static toff_t file_seek(thandle_t user, toff_t offset, int whence) {
    tiff_file *f = user;
    f->at = (size_t)offset + (whence == SEEK_CUR ? f->at : whence == SEEK_END ? f->size : 0);
    return f->at;
}

static toff_t file_size(thandle_t user) { return ((tiff_file *)user)->size; }
static int file_close(thandle_t user) {
    (void)user;
    return 0;
}

/* Behind all that the file refers to, where own_mark.h looks for it. libtiff would order it by the
 * number of its tag. */
static void put_program(tiff_file *f, const char *program) {
    char text[64];
    f->at = f->size;
    const int n = snprintf(text, sizeof text, "%s\n", program);
    file_write(f, text, n);
}

static int set_kind(TIFF *t, const taper_image *image) {
    const int has_alpha = formats_image_has_alpha(image);
    const uint16_t extra = EXTRASAMPLE_UNASSALPHA;
    const size_t row = (size_t)image->width * image->channels * (image->depth / 8u);
    const uint32_t rows = row < STRIP_BYTES ? (uint32_t)(STRIP_BYTES / row) : 1;
    return lib.TIFFSetField(t, TIFFTAG_IMAGEWIDTH, image->width) &&
           lib.TIFFSetField(t, TIFFTAG_IMAGELENGTH, image->height) &&
           lib.TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, (int)image->channels) &&
           lib.TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, (int)image->depth) &&
           lib.TIFFSetField(t, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT) &&
           lib.TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
           lib.TIFFSetField(t, TIFFTAG_PHOTOMETRIC,
                            image->channels < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB) &&
           (!has_alpha || lib.TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &extra)) &&
           lib.TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE) &&
           lib.TIFFSetField(t, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL) &&
           lib.TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, rows);
}

static int set_metadata(TIFF *t, const formats_write_options *options) {
    const formats_metadata *m = options->metadata;
    if (!m) return 1;
    const int has_density = m->density_x && m->density_y;
    const double scale = m->density_unit ? METRES_A_CENTIMETRE : 1;
    return (!m->icc.size ||
            lib.TIFFSetField(t, TIFFTAG_ICCPROFILE, (uint32_t)m->icc.size, m->icc.bytes)) &&
           (!m->xmp.size ||
            lib.TIFFSetField(t, TIFFTAG_XMLPACKET, (uint32_t)m->xmp.size, m->xmp.bytes)) &&
           (!has_density ||
            (lib.TIFFSetField(t, TIFFTAG_XRESOLUTION, m->density_x * scale) &&
             lib.TIFFSetField(t, TIFFTAG_YRESOLUTION, m->density_y * scale) &&
             lib.TIFFSetField(t, TIFFTAG_RESOLUTIONUNIT,
                              m->density_unit ? RESUNIT_CENTIMETER : RESUNIT_NONE)));
}

static int write_rows(TIFF *t, const taper_image *image) {
    const size_t row = (size_t)image->width * image->channels * (image->depth / 8u);
    uint8_t *copy = malloc(row); /* libtiff changes the row that it is given */
    int done = copy != NULL;
    for (uint32_t y = 0; y < image->height && done; y++) {
        memcpy(copy, (const uint8_t *)image->pixels + y * row, row);
        done = lib.TIFFWriteScanline(t, copy, y, 0) >= 0;
    }
    free(copy);
    return done;
}

taper_status formats_write_tiff(const formats_write_options *options, const taper_image *image,
                                uint8_t **out, size_t *n, taper_error *error) {
    TAPER_TRY(formats_late_library_load(&lib_library, error));
    tiff_file file = {.bytes = NULL};
    TIFF *t = lib.TIFFClientOpen("taper", "wm", &file, file_read, file_write, file_seek, file_close,
                                 file_size, NULL, NULL);
    const int done = t && set_kind(t, image) && set_metadata(t, options) && write_rows(t, image);
    if (t) lib.TIFFClose(t);
    if (done && options->program) put_program(&file, options->program);
    if (done && !file.has_failed) {
        *out = file.bytes, *n = file.size;
        return TAPER_OK;
    }
    free(file.bytes);
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to encode a TIFF");
}

#else
taper_status formats_write_tiff(const formats_write_options *options, const taper_image *image,
                                uint8_t **out, size_t *n, taper_error *error) {
    (void)options, (void)image, (void)out, (void)n;
    return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                        "TIFF is not written: taper was built without libtiff-dev");
}
#endif
