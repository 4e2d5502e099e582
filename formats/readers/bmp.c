/* bmp.c -- BMP, without a library: 1, 4, 8, 16, 24 and 32 bits, palettes, masks, run lengths, rows
 * from the bottom or the top.
 *
 * Source: the structures BITMAPFILEHEADER, BITMAPCOREHEADER, BITMAPINFOHEADER, BITMAPV5HEADER in
 * https://learn.microsoft.com/windows/win32/gdi/bitmap-storage. */
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/readers/reader.h"
#include "formats/readers/samples.h"
#include <stdlib.h>
#include <string.h>

enum { FILE_HEADER = 14, OLD_HEADER = 12, INFO_HEADER = 40, MASKS_HEADER = 52, ALPHA_HEADER = 56 };
enum { PLAIN = 0, RUNS_OF_8 = 1, RUNS_OF_4 = 2, MASKS = 3, MASKS_AND_ALPHA = 6 };

typedef struct bmp_header {
    uint32_t width, height;
    int is_top_down;
    unsigned bits, compression;
    uint32_t mask[4];  /* red, green, blue, alpha of 16 and 32 bits */
    uint32_t colours;  /* entries of the palette */
    size_t palette_at; /* offset, and bytes of an entry: blue, green, red */
    size_t entry_bytes;
    size_t pixels_at;
} bmp_header;

static taper_status fail_early(taper_error *error) {
    return formats_fail(error, TAPER_ERR_TRUNCATED, "the BMP ends early; fetch it anew");
}

/* --- header --- */

static void read_masks(const formats_picture *p, size_t header, bmp_header *h) {
    const uint8_t *at = p->bytes + FILE_HEADER + INFO_HEADER;
    const int has_masks = h->compression == MASKS || h->compression == MASKS_AND_ALPHA;
    const uint32_t usual[2][3] = {{0x7C00, 0x3E0, 0x1F}, {0xFF0000, 0xFF00, 0xFF}};
    for (int c = 0; c < 3; c++)
        h->mask[c] = has_masks ? formats_get_u32le(at + 4 * (size_t)c) : usual[h->bits == 32][c];
    if (has_masks && (header >= ALPHA_HEADER || h->compression == MASKS_AND_ALPHA))
        h->mask[3] = formats_get_u32le(at + 12);
}

/* The palette, and what compression a number of bits can have. */
static taper_status check_kind(const formats_picture *p, size_t header, bmp_header *h,
                               taper_error *error) {
    const unsigned b = h->bits, c = h->compression;
    const int is_indexed = b == 1 || b == 4 || b == 8;
    const int is_legal = (c == PLAIN && (is_indexed || b == 16 || b == 24 || b == 32)) ||
                         (c == RUNS_OF_8 && b == 8 && !h->is_top_down) ||
                         (c == RUNS_OF_4 && b == 4 && !h->is_top_down) ||
                         ((c == MASKS || c == MASKS_AND_ALPHA) && (b == 16 || b == 32));
    size_t masks = 0;
    if (!is_legal)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "this kind of BMP is not read (%u bits, compression %u); convert it "
                            "to PNG",
                            b, c);
    if (header == INFO_HEADER && c == MASKS) masks = 12;
    if (header == INFO_HEADER && c == MASKS_AND_ALPHA) masks = 16;
    if (p->size < FILE_HEADER + header + masks) return fail_early(error);
    if (b == 16 || b == 32) read_masks(p, header, h);
    h->palette_at = FILE_HEADER + header + masks;
    h->entry_bytes = header == OLD_HEADER ? 3 : 4;
    if (!is_indexed) return TAPER_OK;
    if (!h->colours || h->colours > 1u << b) h->colours = 1u << b;
    /* a palette that is cut short by the pixels, as some programs write it */
    const size_t there = h->pixels_at > h->palette_at ? h->pixels_at - h->palette_at : 0;
    if (h->colours > there / h->entry_bytes) h->colours = (uint32_t)(there / h->entry_bytes);
    if (h->palette_at + h->colours * h->entry_bytes > p->size) return fail_early(error);
    return TAPER_OK;
}

static taper_status read_header(const formats_picture *p, bmp_header *h, taper_error *error) {
    *h = (bmp_header){0};
    if (p->size < FILE_HEADER + OLD_HEADER) return fail_early(error);
    const size_t header = formats_get_u32le(p->bytes + FILE_HEADER);
    const uint8_t *at = p->bytes + FILE_HEADER;
    if (p->size - FILE_HEADER < header) return fail_early(error);
    h->pixels_at = formats_get_u32le(p->bytes + 10);
    if (header == OLD_HEADER) {
        h->width = formats_get_u16le(at + 4);
        h->height = formats_get_u16le(at + 6);
        h->bits = formats_get_u16le(at + 10);
    } else {
        if (header < INFO_HEADER)
            return formats_fail(error, TAPER_ERR_CORRUPT, "the BMP has no known header");
        const uint32_t height = formats_get_u32le(at + 8);
        h->width = formats_get_u32le(at + 4);
        h->is_top_down = height >> 31;
        h->height = h->is_top_down ? 0 - height : height;
        h->bits = formats_get_u16le(at + 14);
        h->compression = formats_get_u32le(at + 16);
        h->colours = formats_get_u32le(at + 32);
        if (h->width >> 31) h->width = 0; /* it is signed */
    }
    TAPER_TRY(formats_image_check(h->width, h->height, 4, 8, &p->limits, NULL, error));
    TAPER_TRY(check_kind(p, header, h, error));
    return h->pixels_at <= p->size ? TAPER_OK : fail_early(error);
}

/* --- pixels --- */

/* A colour of the palette; indices beyond it are black. */
static void put_index(const formats_picture *p, const bmp_header *h, unsigned index, uint8_t *to) {
    static const uint8_t black[3] = {0};
    const uint8_t *from =
        index < h->colours ? p->bytes + h->palette_at + index * h->entry_bytes : black;
    to[0] = from[2], to[1] = from[1], to[2] = from[0];
}

/* The bits of a mask as 0..255; without a mask 0. */
static uint8_t masked(uint32_t value, uint32_t mask) {
    unsigned shift = 0;
    if (!mask) return 0;
    while (!(mask >> shift & 1)) shift++;
    const uint64_t most = mask >> shift, part = (value & mask) >> shift;
    return (uint8_t)((part * 255 + most / 2) / most);
}

static void put_row(const formats_picture *p, const bmp_header *h, const uint8_t *row,
                    unsigned channels, uint8_t *to) {
    for (uint32_t x = 0; x < h->width; x++, to += channels) {
        if (h->bits <= 8) {
            const size_t bit = (size_t)x * h->bits;
            const unsigned shift = 8 - h->bits - (unsigned)(bit & 7);
            put_index(p, h, row[bit >> 3] >> shift & ((1u << h->bits) - 1), to);
        } else if (h->bits == 24) {
            to[0] = row[3 * (size_t)x + 2], to[1] = row[3 * (size_t)x + 1];
            to[2] = row[3 * (size_t)x];
        } else {
            const uint32_t value = h->bits == 16 ? formats_get_u16le(row + 2 * (size_t)x)
                                                 : formats_get_u32le(row + 4 * (size_t)x);
            for (unsigned c = 0; c < channels; c++) to[c] = masked(value, h->mask[c]);
        }
    }
}

static uint8_t *row_of(const bmp_header *h, const taper_image *image, uint32_t y) {
    const uint32_t from_top = h->is_top_down ? y : h->height - 1 - y;
    return (uint8_t *)image->pixels + (size_t)from_top * h->width * image->channels;
}

static taper_status read_rows(const formats_picture *p, const bmp_header *h, taper_image *out,
                              taper_error *error) {
    const uint64_t stride = ((uint64_t)h->width * h->bits + 31) / 32 * 4;
    const uint64_t last = ((uint64_t)h->width * h->bits + 7) / 8; /* its padding may be missing */
    if ((h->height - 1) * stride + last > p->size - h->pixels_at) return fail_early(error);
    TAPER_TRY(
        formats_image_make(out, h->width, h->height, h->mask[3] ? 4 : 3, 8, &p->limits, error));
    for (uint32_t y = 0; y < h->height; y++)
        put_row(p, h, p->bytes + h->pixels_at + y * stride, out->channels, row_of(h, out, y));
    return TAPER_OK;
}

/* --- run lengths --- */

typedef struct runs {
    const formats_picture *p;
    const bmp_header *h;
    taper_image *out;
    uint32_t x, y; /* y from the bottom */
} runs;

static void put(runs *r, unsigned index) {
    if (r->x >= r->h->width || r->y >= r->h->height) return;
    put_index(r->p, r->h, index, row_of(r->h, r->out, r->y) + (size_t)r->x * 3);
    r->x++;
}

/* Index k of packed indices. */
static unsigned index_at(const bmp_header *h, const uint8_t *from, size_t k) {
    if (h->bits == 8) return from[k];
    return k & 1 ? from[k >> 1] & 15u : from[k >> 1] >> 4;
}

/* The bytes after a 0: the end of a row, of the picture, a step, or n plain indices. Returns 0 at
 * the end of the picture. */
static int escape(runs *r, formats_cursor *c, unsigned code) {
    if (code == 0) r->x = 0, r->y++;
    if (code == 1) return 0;
    if (code == 2) {
        r->x += formats_read_u8(c);
        r->y += formats_read_u8(c);
    }
    if (code < 3) return 1;
    const size_t bytes = r->h->bits == 8 ? code : (code + 1) / 2;
    const uint8_t *from = formats_read_bytes(c, bytes);
    for (unsigned k = 0; from && k < code; k++) put(r, index_at(r->h, from, k));
    if (bytes & 1) formats_read_u8(c); /* padding */
    return 1;
}

/* Pixels that no run reaches have the first colour. */
static taper_status read_runs(const formats_picture *p, const bmp_header *h, taper_image *out,
                              taper_error *error) {
    formats_cursor c = formats_cursor_over(p->bytes + h->pixels_at, p->size - h->pixels_at);
    runs r = {p, h, out, 0, 0};
    /* a row takes two bytes at least, or is skipped by steps of 255 rows, which take four */
    if (h->height / 64 > c.size) return fail_early(error);
    TAPER_TRY(formats_image_make(out, h->width, h->height, 3, 8, &p->limits, error));
    const size_t pixels = (size_t)h->width * h->height;
    for (size_t i = 0; i < pixels; i++) put_index(p, h, 0, (uint8_t *)out->pixels + 3 * i);
    while (r.y < h->height && c.status == TAPER_OK) {
        const unsigned n = formats_read_u8(&c), value = formats_read_u8(&c);
        if (c.status != TAPER_OK) break;
        if (!n && !escape(&r, &c, value)) return TAPER_OK;
        const uint8_t both = (uint8_t)value;
        for (unsigned k = 0; k < n; k++) put(&r, h->bits == 8 ? value : index_at(h, &both, k & 1));
    }
    return c.status == TAPER_OK ? TAPER_OK : fail_early(error);
}

/* --- the reader --- */

static taper_status bmp_open(formats_picture *p, taper_error *error) {
    bmp_header h;
    return read_header(p, &h, error);
}

static int is_grey(const formats_picture *p, const bmp_header *h) {
    if (h->bits > 8) return 0;
    for (uint32_t i = 0; i < h->colours; i++) {
        const uint8_t *c = p->bytes + h->palette_at + i * h->entry_bytes;
        if (c[0] != c[1] || c[1] != c[2]) return 0;
    }
    return 1;
}

static taper_status bmp_read(formats_picture *p, uint32_t frame, taper_image *out,
                             formats_metadata *metadata, taper_error *error) {
    bmp_header h;
    (void)frame, (void)metadata;
    TAPER_TRY(read_header(p, &h, error));
    const int has_runs = h.compression == RUNS_OF_8 || h.compression == RUNS_OF_4;
    TAPER_TRY((has_runs ? read_runs : read_rows)(p, &h, out, error));
    if (is_grey(p, &h)) formats_samples_keep_grey(out);
    return TAPER_OK;
}

static void bmp_close(formats_picture *p) { (void)p; }

static const formats_late_library *const none[] = {NULL};

const formats_reader formats_bmp_reader = {
    .name = "BMP",
    .package = "",
    .libraries = none,
    .open = bmp_open,
    .read = bmp_read,
    .close = bmp_close,
};
