/* test_payloads.c -- metadata of image files: read from PNG and JPEG, settled for an upright image,
 * and written back. */
#include "cmocka_all.h"
#include "formats/image.h"
#include "formats/images/jpeg.h"
#include "formats/images/png.h"
#include "formats/metadata/exif.h"
#include "formats/metadata/public_metadata.h"
#include "formats/metadata/read_payloads.h"
#include "formats/metadata/settle.h"
#include "formats/metadata/write_payloads.h"
#include "formats/metadata/xmp.h"
#include "pictures.h"
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <jpeglib.h>

/* --- payloads ---------------------------------------------------------------------------- */

/* A profile of `size` bytes of these colours: "RGB " or "GRAY". */
static formats_blob make_profile(size_t size, const char *colours) {
    formats_blob b = {calloc(size, 1), size};
    assert_non_null(b.bytes);
    for (size_t i = 132; i < size; i++) b.bytes[i] = (uint8_t)(i * i >> 5);
    formats_set_u32be(b.bytes, (uint32_t)size);
    memcpy(b.bytes + 16, colours, 4);
    memcpy(b.bytes + 36, "acsp", 4);
    return b;
}

static void put(formats_buffer *b, uint32_t value, unsigned bytes, int big) {
    for (unsigned i = 0; i < bytes; i++)
        formats_write_u8(b, (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i)));
}

static void put_entry(formats_buffer *b, uint32_t tag, uint32_t type, uint32_t count,
                      uint32_t value, int big) {
    put(b, tag, 2, big), put(b, type, 2, big), put(b, count, 4, big);
    if (type == 3 && count == 1)
        put(b, value, 2, big), put(b, 0, 2, big);
    else
        put(b, value, 4, big);
}

enum { THUMBNAIL = 500, EXIF_FRONT = 8 + 42 + 18 + 8, EXIF_SIZE = EXIF_FRONT + 30 + THUMBNAIL };

/* EXIF with a maker, an orientation, an EXIF directory, and a thumbnail in a second directory. */
static formats_buffer make_exif(unsigned orientation, int big) {
    formats_buffer b = formats_buffer_make(1 << 16);
    formats_write_bytes(&b, big ? "MM\0*" : "II*\0", 4);
    put(&b, 8, 4, big);
    put(&b, 3, 2, big);
    put_entry(&b, 0x10F, 2, 8, 68, big);
    put_entry(&b, 0x112, 3, 1, orientation, big);
    put_entry(&b, 0x8769, 4, 1, 50, big);
    put(&b, EXIF_FRONT, 4, big); /* the second directory */
    put(&b, 1, 2, big);          /* at 50 */
    put_entry(&b, 0xA002, 4, 1, 4000, big);
    put(&b, 0, 4, big);
    formats_write_bytes(&b, "Camera 1", 8); /* at 68 */
    put(&b, 2, 2, big);                     /* at EXIF_FRONT */
    put_entry(&b, 0x201, 4, 1, EXIF_FRONT + 30, big);
    put_entry(&b, 0x202, 4, 1, THUMBNAIL, big);
    put(&b, 0, 4, big);
    for (int i = 0; i < THUMBNAIL; i++) formats_write_u8(&b, (uint8_t)(0x80 + i));
    assert_int_equal(b.size, EXIF_SIZE);
    return b;
}

static const char xmp_packet[] =
    "<x:xmpmeta><rdf:Description tiff:Orientation=\"6\"/><tiff:Orientation> 8 </tiff:Orientation>"
    "</x:xmpmeta>";

/* Metadata with everything that a PNG holds. */
static formats_metadata make_metadata(unsigned channels) {
    formats_buffer exif = make_exif(1, channels & 1);
    formats_metadata m = {.icc = make_profile(700, channels < 3 ? "GRAY" : "RGB "),
                          .has_cicp = 1,
                          .cicp = {12, 13, 0, 1},
                          .gamma = 45455,
                          .density_x = 3937,
                          .density_y = 11811,
                          .density_unit = 1};
    for (uint32_t i = 0; i < 8; i++) m.chromaticities[i] = 1000 * i + 1;
    assert_true(formats_blob_set(&m.exif, exif.data, exif.size));
    assert_true(formats_blob_set(&m.xmp, xmp_packet, sizeof xmp_packet - 1));
    formats_buffer_free(&exif);
    return m;
}

static void assert_blob(const formats_blob *a, const formats_blob *b) {
    assert_int_equal(a->size, b->size);
    if (a->size) assert_memory_equal(a->bytes, b->bytes, a->size);
}

static void assert_same(const formats_metadata *a, const formats_metadata *b) {
    assert_blob(&a->icc, &b->icc), assert_blob(&a->exif, &b->exif), assert_blob(&a->xmp, &b->xmp);
    assert_int_equal(a->has_cicp, b->has_cicp);
    assert_memory_equal(a->cicp, b->cicp, sizeof a->cicp);
    assert_int_equal(a->gamma, b->gamma);
    assert_memory_equal(a->chromaticities, b->chromaticities, sizeof a->chromaticities);
    assert_true(a->density_x == b->density_x && a->density_y == b->density_y);
    assert_int_equal(a->density_unit, b->density_unit);
    assert_int_equal(a->left_out, b->left_out);
}

/* --- PNG --------------------------------------------------------------------------------- */

static void a_png_has_what_was_written(void **state) {
    (void)state;
    for (unsigned channels = 1; channels <= 4; channels++)
        for (unsigned depth = 8; depth <= 16; depth += 8) {
            taper_image image = picture_noise(7, 5, channels, depth, channels), back;
            formats_metadata m = make_metadata(channels), found;
            uint8_t *bytes;
            size_t n;
            assert_int_equal(formats_png_encode_with(&image, "taper", &m, &bytes, &n, NULL),
                             TAPER_OK);
            assert_int_equal(formats_png_decode(bytes, n, NULL, &back, &found, NULL), TAPER_OK);
            assert_same(&found, &m);
            assert_memory_equal(back.pixels, image.pixels, formats_image_bytes(&image));
            formats_metadata_free(&m), formats_metadata_free(&found);
            formats_image_free(&image), formats_image_free(&back), free(bytes);
        }
}

static void put_chunk(formats_buffer *to, const char *type, const void *data, size_t size) {
    formats_write_u32be(to, (uint32_t)size);
    const size_t at = to->size;
    formats_write_bytes(to, type, 4);
    formats_write_bytes(to, data, size);
    formats_write_u32be(to, (uint32_t)crc32(0, to->data + at, (uInt)(size + 4)));
    assert_int_equal(to->status, TAPER_OK);
}

/* The metadata of a PNG that has only this chunk. */
static formats_metadata of_chunk(const char *type, const void *data, size_t size) {
    formats_buffer png = formats_buffer_make(1 << 26);
    formats_metadata m;
    formats_write_bytes(&png, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(&png, type, data, size);
    assert_int_equal(formats_png_metadata(png.data, png.size, &m, NULL), TAPER_OK);
    formats_buffer_free(&png);
    return m;
}

/* iCCP of `size` zeros, of which the header is that of a profile. */
static formats_metadata of_deflated(size_t size, size_t missing) {
    uint8_t *content = calloc(size + 1, 1);
    uLongf room = compressBound((uLong)size);
    uint8_t *chunk = malloc(room + 3);
    assert_true(content && chunk);
    memcpy(chunk, "p\0", 3);
    assert_int_equal(compress2(chunk + 3, &room, content, (uLong)size, 9), Z_OK);
    formats_metadata m = of_chunk("iCCP", chunk, room + 3 - missing);
    free(content), free(chunk);
    return m;
}

static void damaged_chunks_are_left_out(void **state) {
    (void)state;
    formats_metadata m = of_deflated(FORMATS_MOST_BLOB, 0);
    assert_true(m.icc.size == FORMATS_MOST_BLOB && !m.left_out);
    formats_metadata_free(&m);
    m = of_deflated((size_t)FORMATS_MOST_BLOB + 1, 0); /* a bomb */
    assert_true(!m.icc.bytes && m.left_out == FORMATS_LEFT_ICC);
    m = of_deflated((size_t)1 << 28, 0);
    assert_true(!m.icc.bytes && m.left_out == FORMATS_LEFT_ICC);
    m = of_deflated(5000, 6); /* it ends early */
    assert_true(!m.icc.bytes && m.left_out == FORMATS_LEFT_ICC);
    m = of_chunk("iCCP", "none", 4);
    assert_true(!m.icc.bytes && m.left_out == FORMATS_LEFT_ICC);
    m = of_chunk("eXIf", "none", 4);
    assert_true(!m.exif.bytes && m.left_out == FORMATS_LEFT_EXIF);
    m = of_chunk("eXIf", "Exif\0\0II*\0\10\0\0\0", 14); /* with the name of a JPEG's segment */
    assert_true(m.exif.size == 8 && !m.left_out);
    formats_metadata_free(&m);
    m = of_chunk("tEXt", "XML:com.adobe.xmp", 18);
    assert_true(!m.xmp.bytes && m.left_out == FORMATS_LEFT_XMP);
    m = of_chunk("tEXt", "Raw profile type exif\0\nexif\n8\n49492a0008000000", 46);
    assert_true(m.exif.size == 8 && !memcmp(m.exif.bytes, "II*\0\10\0\0\0", 8));
    formats_metadata_free(&m);
    static const struct {
        const char *type, *data;
        size_t size;
    } illegal[] = {{"gAMA", "\xff\xff\xff\xff", 4},
                   {"gAMA", "\0\0\1", 3},
                   {"cICP", "\1\1\1\2", 4},
                   {"pHYs", "\0\0\0\1\0\0\0\0\1", 9},
                   {"pHYs", "\0\0\0\1\0\0\0\1\0", 9},
                   {"pHYs", "\0\0\0\1\0\0\0\1\2", 9},
                   {"cHRM", "\0\0\0\1", 4}};
    for (size_t i = 0; i < sizeof illegal / sizeof illegal[0]; i++) {
        const formats_metadata none = {0};
        m = of_chunk(illegal[i].type, illegal[i].data, illegal[i].size);
        assert_same(&m, &none);
    }
}

/* --- JPEG -------------------------------------------------------------------------------- */

static void a_jpeg_has_what_was_written(void **state) {
    (void)state;
    static const size_t sizes[] = {700, 65519, 65520, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        formats_metadata m = make_metadata(3), found;
        formats_buffer file = formats_buffer_make(1 << 20);
        formats_blob_free(&m.icc);
        m.icc = make_profile(sizes[i], "RGB ");
        formats_write_bytes(&file, "\xff\xd8", 2);
        assert_int_equal(formats_jpeg_segments(&m, 3, &file), 0);
        assert_int_equal(file.status, TAPER_OK);
        assert_int_equal(formats_jpeg_metadata(file.data, file.size, &found, NULL), TAPER_OK);
        m.has_cicp = 0, m.gamma = 0; /* no place in a JPEG */
        memset(m.cicp, 0, sizeof m.cicp), memset(m.chromaticities, 0, sizeof m.chromaticities);
        assert_same(&found, &m);
        formats_metadata_free(&m), formats_metadata_free(&found), formats_buffer_free(&file);
    }
}

/* A grey or coloured JPEG by libjpeg without JFIF, with these segments behind its first marker. */
static formats_buffer make_jpeg(const formats_metadata *m, int channels) {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long n = 0;
    uint8_t pixels[16 * 3] = {1, 2, 3};
    JSAMPROW row = pixels;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &bytes, &n);
    c.image_width = 16, c.image_height = 8;
    c.input_components = channels;
    c.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c);
    c.write_JFIF_header = FALSE;
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) jpeg_write_scanlines(&c, &row, 1);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    formats_buffer file = formats_buffer_make(1 << 20);
    formats_write_bytes(&file, bytes, 2);
    assert_int_equal(formats_jpeg_segments(m, (unsigned)channels, &file), 0);
    formats_write_bytes(&file, bytes + 2, n - 2);
    assert_int_equal(file.status, TAPER_OK);
    free(bytes);
    return file;
}

static const struct jpeg_marker_struct *find_marker(const struct jpeg_decompress_struct *d,
                                                    const char *name, size_t n) {
    const struct jpeg_marker_struct *m = d->marker_list;
    while (m && (m->marker != JPEG_APP0 + 1 || m->data_length < n || memcmp(m->data, name, n)))
        m = m->next;
    return m;
}

/* libjpeg finds profile, density, EXIF and XMP, and our decoder finds them in the whole file. */
static void libjpeg_reads_what_was_written(void **state) {
    (void)state;
    for (int channels = 1; channels <= 3; channels += 2) {
        formats_metadata m = make_metadata((unsigned)channels), found;
        formats_blob_free(&m.icc);
        m.icc = make_profile(100000, channels == 1 ? "GRAY" : "RGB ");
        formats_buffer file = make_jpeg(&m, channels);
        struct jpeg_decompress_struct d;
        struct jpeg_error_mgr errors;
        JOCTET *profile;
        unsigned size;
        d.err = jpeg_std_error(&errors);
        jpeg_create_decompress(&d);
        jpeg_mem_src(&d, file.data, (unsigned long)file.size);
        jpeg_save_markers(&d, JPEG_APP0 + 1, 0xFFFF), jpeg_save_markers(&d, JPEG_APP0 + 2, 0xFFFF);
        assert_int_equal(jpeg_read_header(&d, TRUE), JPEG_HEADER_OK);
        assert_true(d.saw_JFIF_marker && d.density_unit == 1);
        assert_true(d.X_density == 100 && d.Y_density == 300); /* per inch */
        assert_true(jpeg_read_icc_profile(&d, &profile, &size) && size == m.icc.size);
        assert_memory_equal(profile, m.icc.bytes, size);
        const struct jpeg_marker_struct *exif = find_marker(&d, "Exif\0", 6);
        assert_true(exif && exif->data_length == 6 + m.exif.size);
        assert_memory_equal(exif->data + 6, m.exif.bytes, m.exif.size);
        const struct jpeg_marker_struct *xmp = find_marker(&d, "http://ns.adobe.com/xap/1.0/", 29);
        assert_true(xmp && xmp->data_length == 29 + m.xmp.size);
        free(profile);
        jpeg_destroy_decompress(&d);
        taper_image back;
        assert_int_equal(formats_jpeg_decode(file.data, file.size, NULL, &back, &found, NULL),
                         TAPER_OK);
        assert_blob(&found.icc, &m.icc), assert_blob(&found.exif, &m.exif);
        assert_blob(&found.xmp, &m.xmp);
        assert_true(found.density_x == 3937 && found.density_y == 11811);
        formats_image_free(&back), formats_buffer_free(&file);
        formats_metadata_free(&m), formats_metadata_free(&found);
    }
}

/* What is too large for a segment, or a profile of other colours. */
static void a_jpeg_leaves_out_what_has_no_place(void **state) {
    (void)state;
    formats_metadata m = {.icc = make_profile(700, "GRAY"),
                          .exif = make_profile(65528, "RGB "),
                          .xmp = make_profile(65505, "RGB ")};
    formats_buffer file = formats_buffer_make(1 << 20);
    assert_int_equal(formats_jpeg_segments(&m, 3, &file),
                     FORMATS_LEFT_ICC | FORMATS_LEFT_EXIF | FORMATS_LEFT_XMP);
    assert_int_equal(file.size, 18); /* JFIF alone */
    m.exif.size--, m.xmp.size--;
    assert_int_equal(formats_jpeg_segments(&m, 1, &file), 0);
    formats_metadata_free(&m), formats_buffer_free(&file);
}

static void put_part(formats_buffer *to, unsigned k, unsigned of, const char *data) {
    formats_write_bytes(to, "\xff\xe2", 2);
    formats_write_u16be(to, (uint16_t)(16 + strlen(data)));
    formats_write_bytes(to, "ICC_PROFILE\0", 12);
    formats_write_u8(to, (uint8_t)k), formats_write_u8(to, (uint8_t)of);
    formats_write_bytes(to, data, strlen(data));
}

/* Parts in any order; none may be missing, and all must agree on their number. */
static void parts_of_a_profile_are_joined(void **state) {
    (void)state;
    static const struct {
        unsigned part[3][2];
        const char *whole; /* NULL: left out */
    } files[] = {{{{2, 3}, {3, 3}, {1, 3}}, "cab"}, {{{1, 2}, {1, 2}, {2, 2}}, "ac"},
                 {{{1, 4}, {2, 4}, {3, 4}}, NULL},  {{{1, 2}, {2, 3}, {3, 3}}, NULL},
                 {{{0, 2}, {1, 2}, {2, 2}}, NULL},  {{{1, 2}, {2, 2}, {3, 2}}, NULL}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        static const char *const data[] = {"a", "b", "c"};
        formats_buffer file = formats_buffer_make(1 << 10);
        formats_metadata m;
        formats_write_bytes(&file, "\xff\xd8", 2);
        for (int k = 0; k < 3; k++)
            put_part(&file, files[i].part[k][0], files[i].part[k][1], data[k]);
        assert_int_equal(formats_jpeg_metadata(file.data, file.size, &m, NULL), TAPER_OK);
        assert_int_equal(m.left_out, files[i].whole ? 0 : FORMATS_LEFT_ICC);
        assert_int_equal(m.icc.size, files[i].whole ? strlen(files[i].whole) : 0);
        if (m.icc.size) assert_memory_equal(m.icc.bytes, files[i].whole, m.icc.size);
        formats_metadata_free(&m), formats_buffer_free(&file);
    }
}

/* --- upright ----------------------------------------------------------------------------- */

static void exif_is_upright_and_without_thumbnail(void **state) {
    (void)state;
    for (int big = 0; big <= 1; big++)
        for (unsigned how = 1; how <= 8; how++) {
            formats_buffer exif = make_exif(how, big), wanted = make_exif(1, big);
            const size_t size = formats_exif_make_upright(exif.data, exif.size);
            assert_int_equal(size, EXIF_FRONT);
            assert_int_equal(formats_exif_orientation(exif.data, size), 1);
            memset(wanted.data + 8 + 38, 0, 4); /* no second directory */
            assert_memory_equal(exif.data, wanted.data, EXIF_FRONT);
            formats_buffer_free(&exif), formats_buffer_free(&wanted);
        }
}

/* A thumbnail that lies before other data stays, but nothing refers to it. */
static void data_behind_a_thumbnail_stay(void **state) {
    (void)state;
    formats_buffer exif = make_exif(6, 0);
    for (int i = 0; i < 40; i++) formats_write_u8(&exif, 7);
    assert_int_equal(formats_exif_make_upright(exif.data, exif.size), EXIF_SIZE + 40);
    assert_int_equal(exif.data[EXIF_SIZE], 7);
    assert_int_equal(exif.data[EXIF_SIZE - 1], 0); /* erased */
    formats_buffer_free(&exif);
    exif = make_exif(6, 0);
    formats_set_u32le(exif.data + 10 + 8, EXIF_SIZE - 8); /* the maker's name is in the thumbnail */
    assert_int_equal(formats_exif_make_upright(exif.data, exif.size), EXIF_SIZE);
    assert_int_equal(exif.data[EXIF_SIZE - 1], (uint8_t)(0x80 + THUMBNAIL - 1));
    assert_int_equal(formats_get_u32le(exif.data + 8 + 38), 0);
    formats_buffer_free(&exif);
}

/* Directories that lead to themselves, cut and changed bytes: no crash, no loop, no growth. */
static void damaged_exif_is_survived(void **state) {
    (void)state;
    formats_buffer loop = make_exif(3, 0);
    formats_set_u32le(loop.data + 8 + 38, 8);     /* the next directory is the first */
    formats_set_u32le(loop.data + 8 + 26 + 8, 8); /* the EXIF directory as well */
    assert_true(formats_exif_make_upright(loop.data, loop.size) <= loop.size);
    assert_int_equal(formats_exif_orientation(loop.data, loop.size), 1);
    formats_buffer_free(&loop);
    for (size_t n = 0; n <= EXIF_SIZE; n++) {
        formats_buffer exif = make_exif(3, n & 1);
        uint8_t *part = malloc(n + 1);
        memcpy(part, exif.data, n);
        assert_true(formats_exif_make_upright(part, n) <= n);
        free(part);
        for (unsigned value = 0; n < EXIF_FRONT + 30 && value < 256; value += 17) {
            const uint8_t before = exif.data[n];
            exif.data[n] = (uint8_t)value;
            uint8_t *copy = malloc(exif.size);
            memcpy(copy, exif.data, exif.size);
            assert_true(formats_exif_make_upright(copy, exif.size) <= exif.size);
            free(copy);
            exif.data[n] = before;
        }
        formats_buffer_free(&exif);
    }
}

static void xmp_is_upright(void **state) {
    (void)state;
    char text[sizeof xmp_packet];
    memcpy(text, xmp_packet, sizeof text);
    formats_xmp_make_upright(text, sizeof text - 1);
    assert_non_null(strstr(text, "tiff:Orientation=\"1\""));
    assert_non_null(strstr(text, "<tiff:Orientation> 1 <"));
    assert_int_equal(formats_xmp_orientation(text, sizeof text - 1), 1);
}

/* --- settled ----------------------------------------------------------------------------- */

static void profiles_fit_their_images(void **state) {
    (void)state;
    for (unsigned channels = 1; channels <= 4; channels++)
        for (int kind = 0; kind < 6; kind++) {
            formats_metadata m = {.icc = make_profile(200, kind == 1   ? "GRAY"
                                                           : kind == 5 ? "CMYK"
                                                                       : "RGB ")};
            if (kind == 2) formats_set_u32be(m.icc.bytes, 201); /* longer than it is */
            if (kind == 3) formats_set_u32be(m.icc.bytes, 160); /* shorter */
            if (kind == 4) m.icc.bytes[36] = 'x';
            const int fits = kind == 5 ? 0 : kind == 1 ? channels < 3 : channels > 2;
            const size_t size = fits && kind != 2 && kind != 4 ? kind == 3 ? 160 : 200 : 0;
            formats_metadata_settle(&m, channels);
            assert_int_equal(m.icc.size, size);
            assert_int_equal(m.left_out, size || kind == 5 ? 0 : FORMATS_LEFT_ICC);
            formats_metadata_free(&m);
        }
}

static void the_look_is_what_differs_from_srgb(void **state) {
    (void)state;
    formats_metadata m = make_metadata(3);
    m.has_modified = 1;
    formats_metadata_keep_look(&m); /* cICP counts alone */
    assert_true(m.has_cicp && !m.icc.bytes && !m.exif.bytes && !m.xmp.bytes && !m.gamma);
    assert_true(!m.density_x && !m.has_modified && !m.chromaticities[3]);
    m = (formats_metadata){.has_cicp = 1, .cicp = {1, 13, 0, 1}, .gamma = 100000};
    formats_metadata_keep_look(&m);
    assert_true(!m.has_cicp && !m.gamma);
    m = (formats_metadata){.icc = make_profile(200, "RGB "), .gamma = 45455};
    formats_metadata_keep_look(&m);
    assert_true(m.icc.bytes && !m.gamma);
    formats_metadata_free(&m);
    m = (formats_metadata){.gamma = 100000};
    formats_metadata_keep_look(&m);
    assert_int_equal(m.gamma, 100000);
    m = (formats_metadata){.gamma = 45455};
    formats_metadata_keep_look(&m);
    assert_int_equal(m.gamma, 0);
}

static void the_library_has_the_same(void **state) {
    (void)state;
    formats_metadata m = make_metadata(3), back;
    m.has_modified = 1, m.modified_ns = -5;
    const taper_metadata public = formats_metadata_public(&m);
    assert_int_equal(formats_metadata_copy(&public, &back), 1);
    assert_same(&back, &m);
    assert_true(back.has_modified && back.modified_ns == -5);
    formats_metadata_free(&m), formats_metadata_free(&back);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_png_has_what_was_written),
        cmocka_unit_test(damaged_chunks_are_left_out),
        cmocka_unit_test(a_jpeg_has_what_was_written),
        cmocka_unit_test(libjpeg_reads_what_was_written),
        cmocka_unit_test(a_jpeg_leaves_out_what_has_no_place),
        cmocka_unit_test(parts_of_a_profile_are_joined),
        cmocka_unit_test(exif_is_upright_and_without_thumbnail),
        cmocka_unit_test(data_behind_a_thumbnail_stay),
        cmocka_unit_test(damaged_exif_is_survived),
        cmocka_unit_test(xmp_is_upright),
        cmocka_unit_test(profiles_fit_their_images),
        cmocka_unit_test(the_look_is_what_differs_from_srgb),
        cmocka_unit_test(the_library_has_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
