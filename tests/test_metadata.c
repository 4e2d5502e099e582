/* test_metadata.c -- what files say beside their pixels: EXIF's orientation, applied in all its
 * eight forms; colour profiles, sRGB's and others; where an image ends; damage to all of these. */
#include "cmocka_all.h"
#include "formats/bytes.h"
#include "formats/metadata/exif.h"
#include "formats/metadata/icc.h"
#include "formats/images/jpeg.h"
#include "formats/metadata/metadata.h"
#include "formats/images/png.h"
#include "formats/metadata/xmp.h"
#include "pictures.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <jpeglib.h>

/* --- making files --- */

/* EXIF with one other tag before the orientation. */
static formats_buffer make_exif(unsigned orientation, int big) {
    formats_buffer b = formats_buffer_make(1 << 16);
    uint8_t e[38] = "II*\0\10\0\0\0\2\0";
    static const uint8_t make[12] = {0x0F, 0x01, 2, 0, 4, 0, 0, 0, 'C', 'a', 'm', 0};
    memcpy(e + 10, make, 12);
    static const uint8_t turn[12] = {0x12, 0x01, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    memcpy(e + 22, turn, 12);
    e[30] = (uint8_t)orientation;
    if (big) {
        memcpy(e, "MM\0*\0\0\0\10\0\2", 10);
        memcpy(e + 10, "\x01\x0F\0\2\0\0\0\4Cam", 12);
        memcpy(e + 22, "\x01\x12\0\3\0\0\0\1\0\0\0\0", 12);
        e[31] = (uint8_t)orientation;
    }
    assert_int_equal(formats_write_bytes(&b, e, sizeof e), TAPER_OK);
    return b;
}

/* A JPEG segment, or a PNG chunk with its checksum. */
static void put_segment(formats_buffer *to, unsigned marker, const char *name, size_t name_size,
                        const void *data, size_t size) {
    uint8_t head[4] = {0xFF, (uint8_t)marker};
    formats_set_u16be(head + 2, (uint16_t)(2 + name_size + size));
    formats_write_bytes(to, head, 4);
    formats_write_bytes(to, name, name_size);
    formats_write_bytes(to, data, size);
    assert_int_equal(to->status, TAPER_OK);
}

static void put_chunk(formats_buffer *to, const char *type, const void *data, size_t size) {
    uint8_t number[4];
    formats_set_u32be(number, (uint32_t)size);
    formats_write_bytes(to, number, 4);
    size_t at = to->size;
    formats_write_bytes(to, type, 4);
    formats_write_bytes(to, data, size);
    formats_set_u32be(number, (uint32_t)crc32(0, to->data + at, (uInt)(size + 4)));
    formats_write_bytes(to, number, 4);
    assert_int_equal(to->status, TAPER_OK);
}

enum { JPEG_FRONT = 2, PNG_FRONT = 33 }; /* behind which a segment or a chunk may be put */

/* The front of a file, what is put behind it, the rest. */
static formats_buffer insert(const uint8_t *file, size_t n, size_t front,
                             const formats_buffer *piece) {
    formats_buffer b = formats_buffer_make(1 << 22);
    formats_write_bytes(&b, file, front);
    formats_write_bytes(&b, piece->data, piece->size);
    formats_write_bytes(&b, file + front, n - front);
    assert_int_equal(b.status, TAPER_OK);
    return b;
}

static formats_buffer make_jpeg(const taper_image *image) {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long n = 0;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &bytes, &n);
    c.image_width = image->width;
    c.image_height = image->height;
    c.input_components = image->channels;
    c.in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_start_compress(&c, TRUE);
    for (uint32_t y = 0; y < image->height; y++) {
        JSAMPROW row = (JSAMPROW)image->pixels + (size_t)y * image->width * image->channels;
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    formats_buffer b = formats_buffer_make(1 << 20);
    assert_int_equal(formats_write_bytes(&b, bytes, n), TAPER_OK);
    free(bytes);
    return b;
}

/* --- orientation --- */

/* Where the upright picture's pixel (x, y) is stored, in EXIF's words: where the stored row 0 and
 * column 0 are to be seen. */
static void stored_at(unsigned orientation, uint32_t w, uint32_t h, uint32_t x, uint32_t y,
                      uint32_t *sx, uint32_t *sy) {
    *sx = x, *sy = y;                                       /* 1: top, left */
    if (orientation == 2) *sx = w - 1 - x;                  /* top, right */
    if (orientation == 3) *sx = w - 1 - x, *sy = h - 1 - y; /* bottom, right */
    if (orientation == 4) *sy = h - 1 - y;                  /* bottom, left */
    if (orientation >= 5) *sx = y, *sy = x;                 /* 5: left, top */
    if (orientation == 6) *sy = h - 1 - x;                  /* right, top */
    if (orientation == 7) *sx = w - 1 - y, *sy = h - 1 - x; /* right, bottom */
    if (orientation == 8) *sx = w - 1 - y;                  /* left, bottom */
}

static void assert_upright(const taper_image *upright, const taper_image *stored, unsigned how) {
    size_t size = stored->channels * (stored->depth / 8u);
    assert_int_equal(upright->width, how >= 5 ? stored->height : stored->width);
    assert_int_equal(upright->height, how >= 5 ? stored->width : stored->height);
    assert_int_equal(upright->channels, stored->channels);
    assert_int_equal(upright->depth, stored->depth);
    for (uint32_t y = 0; y < upright->height; y++)
        for (uint32_t x = 0; x < upright->width; x++) {
            uint32_t sx, sy;
            stored_at(how, stored->width, stored->height, x, y, &sx, &sy);
            const uint8_t *a = upright->pixels, *b = stored->pixels;
            assert_memory_equal(a + ((size_t)y * upright->width + x) * size,
                                b + ((size_t)sy * stored->width + sx) * size, size);
        }
}

/* All eight, both byte orders, JPEG and PNG, grey to 16 bits with alpha, one pixel among them. */
static void pictures_come_upright(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{5, 3}, {1, 1}, {1, 4}, {33, 20}};
    for (unsigned k = 0; k < 4 * 4 * 10 * 2; k++) {
        unsigned channels = k % 4 + 1, how = k / 16 % 10, big = k / 160;
        const uint32_t *size = sizes[k / 4 % 4];
        taper_image stored = picture_noise(size[0], size[1], channels, k % 3 ? 8 : 16, k + 1), back;
        if (channels % 2 == 0) memset(stored.pixels, 7, channels * (stored.depth / 8u));
        formats_buffer exif = make_exif(how, (int)big), piece = formats_buffer_make(1 << 16);
        unsigned expected = how >= 1 && how <= 8 ? how : 1; /* 0 and 9 are none */
        assert_int_equal(formats_exif_orientation(exif.data, exif.size), how);
        uint8_t *png;
        size_t n;
        assert_int_equal(formats_png_encode(&stored, &png, &n, NULL), TAPER_OK);
        put_chunk(&piece, "eXIf", exif.data, exif.size);
        formats_buffer file = insert(png, n, k % 2 ? PNG_FRONT : n - 12, &piece);
        assert_int_equal(formats_png_decode(file.data, file.size, NULL, &back, NULL, NULL),
                         TAPER_OK);
        assert_upright(&back, &stored, expected);
        formats_image_free(&back);
        free(png);
        formats_buffer_free(&file), formats_buffer_free(&piece);
        if (channels % 2 && stored.depth == 8) {
            formats_buffer jpeg = make_jpeg(&stored);
            taper_image plain;
            assert_int_equal(formats_jpeg_decode(jpeg.data, jpeg.size, NULL, &plain, NULL, NULL),
                             TAPER_OK);
            piece = formats_buffer_make(1 << 16);
            put_segment(&piece, 0xE1, "Exif\0\0", 6, exif.data, exif.size);
            file = insert(jpeg.data, jpeg.size, JPEG_FRONT, &piece);
            assert_int_equal(formats_jpeg_decode(file.data, file.size, NULL, &back, NULL, NULL),
                             TAPER_OK);
            assert_upright(&back, &plain, expected);
            formats_image_free(&back), formats_image_free(&plain);
            formats_buffer_free(&file), formats_buffer_free(&piece), formats_buffer_free(&jpeg);
        }
        formats_buffer_free(&exif);
        formats_image_free(&stored);
    }
}

/* Every cut and every changed byte of EXIF, in memory of just its size: an orientation or none. */
static void broken_exif_is_survived(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        formats_buffer exif = make_exif(6, big);
        for (size_t cut = 0; cut <= exif.size; cut++) {
            uint8_t *part = malloc(cut + !cut);
            memcpy(part, exif.data, cut);
            unsigned how = formats_exif_orientation(part, cut);
            assert_int_equal(how, cut >= 34 ? 6 : FORMATS_BAD_ORIENTATION); /* the entry's end */
            for (size_t i = 0; i < cut; i++)
                for (unsigned v = 0; v < 256; v++) {
                    uint8_t was = part[i];
                    part[i] = (uint8_t)v;
                    how = formats_exif_orientation(part, cut);
                    assert_in_range(how, 0, FORMATS_BAD_ORIENTATION);
                    part[i] = was;
                }
            free(part);
        }
        formats_buffer_free(&exif);
    }
    assert_int_equal(formats_exif_orientation("MM\0*\xFF\xFF\xFF\xFF\0\1", 10), 9);
    assert_int_equal(formats_exif_orientation("II*\0\10\0\0\0\xFF\xFF", 10), 9); /* 65,535 tags */
    assert_int_equal(formats_exif_orientation("II*\0\10\0\0\0\0\0", 10), 0);
}

/* A chunk whose checksum is wrong says nothing; a second picture's memory counts. */
static void orientation_has_its_conditions(void **state) {
    (void)state;
    taper_image stored = picture_noise(40, 30, 3, 8, 3), back;
    formats_buffer exif = make_exif(6, 0), piece = formats_buffer_make(1 << 16);
    uint8_t *png;
    size_t n;
    assert_int_equal(formats_png_encode(&stored, &png, &n, NULL), TAPER_OK);
    put_chunk(&piece, "eXIf", exif.data, exif.size);
    formats_buffer file = insert(png, n, PNG_FRONT, &piece);
    taper_limits limits = {.size = sizeof(taper_limits), .max_memory = 2 * 40 * 30 * 3 - 1};
    taper_error error;
    assert_int_equal(formats_png_decode(file.data, file.size, &limits, &back, NULL, &error),
                     TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_MEMORY);
    assert_null(back.pixels);
    limits.max_memory++;
    assert_int_equal(formats_png_decode(file.data, file.size, &limits, &back, NULL, NULL),
                     TAPER_OK);
    assert_upright(&back, &stored, 6);
    formats_image_free(&back);
    file.data[PNG_FRONT + piece.size - 1] ^= 1;
    assert_int_equal(formats_png_decode(file.data, file.size, NULL, &back, NULL, NULL), TAPER_OK);
    assert_upright(&back, &stored, 1);
    formats_image_free(&back), formats_image_free(&stored);
    free(png);
    formats_buffer_free(&file), formats_buffer_free(&piece), formats_buffer_free(&exif);
}

/* XMP that says an orientation as an attribute or an element; the writer's blanks may differ. */
static const char *const xmp_forms[] = {
    "<x><rdf:Description xmlns:tiff=\"u\" tiff:Orientation=\"%c\"/></x>",
    "<x><rdf:Description\n tiff:Orientation = '%c' a='b'/></x>",
    "<x><tiff:Orientation>%c</tiff:Orientation></x>",
    "<x a='xtiff:Orientation=\"2\"'><tiff:Orientation > %c </tiff:Orientation></x>",
};

static void xmp_tells_the_orientation(void **state) {
    (void)state;
    char xmp[200];
    for (size_t form = 0; form < 4; form++)
        for (char digit = '0'; digit <= '9'; digit++) {
            const int n = snprintf(xmp, sizeof xmp, xmp_forms[form], digit);
            const unsigned how = formats_xmp_orientation(xmp, (size_t)n);
            assert_int_equal(how, digit - '0');
            for (int cut = 0; cut < n; cut++) { /* in memory of just its size */
                char *part = malloc((size_t)cut + !cut);
                memcpy(part, xmp, (size_t)cut);
                const unsigned less = formats_xmp_orientation(part, (size_t)cut);
                assert_true(less == how || less == 0 || less == FORMATS_BAD_ORIENTATION);
                free(part);
            }
        }
    assert_int_equal(formats_xmp_orientation("<x/> tiff:Orientation is 6", 26), 0);
    assert_int_equal(formats_xmp_orientation(" tiff:Orientation=\"66\"", 22), 9);
}

/* Bytes as ImageMagick writes them: name, length, hexadecimal digits in lines. */
static size_t put_raw_profile(char *to, const char *name, const formats_buffer *bytes) {
    size_t n = (size_t)snprintf(to, 100, "\n%s\n%8zu", name, bytes->size);
    for (size_t i = 0; i < bytes->size; i++)
        n += (size_t)snprintf(to + n, 4, i % 36 ? "%02x" : "\n%02x", bytes->data[i]);
    to[n++] = '\n';
    return n;
}

/* A text chunk of one of the three types, of iTXt packed and plain. */
static void put_text(formats_buffer *to, int form, const char *keyword, const char *text,
                     size_t n) {
    static const char *const types[] = {"tEXt", "zTXt", "iTXt", "iTXt"};
    static uint8_t packed[20000];
    uLongf size = sizeof packed;
    formats_buffer data = formats_buffer_make(1 << 20);
    formats_write_bytes(&data, keyword, strlen(keyword) + 1);
    if (form == 1) formats_write_u8(&data, 0);
    if (form >= 2) formats_write_bytes(&data, form == 3 ? "\1\0en\0\0" : "\0\0en\0\0", 6);
    if (form % 2) {
        assert_int_equal(compress(packed, &size, (const uint8_t *)text, n), Z_OK);
        formats_write_bytes(&data, packed, size);
    } else {
        formats_write_bytes(&data, text, n);
    }
    put_chunk(to, types[form], data.data, data.size);
    formats_buffer_free(&data);
}

static formats_orientation png_says(const formats_buffer *pieces) {
    taper_image image = picture_noise(3, 2, 3, 8, 1);
    uint8_t *png;
    size_t n;
    formats_orientation says;
    assert_int_equal(formats_png_encode(&image, &png, &n, NULL), TAPER_OK);
    formats_buffer file = insert(png, n, PNG_FRONT, pieces);
    assert_int_equal(formats_png_orientation(file.data, file.size, &says, NULL), TAPER_OK);
    for (size_t i = PNG_FRONT; i < PNG_FRONT + pieces->size; i++) { /* damage of every byte */
        formats_orientation damaged;
        file.data[i] ^= 0x21;
        assert_int_equal(formats_png_orientation(file.data, file.size, &damaged, NULL), TAPER_OK);
        assert_in_range(damaged.how, 1, 8);
        file.data[i] ^= 0x21;
    }
    formats_buffer_free(&file);
    free(png);
    formats_image_free(&image);
    return says;
}

/* Each source alone, in each kind of text chunk. */
static void text_of_a_png_tells_the_orientation(void **state) {
    (void)state;
    static char text[4000];
    for (unsigned k = 0; k < 4 * 4; k++) {
        const int form = (int)(k % 4), big = (int)(k / 4 % 2), named = (int)(k / 8);
        formats_buffer exif = make_exif(6, big), pieces = formats_buffer_make(1 << 16), profile;
        profile = formats_buffer_make(1 << 16);
        if (named) formats_write_bytes(&profile, "Exif\0\0", 6);
        formats_write_bytes(&profile, exif.data, exif.size);
        size_t n = put_raw_profile(text, "exif", &profile);
        put_text(&pieces, form, named ? "Raw profile type APP1" : "Raw profile type exif", text, n);
        const formats_orientation says = png_says(&pieces);
        assert_int_equal(says.how, 6);
        assert_int_equal(says.is_uncertain, 0);
        formats_buffer_free(&exif), formats_buffer_free(&pieces), formats_buffer_free(&profile);
        pieces = formats_buffer_make(1 << 16);
        n = (size_t)snprintf(text, sizeof text, xmp_forms[k / 4], '8');
        put_text(&pieces, form, "XML:com.adobe.xmp", text, n);
        assert_int_equal(png_says(&pieces).how, 8);
        formats_buffer_free(&pieces);
    }
}

/* EXIF before raw profiles before XMP, in whatever order they stand; what is not used is said. */
static void sources_have_an_order(void **state) {
    (void)state;
    static char text[4000], xmp[200];
    for (unsigned k = 0; k < 16 * 2; k++) {
        const unsigned exif_says = k & 1 ? 3 : 0, raw_says = k & 2 ? 6 : 0;
        const unsigned xmp_says = k & 4 ? 8 : 0;
        const int backwards = k & 8 ? 1 : 0;
        const unsigned broken = k >= 16;
        formats_buffer pieces = formats_buffer_make(1 << 16), exif = make_exif(exif_says, 0),
                       raw = make_exif(raw_says, 1);
        size_t n = put_raw_profile(text, "exif", &raw);
        const int m = snprintf(xmp, sizeof xmp, xmp_forms[0], '0' + (char)xmp_says);
        for (int step = 0; step < 3; step++) {
            const int which = backwards ? 2 - step : step;
            if (which == 0) put_chunk(&pieces, "eXIf", exif.data, exif.size);
            if (which == 1) put_text(&pieces, 1, "Raw profile type exif", text, n);
            if (which == 2) put_text(&pieces, 2, "XML:com.adobe.xmp", xmp, (size_t)m);
        }
        if (broken) put_chunk(&pieces, "zTXt", "Raw profile type exif\0\0no deflate", 33);
        const formats_orientation says = png_says(&pieces);
        const unsigned first = exif_says ? exif_says : raw_says ? raw_says : xmp_says;
        assert_int_equal(says.how, first ? first : 1);
        const int several = !!exif_says + !!raw_says + !!xmp_says > 1;
        assert_int_equal(says.is_uncertain, several || broken);
        formats_buffer_free(&pieces), formats_buffer_free(&exif), formats_buffer_free(&raw);
    }
}

/* A JPEG has no text chunks: each EXIF segment, then XMP. */
static void segments_of_a_jpeg_tell_the_orientation(void **state) {
    (void)state;
    static const char *const xmp_name = "http://ns.adobe.com/xap/1.0/";
    char xmp[200];
    taper_image image = picture_noise(5, 3, 3, 8, 1), plain, back;
    formats_buffer jpeg = make_jpeg(&image), file;
    assert_int_equal(formats_jpeg_decode(jpeg.data, jpeg.size, NULL, &plain, NULL, NULL), TAPER_OK);
    for (unsigned k = 0; k < 8; k++) {
        const unsigned one = k & 1 ? 5 : 0, two = k & 2 ? 7 : 0, xmp_says = k & 4 ? 3 : 0;
        formats_buffer a = make_exif(one, 0), b = make_exif(two, 1),
                       pieces = formats_buffer_make(1 << 16);
        const int m = snprintf(xmp, sizeof xmp, xmp_forms[2], '0' + (char)xmp_says);
        put_segment(&pieces, 0xE1, xmp_name, strlen(xmp_name) + 1, xmp, (size_t)m);
        put_segment(&pieces, 0xE1, "Exif\0\0", 6, a.data, a.size);
        put_segment(&pieces, 0xE1, "Exif\0\0", 6, b.data, b.size);
        file = insert(jpeg.data, jpeg.size, JPEG_FRONT, &pieces);
        const unsigned first = one ? one : two ? two : xmp_says;
        const formats_orientation says = formats_jpeg_orientation(file.data, file.size);
        assert_int_equal(says.how, first ? first : 1);
        assert_int_equal(says.is_uncertain, !!one + !!two + !!xmp_says > 1);
        assert_int_equal(formats_jpeg_decode(file.data, file.size, NULL, &back, NULL, NULL),
                         TAPER_OK);
        assert_upright(&back, &plain, says.how);
        formats_image_free(&back);
        formats_buffer_free(&a), formats_buffer_free(&b);
        formats_buffer_free(&pieces), formats_buffer_free(&file);
    }
    formats_buffer_free(&jpeg);
    formats_image_free(&image), formats_image_free(&plain);
}

/* --- profiles --- */

typedef enum curve_kind { CURVE_GAMMA, CURVE_TABLE, CURVE_SRGB_FORMULA, CURVE_LINEAR } curve_kind;

static size_t put_curve(uint8_t *to, curve_kind kind, double gamma) {
    memset(to, 0, 12);
    memcpy(to, kind == CURVE_SRGB_FORMULA ? "para" : "curv", 4);
    if (kind == CURVE_GAMMA) {
        to[11] = 1;
        formats_set_u16be(to + 12, (uint16_t)(gamma * 256 + 0.5));
        return 14;
    }
    if (kind == CURVE_TABLE) {
        formats_set_u16be(to + 10, 1024);
        for (int i = 0; i < 1024; i++)
            formats_set_u16be(to + 12 + 2 * i, (uint16_t)(pow(i / 1023.0, gamma) * 65535 + 0.5));
        return 12 + 2048;
    }
    if (kind == CURVE_LINEAR) return 12;
    static const double p[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    to[9] = 3;
    for (int i = 0; i < 5; i++) formats_set_u32be(to + 12 + 4 * i, (uint32_t)(p[i] * 65536 + 0.5));
    return 32;
}

static const double srgb[9] = {0.43607, 0.22249, 0.01392, 0.38515, 0.71687,
                               0.09708, 0.14307, 0.06061, 0.7141},
                    display_p3[9] = {0.51512, 0.2412, -0.00105, 0.29198, 0.69225,
                                     0.04189, 0.1571, 0.06657,  0.78407},
                    adobe[9] = {0.60974, 0.31111, 0.01947, 0.20528, 0.62567,
                                0.06087, 0.14919, 0.06322, 0.74457};

/* A profile of a matrix and one curve; colours NULL: a grey one. */
static formats_buffer make_profile(const double *colours, curve_kind kind, double gamma) {
    static const char *const colour_tags[6] = {"rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"};
    static const char *const grey_tags[1] = {"kTRC"};
    static uint8_t p[8192];
    const char *const *tag = colours ? colour_tags : grey_tags;
    uint32_t tags = colours ? 6 : 1, at = 132 + 12 * tags, curve = at + (colours ? 60 : 0);
    memset(p, 0, sizeof p);
    memcpy(p + 16, colours ? "RGB XYZ " : "GRAYXYZ ", 8);
    memcpy(p + 36, "acsp", 4);
    formats_set_u32be(p + 128, tags);
    size_t size = put_curve(p + curve, kind, gamma);
    for (uint32_t i = 0; i < tags; i++) {
        int is_colour = colours && i < 3;
        memcpy(p + 132 + 12 * i, tag[i], 4);
        formats_set_u32be(p + 136 + 12 * i, is_colour ? at + 20 * i : curve);
        formats_set_u32be(p + 140 + 12 * i, is_colour ? 20 : (uint32_t)size);
        if (is_colour) memcpy(p + at + 20 * i, "XYZ ", 4);
        for (uint32_t c = 0; is_colour && c < 3; c++)
            formats_set_u32be(p + at + 20 * i + 8 + 4 * c,
                              (uint32_t)(int32_t)lrint(colours[3 * i + c] * 65536));
    }
    formats_buffer b = formats_buffer_make(1 << 16);
    assert_int_equal(formats_write_bytes(&b, p, curve + size), TAPER_OK);
    return b;
}

/* Does the profile matter, asked directly, of a JPEG and of a PNG? The three must agree. */
static int has_other_profile(const formats_buffer *profile) {
    taper_image image = picture_noise(3, 2, 3, 8, 1);
    formats_buffer jpeg = make_jpeg(&image), piece = formats_buffer_make(1 << 17);
    uint8_t *png, packed[20000] = "name\0";
    size_t n;
    uLongf size = sizeof packed - 6;
    assert_int_equal(formats_png_encode(&image, &png, &n, NULL), TAPER_OK);
    assert_int_equal(formats_png_has_profile(png, n), 0);
    assert_int_equal(formats_jpeg_has_profile(jpeg.data, jpeg.size), 0);
    put_segment(&piece, 0xE2, "ICC_PROFILE\0\1\1", 14, profile->data, profile->size);
    formats_buffer file = insert(jpeg.data, jpeg.size, JPEG_FRONT, &piece);
    int other = formats_jpeg_has_profile(file.data, file.size);
    formats_buffer_free(&file), formats_buffer_free(&piece);
    assert_int_equal(compress(packed + 6, &size, profile->data, profile->size), Z_OK);
    piece = formats_buffer_make(1 << 17);
    put_chunk(&piece, "iCCP", packed, size + 6);
    file = insert(png, n, PNG_FRONT, &piece);
    assert_int_equal(formats_png_has_profile(file.data, file.size), other);
    assert_int_equal(formats_icc_is_srgb(profile->data, profile->size), !other);
    taper_image back;
    assert_int_equal(formats_png_decode(file.data, file.size, NULL, &back, NULL, NULL), TAPER_OK);
    assert_true(image_equal(&image, &back)); /* and nothing is made of it */
    formats_buffer_free(&file), formats_buffer_free(&piece), formats_buffer_free(&jpeg);
    formats_image_free(&image), formats_image_free(&back);
    free(png);
    return other;
}

static void profiles_other_than_srgb_are_told_apart(void **state) {
    (void)state;
    static const struct {
        const double *colours;
        curve_kind kind;
        double gamma;
        int other;
    } cases[] = {
        {srgb, CURVE_SRGB_FORMULA, 0, 0}, {srgb, CURVE_GAMMA, 2.2, 0},
        {srgb, CURVE_TABLE, 2.22, 0},     {NULL, CURVE_GAMMA, 2.2, 0},
        {srgb, CURVE_LINEAR, 0, 1},       {srgb, CURVE_GAMMA, 1.8, 1},
        {srgb, CURVE_TABLE, 1.8, 1},      {display_p3, CURVE_SRGB_FORMULA, 0, 1},
        {adobe, CURVE_GAMMA, 2.2, 1},     {NULL, CURVE_GAMMA, 1.8, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        formats_buffer profile = make_profile(cases[i].colours, cases[i].kind, cases[i].gamma);
        if (has_other_profile(&profile) != cases[i].other) fail_msg("case %zu", i);
        formats_buffer_free(&profile);
    }
}

static void broken_profiles_are_survived(void **state) {
    (void)state;
    static const curve_kind kinds[] = {CURVE_GAMMA, CURVE_SRGB_FORMULA, CURVE_LINEAR};
    for (int k = 0; k < 3; k++) {
        formats_buffer profile = make_profile(srgb, kinds[k], 2.2);
        for (size_t cut = 0; cut < profile.size; cut++) {
            uint8_t *part = malloc(cut + !cut);
            memcpy(part, profile.data, cut);
            assert_int_equal(formats_icc_is_srgb(part, cut), 0);
            for (size_t i = cut > 16 ? cut - 16 : 0; i < cut; i++) part[i] = 0xFF;
            assert_in_range(formats_icc_is_srgb(part, cut), 0, 1);
            free(part);
        }
        for (size_t i = 0; i < profile.size; i++) { /* sizes and offsets among them */
            profile.data[i] ^= 0xFF;
            assert_in_range(formats_icc_is_srgb(profile.data, profile.size), 0, 1);
            profile.data[i] ^= 0xFF;
        }
        formats_buffer_free(&profile);
    }
}

/* --- ends --- */

static void ends_are_found(void **state) {
    (void)state;
    taper_image image = picture_noise(50, 40, 3, 8, 9);
    formats_buffer jpeg = make_jpeg(&image), mpf = formats_buffer_make(1 << 16);
    uint8_t *png, more[80000];
    size_t n;
    assert_int_equal(formats_png_encode(&image, &png, &n, NULL), TAPER_OK);
    memset(more, 0xFF, sizeof more);
    memcpy(more, png, n);
    assert_int_equal(formats_png_end(more, sizeof more), n);
    assert_int_equal(formats_png_end(png, n - 1), n - 1);
    memcpy(more, jpeg.data, jpeg.size);
    assert_int_equal(formats_jpeg_end(more, sizeof more), jpeg.size);
    for (size_t cut = 0; cut < jpeg.size; cut += 7) /* in memory of just its size */ {
        uint8_t *part = malloc(cut + !cut);
        memcpy(part, jpeg.data, cut);
        assert_int_equal(formats_jpeg_end(part, cut), cut);
        assert_int_equal(formats_jpeg_orientation(part, cut).how, 1);
        free(part);
    }
    put_segment(&mpf, 0xE2, "MPF\0", 4, "several pictures", 16);
    formats_buffer file = insert(jpeg.data, jpeg.size, JPEG_FRONT, &mpf);
    formats_write_bytes(&file, jpeg.data, jpeg.size);
    assert_int_equal(formats_jpeg_end(file.data, file.size), file.size);
    formats_buffer_free(&file), formats_buffer_free(&mpf), formats_buffer_free(&jpeg);
    formats_image_free(&image);
    free(png);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_come_upright),
        cmocka_unit_test(broken_exif_is_survived),
        cmocka_unit_test(orientation_has_its_conditions),
        cmocka_unit_test(xmp_tells_the_orientation),
        cmocka_unit_test(text_of_a_png_tells_the_orientation),
        cmocka_unit_test(sources_have_an_order),
        cmocka_unit_test(segments_of_a_jpeg_tell_the_orientation),
        cmocka_unit_test(profiles_other_than_srgb_are_told_apart),
        cmocka_unit_test(broken_profiles_are_survived),
        cmocka_unit_test(ends_are_found),
    };
    return cmocka_run_group_tests_name("metadata", tests, NULL, NULL);
}
