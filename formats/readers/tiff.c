/* tiff.c -- TIFF by libtiff, its pages and its profile.
 *
 * Grey, RGB and CMYK of 8 and 16 bits are read sample by sample; all other kinds (palettes, fax,
 * JPEG in TIFF, Lab) as the 8-bit RGB that libtiff makes of them. */
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/late/srgb.h"
#include "formats/metadata/tiff_exif.h"
#include "formats/readers/reader.h"
#include "formats/readers/samples.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LATE_LIBRARY
#include <tiffio.h>

/* TIFFOpenOptions came with this version. */
#if TIFFLIB_VERSION < 20221213
#undef LATE_LIBRARY
#endif
#endif

#ifdef LATE_LIBRARY
/* clang-format off */
#define FUNCTIONS(ONE) ONE(TIFFClientOpenExt) ONE(TIFFClose) ONE(TIFFOpenOptionsAlloc) \
    ONE(TIFFOpenOptionsFree) ONE(TIFFOpenOptionsSetMaxSingleMemAlloc) \
    ONE(TIFFOpenOptionsSetErrorHandlerExtR) ONE(TIFFOpenOptionsSetWarningHandlerExtR) \
    ONE(TIFFGetField) ONE(TIFFGetFieldDefaulted) ONE(TIFFSetSubDirectory) ONE(TIFFIsTiled) \
    ONE(TIFFScanlineSize64) ONE(TIFFReadScanline) ONE(TIFFTileSize64) ONE(TIFFReadTile) \
    ONE(TIFFReadRGBAImageOriented)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);
static const formats_late_library *const libraries[] = {&lib_library, NULL};

/* MOST_PAGES: pages that are found. RGBA_BYTES: a pixel, in libtiff and in the image. */
enum { MOST_PAGES = 65535, RGBA_BYTES = 16 };

typedef struct tiff_state {
    formats_cursor input; /* all bytes; `at` is the position of libtiff */
    TIFF *file;
    uint64_t *page; /* [frames] offsets of directories */
    char why[160];  /* the first error of libtiff */
} tiff_state;

/* --- the file as libtiff reads it --- */

static tmsize_t input_read(thandle_t user, void *to, tmsize_t n) {
    formats_cursor *c = &((tiff_state *)user)->input;
    const size_t left = c->size - c->at;
    const size_t take = n > 0 && (size_t)n < left ? (size_t)n : n > 0 ? left : 0;
    memcpy(to, c->bytes + c->at, take);
    c->at += take;
    return (tmsize_t)take;
}

static tmsize_t input_write(thandle_t user, void *from, tmsize_t n) {
    (void)user, (void)from, (void)n;
    return -1;
}

static toff_t input_seek(thandle_t user, toff_t offset, int whence) {
    formats_cursor *c = &((tiff_state *)user)->input;
    const toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? c->at : c->size;
    const toff_t at = base + offset; /* unsigned: a negative offset wraps to the right place */
    c->at = at < c->size ? (size_t)at : c->size;
    return at;
}

static int input_close(thandle_t user) {
    (void)user;
    return 0;
}

static toff_t input_size(thandle_t user) { return ((tiff_state *)user)->input.size; }

static int on_error(TIFF *file, void *user, const char *module, const char *format, va_list list) {
    tiff_state *s = user;
    (void)file, (void)module;
    if (!s->why[0]) vsnprintf(s->why, sizeof s->why, format, list);
    return 1;
}

static int on_warning(TIFF *file, void *user, const char *module, const char *format,
                      va_list list) {
    (void)file, (void)user, (void)module, (void)format, (void)list;
    return 1;
}

static taper_status fail_damaged(const tiff_state *s, taper_error *error) {
    if (!s->why[0])
        return formats_fail(error, TAPER_ERR_CORRUPT, "the TIFF is damaged; fetch it anew");
    return formats_fail(error, TAPER_ERR_CORRUPT, "the TIFF is damaged (%s); fetch it anew",
                        s->why);
}

/* --- pages --- */

/* Numbers in the byte order of the file, at an offset; 0 beyond the end. */
static uint64_t number(const formats_picture *p, uint64_t at, unsigned bytes) {
    const int is_big = p->bytes[0] == 'M';
    uint64_t value = 0;
    if (at > p->size || p->size - at < bytes) return 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p->bytes[at + i] << 8 * (is_big ? bytes - 1 - i : i);
    return value;
}

/* The offset of the entry of a tag, in the first `most` of a directory; 0: there is none. */
static uint64_t find_entry(const formats_picture *p, uint64_t directory, uint64_t tag,
                           uint64_t most) {
    const int is_large = number(p, 2, 2) == 43; /* BigTIFF */
    const unsigned head = is_large ? 8 : 2, step = is_large ? 20 : 12;
    const uint64_t entries = number(p, directory, head);
    uint64_t at = directory + head;
    for (uint64_t i = 0; i < entries && i < most && at <= p->size && step <= p->size - at;
         i++, at += step)
        if (number(p, at, 2) == tag) return at;
    return 0;
}

/* 1 if a directory is a smaller version of another (NewSubfileType, among the lowest tags). */
static int is_reduced(const formats_picture *p, uint64_t directory) {
    enum { REDUCED = 1, LOWEST = 8 };
    const uint64_t entry = find_entry(p, directory, TIFFTAG_SUBFILETYPE, LOWEST);
    return entry && (number(p, entry + (number(p, 2, 2) == 43 ? 12 : 8), 4) & REDUCED);
}

/* The chain of directories, which libtiff would keep in memory, into s->page: their number. A chain
 * that leads back to itself ends there: each directory is met once. */
static size_t follow_chain(const formats_picture *p, uint64_t *page) {
    const int is_large = number(p, 2, 2) == 43; /* BigTIFF */
    const unsigned head = is_large ? 8 : 2, step = is_large ? 20 : 12, link = is_large ? 8 : 4;
    uint64_t at = number(p, is_large ? 8 : 4, link);
    size_t n = 0, marked = 0, once = 0;
    for (; at && at < p->size && n < MOST_PAGES; n++) {
        if (n && at == page[marked]) break;
        if (!(n & (n - 1))) marked = n; /* 0, 1, 2, 4, 8: a loop meets one of them again */
        page[n] = at;
        const uint64_t entries = number(p, at, head);
        if (entries > p->size / step) at = 0;
        if (at) at = number(p, at + head + entries * step, link);
    }
    if (!n || at != page[marked]) return n;
    const size_t loop = n - marked;
    while (once + loop < n && page[once] != page[once + loop]) once++;
    return once + loop;
}

/* The first directory is a page in any case; others, unless they are empty, or previews. */
static taper_status find_pages(formats_picture *p, taper_error *error) {
    tiff_state *s = p->state;
    const unsigned head = number(p, 2, 2) == 43 ? 8 : 2;
    s->page = malloc(MOST_PAGES * sizeof *s->page);
    if (!s->page) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to list pages");
    const size_t n = follow_chain(p, s->page);
    size_t pages = n > 0;
    for (size_t i = 1; i < n; i++) {
        const uint64_t at = s->page[i];
        if (number(p, at, head) && !is_reduced(p, at)) s->page[pages++] = at;
    }
    if (!pages) return fail_damaged(s, error);
    uint64_t *fewer = realloc(s->page, pages * sizeof *s->page);
    if (fewer) s->page = fewer;
    p->frames = (uint32_t)pages;
    return TAPER_OK;
}

static taper_status tiff_open(formats_picture *p, taper_error *error) {
    tiff_state *s = p->state = calloc(1, sizeof *s);
    TIFFOpenOptions *how = lib.TIFFOpenOptionsAlloc();
    if (!s || !how) {
        if (how) lib.TIFFOpenOptionsFree(how);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode a TIFF");
    }
    s->input = formats_cursor_over(p->bytes, p->size);
    const uint64_t most = p->limits.max_memory;
    lib.TIFFOpenOptionsSetMaxSingleMemAlloc(how,
                                            (tmsize_t)(most < PTRDIFF_MAX ? most : PTRDIFF_MAX));
    lib.TIFFOpenOptionsSetErrorHandlerExtR(how, on_error, s);
    lib.TIFFOpenOptionsSetWarningHandlerExtR(how, on_warning, s);
    s->file = lib.TIFFClientOpenExt("TIFF", "rm", s, input_read, input_write, input_seek,
                                    input_close, input_size, NULL, NULL, how);
    lib.TIFFOpenOptionsFree(how);
    if (!s->file) return fail_damaged(s, error);
    return find_pages(p, error);
}

/* --- samples --- */

typedef struct layout {
    uint32_t width, height;
    uint16_t bits, samples, photometric, planes, format, extras, orientation;
    int alpha; /* EXTRASAMPLE_* of the first extra sample; 0: none, or of no meaning */
} layout;

static layout read_layout(TIFF *file) {
    layout l = {.photometric = UINT16_MAX, .orientation = ORIENTATION_TOPLEFT};
    uint16_t *kinds = NULL;
    lib.TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &l.width);
    lib.TIFFGetField(file, TIFFTAG_IMAGELENGTH, &l.height);
    lib.TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &l.photometric);
    lib.TIFFGetField(file, TIFFTAG_ORIENTATION, &l.orientation);
    lib.TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &l.bits);
    lib.TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLESPERPIXEL, &l.samples);
    lib.TIFFGetFieldDefaulted(file, TIFFTAG_PLANARCONFIG, &l.planes);
    lib.TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLEFORMAT, &l.format);
    if (lib.TIFFGetField(file, TIFFTAG_EXTRASAMPLES, &l.extras, &kinds) && l.extras && kinds)
        l.alpha = kinds[0];
    return l;
}

/* Colours of a kind that is read sample by sample; 0: another kind. */
static unsigned colours_of(const layout *l) {
    const int is_grey =
        l->photometric == PHOTOMETRIC_MINISBLACK || l->photometric == PHOTOMETRIC_MINISWHITE;
    const unsigned colours = is_grey                                   ? 1
                             : l->photometric == PHOTOMETRIC_RGB       ? 3
                             : l->photometric == PHOTOMETRIC_SEPARATED ? 4
                                                                       : 0;
    const int is_plain = (l->bits == 8 || l->bits == 16) &&
                         (l->format == SAMPLEFORMAT_UINT || l->format == SAMPLEFORMAT_VOID);
    return is_plain && l->samples >= colours ? colours : 0;
}

/* Copy n pixels of a row: `from` has `has` samples each, of which the first `wants` are used; `to`
 * has `step` samples each. */
static void copy_row(uint8_t *to, size_t step, const uint8_t *from, size_t has, size_t wants,
                     size_t n, size_t bytes) {
    for (size_t x = 0; x < n; x++)
        for (size_t k = 0; k < wants * bytes; k++)
            to[x * step * bytes + k] = from[x * has * bytes + k];
}

/* Rows of strips, one plane or all samples: `to` is the first sample of the image for it. */
static int read_rows(TIFF *file, const layout *l, const taper_image *image, uint8_t *to,
                     uint16_t plane, size_t wants, uint8_t *row) {
    const size_t bytes = image->depth / 8u,
                 has = l->planes == PLANARCONFIG_SEPARATE ? 1 : l->samples;
    for (uint32_t y = 0; y < l->height; y++) {
        if (lib.TIFFReadScanline(file, row, y, plane) < 0) return 0;
        copy_row(to + (size_t)y * image->width * image->channels * bytes, image->channels, row, has,
                 wants, image->width, bytes);
    }
    return 1;
}

static int read_tiles(TIFF *file, const layout *l, const taper_image *image, uint8_t *to,
                      uint16_t plane, size_t wants, uint8_t *tile) {
    const size_t bytes = image->depth / 8u,
                 has = l->planes == PLANARCONFIG_SEPARATE ? 1 : l->samples;
    uint32_t wide = 0, high = 0;
    lib.TIFFGetField(file, TIFFTAG_TILEWIDTH, &wide);
    lib.TIFFGetField(file, TIFFTAG_TILELENGTH, &high);
    if (!wide || !high) return 0;
    for (uint64_t top = 0; top < l->height; top += high)
        for (uint64_t left = 0; left < l->width; left += wide) {
            if (lib.TIFFReadTile(file, tile, (uint32_t)left, (uint32_t)top, 0, plane) < 0) return 0;
            const size_t n = formats_smaller(wide, l->width - left);
            const size_t rows = formats_smaller(high, l->height - top);
            for (size_t y = 0; y < rows; y++)
                copy_row(to + ((top + y) * image->width + left) * image->channels * bytes,
                         image->channels, tile + y * wide * has * bytes, has, wants, n, bytes);
        }
    return 1;
}

static int read_plane(TIFF *file, const layout *l, const taper_image *image, uint8_t *to,
                      uint16_t plane, size_t wants, uint8_t *piece) {
    return (lib.TIFFIsTiled(file) ? read_tiles : read_rows)(file, l, image, to, plane, wants,
                                                            piece);
}

static void invert(taper_image *image, size_t colours) {
    const size_t pixels = (size_t)image->width * image->height, n = image->channels;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < colours; c++) {
            if (image->depth == 8)
                ((uint8_t *)image->pixels)[i * n + c] ^= 255;
            else
                ((uint16_t *)image->pixels)[i * n + c] ^= 65535;
        }
}

/* Bytes of the buffer for a row or tile, as libtiff fills it; 0: the file is damaged. */
static size_t piece_bytes(TIFF *file, const layout *l) {
    const uint64_t bytes =
        lib.TIFFIsTiled(file) ? lib.TIFFTileSize64(file) : lib.TIFFScanlineSize64(file);
    const size_t has = l->planes == PLANARCONFIG_SEPARATE ? 1 : l->samples;
    uint32_t wide = l->width, high = 1;
    if (lib.TIFFIsTiled(file)) {
        lib.TIFFGetField(file, TIFFTAG_TILEWIDTH, &wide);
        lib.TIFFGetField(file, TIFFTAG_TILELENGTH, &high);
    }
    uint64_t least = (uint64_t)wide * high;
    if (formats_mul_u64(least, has * (l->bits / 8u), &least) != TAPER_OK) return 0;
    return bytes >= least && bytes < PTRDIFF_MAX ? (size_t)bytes : 0;
}

static taper_status read_samples(const formats_picture *p, const layout *l, unsigned channels,
                                 taper_image *out, taper_error *error) {
    tiff_state *s = p->state;
    const size_t bytes = piece_bytes(s->file, l);
    const int is_apart = l->planes == PLANARCONFIG_SEPARATE;
    int whole = 1;
    if (!bytes) return fail_damaged(s, error);
    if (bytes > p->limits.max_memory)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                 formats_memory_needed(&p->limits, bytes),
                                 "a tile of the TIFF takes %zu bytes, more than the limit of %llu",
                                 bytes, (unsigned long long)p->limits.max_memory);
    TAPER_TRY(formats_image_make(out, l->width, l->height, channels, l->bits, &p->limits, error));
    uint8_t *piece = malloc(bytes);
    if (!piece) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode a TIFF");
    for (unsigned c = 0; whole && c < (is_apart ? channels : 1); c++)
        whole = read_plane(s->file, l, out, (uint8_t *)out->pixels + c * (l->bits / 8u),
                           (uint16_t)c, is_apart ? 1 : channels, piece);
    free(piece);
    return whole ? TAPER_OK : fail_damaged(s, error);
}

/* --- kinds --- */

static taper_status read_plain(const formats_picture *p, const layout *l, unsigned colours,
                               const formats_metadata *metadata, taper_image *out,
                               taper_error *error) {
    const int has_alpha = colours < 4 && l->samples > colours && l->alpha;
    TAPER_TRY(read_samples(p, l, colours + (unsigned)has_alpha, out, error));
    if (l->photometric == PHOTOMETRIC_MINISWHITE) invert(out, 1);
    if (has_alpha && l->alpha == EXTRASAMPLE_ASSOCALPHA) formats_samples_unpremultiply(out);
    if (colours < 4) return TAPER_OK;
    return formats_cmyk_to_srgb(out, 0, metadata->icc.bytes, metadata->icc.size, error);
}

/* libtiff gives a pixel as a number: red in the lowest byte, colours multiplied by alpha. */
static taper_status read_rgba(const formats_picture *p, const layout *l, taper_image *out,
                              taper_error *error) {
    tiff_state *s = p->state;
    TAPER_TRY(formats_image_check(l->width, l->height, 4, 8, &p->limits, NULL, error));
    TAPER_TRY(formats_samples_check_room(l->width, l->height, RGBA_BYTES, &p->limits, error));
    const size_t pixels = (size_t)l->width * l->height;
    uint32_t *raster = malloc(pixels * sizeof *raster);
    if (!raster) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode a TIFF");
    /* in the order of the file: libtiff turns only by mirrors */
    const int whole =
        lib.TIFFReadRGBAImageOriented(s->file, l->width, l->height, raster, l->orientation, 1);
    taper_status status =
        whole ? formats_image_make(out, l->width, l->height, 4, 8, &p->limits, error)
              : formats_fail(error, TAPER_ERR_UNSUPPORTED,
                             "the TIFF is damaged, or of a kind that is not read "
                             "(%s)",
                             s->why[0] ? s->why : "libtiff does not say which");
    for (size_t i = 0; status == TAPER_OK && i < pixels; i++)
        for (size_t c = 0; c < 4; c++)
            ((uint8_t *)out->pixels)[4 * i + c] = (uint8_t)(raster[i] >> 8 * c);
    free(raster);
    TAPER_TRY(status);
    if (l->photometric == PHOTOMETRIC_MINISBLACK || l->photometric == PHOTOMETRIC_MINISWHITE)
        formats_samples_keep_grey(out);
    formats_samples_unpremultiply(out);
    return TAPER_OK;
}

/* A payload of a tag of its own; one that libtiff cannot read is noted. */
static taper_status take_payload(const formats_picture *p, uint64_t page, uint32_t tag,
                                 unsigned kind, formats_metadata *m, taper_error *error) {
    const tiff_state *s = p->state;
    uint32_t n = 0;
    void *bytes = NULL;
    if (lib.TIFFGetField(s->file, tag, &n, &bytes))
        return formats_samples_take(m, kind, bytes, n, error);
    if (find_entry(p, page, tag, UINT16_MAX)) m->left_out |= (uint8_t)kind;
    return TAPER_OK;
}

static taper_status take_exif(const formats_picture *p, uint64_t page, formats_metadata *m,
                              taper_error *error) {
    formats_buffer exif = formats_buffer_make(FORMATS_MOST_BLOB);
    taper_status status = TAPER_OK;
    formats_tiff_exif(p->bytes, p->size, page, &exif);
    if (exif.status == TAPER_ERR_NOMEM)
        status = formats_fail(error, exif.status, "no memory for metadata");
    else if (exif.status != TAPER_OK)
        m->left_out |= FORMATS_LEFT_EXIF;
    else
        status = formats_samples_take(m, FORMATS_LEFT_EXIF, exif.data, exif.size, error);
    formats_buffer_free(&exif);
    return status;
}

static taper_status take_metadata(const formats_picture *p, uint64_t page, formats_metadata *m,
                                  taper_error *error) {
    TIFF *file = ((const tiff_state *)p->state)->file;
    uint16_t unit = RESUNIT_INCH;
    float x = 0, y = 0;
    TAPER_TRY(take_payload(p, page, TIFFTAG_ICCPROFILE, FORMATS_LEFT_ICC, m, error));
    TAPER_TRY(take_payload(p, page, TIFFTAG_XMLPACKET, FORMATS_LEFT_XMP, m, error));
    TAPER_TRY(take_exif(p, page, m, error));
    lib.TIFFGetFieldDefaulted(file, TIFFTAG_RESOLUTIONUNIT, &unit);
    if (!lib.TIFFGetField(file, TIFFTAG_XRESOLUTION, &x) ||
        !lib.TIFFGetField(file, TIFFTAG_YRESOLUTION, &y) || unit == RESUNIT_NONE)
        return TAPER_OK;
    const double to_metre = unit == RESUNIT_CENTIMETER ? 100 : 1 / 0.0254;
    if (!(x > 0 && y > 0 && x * to_metre < 1e9 && y * to_metre < 1e9)) return TAPER_OK;
    m->density_x = (uint32_t)(x * to_metre + 0.5), m->density_y = (uint32_t)(y * to_metre + 0.5);
    m->density_unit = 1;
    return TAPER_OK;
}

static taper_status tiff_read(formats_picture *p, uint32_t frame, taper_image *out,
                              formats_metadata *metadata, taper_error *error) {
    tiff_state *s = p->state;
    s->why[0] = 0;
    if (!lib.TIFFSetSubDirectory(s->file, s->page[frame])) return fail_damaged(s, error);
    const layout l = read_layout(s->file);
    const unsigned colours = colours_of(&l);
    TAPER_TRY(formats_image_check(l.width, l.height, colours ? colours : 4, l.bits == 16 ? 16 : 8,
                                  &p->limits, NULL, error));
    TAPER_TRY(take_metadata(p, s->page[frame], metadata, error));
    TAPER_TRY(colours ? read_plain(p, &l, colours, metadata, out, error)
                      : read_rgba(p, &l, out, error));
    if (colours == 4) { /* the profile was that of CMYK: the image is sRGB */
        free(metadata->icc.bytes);
        metadata->icc = (formats_blob){0};
    }
    return formats_image_orient(out, l.orientation, &p->limits, error);
}

static void tiff_close(formats_picture *p) {
    tiff_state *s = p->state;
    if (!s) return;
    if (s->file) lib.TIFFClose(s->file);
    free(s->page);
    free(s);
}
#endif

const formats_reader formats_tiff_reader = {
    .name = "TIFF",
    .package = "libtiff-dev",
#ifdef LATE_LIBRARY
    .libraries = libraries,
    .open = tiff_open,
    .read = tiff_read,
    .close = tiff_close,
#endif
};
