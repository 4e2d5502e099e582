/* test_png.c -- PNG: every kind of file, round trips, damage, limits. The files are written by
 * libpng from raw samples; what decoding must give is worked out here from the same samples. */
#include "cmocka_all.h"
#include "formats/bytes.h"
#include "formats/images/png.h"
#include "pictures.h"
#include <png.h>
#include <string.h>
#include <zlib.h>

enum { SIDE_MAX = 20, PALETTE = 256 };

/* A PNG to be written: raw samples as stored, one number each, before packing. */
typedef struct png_plan {
    uint32_t width, height;
    int colour, depth, interlaced, transparent;
    unsigned samples[SIDE_MAX * SIDE_MAX * 4];
    png_color palette[PALETTE];
    png_byte palette_alpha[PALETTE];
} png_plan;

static unsigned stored_channels(int colour) {
    return colour == PNG_COLOR_TYPE_RGB          ? 3
           : colour == PNG_COLOR_TYPE_RGB_ALPHA  ? 4
           : colour == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
                                                 : 1;
}

static void fill_plan(png_plan *p, uint64_t *seed) {
    size_t n = (size_t)p->width * p->height * stored_channels(p->colour);
    for (size_t i = 0; i < n; i++)
        p->samples[i] = (unsigned)(picture_random(seed) >> 40) & ((1u << p->depth) - 1);
    for (int i = 0; i < PALETTE; i++) {
        uint64_t r = picture_random(seed);
        p->palette[i] = (png_color){(png_byte)(r >> 8), (png_byte)(r >> 16), (png_byte)(r >> 24)};
        p->palette_alpha[i] = (png_byte)(r >> 32);
    }
}

static void to_buffer(png_structp png, png_bytep bytes, size_t n) {
    formats_write_bytes(png_get_io_ptr(png), bytes, n);
}

static void no_flush(png_structp png) { (void)png; }

/* Pack one row of samples as PNG stores it. */
static void pack_row(const png_plan *p, uint32_t y, uint8_t *row) {
    size_t n = (size_t)p->width * stored_channels(p->colour);
    const unsigned *from = p->samples + y * n;
    memset(row, 0, n * 2 + 1);
    for (size_t i = 0; i < n; i++) {
        if (p->depth == 16)
            formats_set_u16be(row + 2 * i, (uint16_t)from[i]);
        else {
            size_t bit = i * (size_t)p->depth;
            row[bit / 8] |= (uint8_t)(from[i] << (8 - (size_t)p->depth - bit % 8));
        }
    }
}

static void write_transparency(const png_plan *p, png_structp png, png_infop info) {
    png_color_16 key = {0};
    key.gray = key.red = (png_uint_16)p->samples[0];
    if (p->colour == PNG_COLOR_TYPE_RGB) {
        key.green = (png_uint_16)p->samples[1];
        key.blue = (png_uint_16)p->samples[2];
    }
    if (p->colour == PNG_COLOR_TYPE_PALETTE)
        png_set_tRNS(png, info, p->palette_alpha, 1 << p->depth, NULL);
    else
        png_set_tRNS(png, info, NULL, 0, &key);
}

static formats_buffer write_plan(const png_plan *p) {
    formats_buffer buffer = formats_buffer_make(1 << 20);
    static uint8_t rows[SIDE_MAX][SIDE_MAX * 8 + 1];
    png_bytep pointers[SIDE_MAX];
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &buffer, to_buffer, no_flush);
    png_set_IHDR(png, info, p->width, p->height, p->depth, p->colour,
                 p->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    if (p->colour == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, p->palette, 1 << p->depth);
    if (p->transparent) write_transparency(p, png, info);
    png_set_gAMA(png, info, 0.45455); /* to be passed over */
    for (uint32_t y = 0; y < p->height; y++) {
        pack_row(p, y, rows[y]);
        pointers[y] = rows[y];
    }
    png_write_info(png, info);
    png_write_image(png, pointers);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    assert_int_equal(buffer.status, TAPER_OK);
    return buffer;
}

/* What pixel i of the plan must decode to: returns the number of channels before dropping alpha. */
static unsigned expected_pixel(const png_plan *p, size_t i, unsigned out[4]) {
    unsigned n = stored_channels(p->colour), opaque = p->depth == 16 ? 65535 : 255;
    const unsigned *s = p->samples + i * n;
    if (p->colour == PNG_COLOR_TYPE_PALETTE) {
        const png_color *c = &p->palette[s[0]];
        out[0] = c->red;
        out[1] = c->green;
        out[2] = c->blue;
        out[3] = p->palette_alpha[s[0]];
        return p->transparent ? 4 : 3;
    }
    int is_key = 1;
    for (unsigned c = 0; c < n; c++) {
        is_key &= s[c] == p->samples[c];
        out[c] = p->depth < 8 ? s[c] * 255 / ((1u << p->depth) - 1) : s[c];
    }
    if (!p->transparent) return n;
    out[n] = is_key ? 0 : opaque;
    return n + 1;
}

static unsigned sample_of(const taper_image *image, size_t i) {
    return image->depth == 8 ? ((uint8_t *)image->pixels)[i] : ((uint16_t *)image->pixels)[i];
}

static void check_plan(const png_plan *p) {
    formats_buffer file = write_plan(p);
    taper_image image;
    taper_error error = {.status = TAPER_OK};
    if (formats_png_decode(file.data, file.size, NULL, &image, NULL, &error) != TAPER_OK)
        fail_msg("colour %d depth %d: %s", p->colour, p->depth, error.text);
    assert_int_equal(image.width, p->width);
    assert_int_equal(image.height, p->height);
    assert_int_equal(image.depth, p->depth == 16 ? 16 : 8);
    unsigned opaque = p->depth == 16 ? 65535 : 255, expected[4];
    int all_opaque = 1;
    for (size_t i = 0; i < (size_t)p->width * p->height; i++) {
        unsigned n = expected_pixel(p, i, expected), kept = image.channels;
        assert_true(kept == n || (kept == n - 1 &&
                                  formats_image_has_alpha(&(taper_image){.channels = (uint8_t)n})));
        for (unsigned c = 0; c < kept; c++)
            assert_int_equal(sample_of(&image, i * kept + c), expected[c]);
        if (kept < n) assert_int_equal(expected[n - 1], opaque);
        if (n == 2 || n == 4) all_opaque &= expected[n - 1] == opaque;
    }
    assert_true(all_opaque == !formats_image_has_alpha(&image));
    formats_image_free(&image);
    formats_buffer_free(&file);
}

static void every_kind_of_file_decodes(void **state) {
    (void)state;
    static const struct {
        int colour, depth;
    } kinds[] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                 {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
    static const uint32_t sizes[][2] = {{1, 1}, {3, 5}, {8, 8}, {17, 9}, {20, 1}, {1, 20}};
    uint64_t seed = 20140421;
    static png_plan p;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            for (int variant = 0; variant < 4; variant++) {
                p.width = sizes[s][0];
                p.height = sizes[s][1];
                p.colour = kinds[k].colour;
                p.depth = kinds[k].depth;
                p.interlaced = variant & 1;
                p.transparent = variant >> 1 && p.colour < 4;
                fill_plan(&p, &seed);
                check_plan(&p);
            }
}

static void encoding_loses_nothing(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {2, 3}, {32, 32}, {301, 7}, {5, 1000}};
    for (unsigned channels = 1; channels <= 4; channels++)
        for (unsigned depth = 8; depth <= 16; depth += 8)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                taper_image image = picture_noise(sizes[s][0], sizes[s][1], channels, depth, s + 1),
                            back;
                if (channels % 2 == 0) { /* an alpha that is not opaque, so that it is kept */
                    uint8_t *pixels = image.pixels;
                    memset(pixels + (channels - 1) * (depth / 8), 0, depth / 8);
                }
                uint8_t *bytes;
                size_t n;
                assert_int_equal(formats_png_encode(&image, &bytes, &n, NULL), TAPER_OK);
                assert_true(formats_png_detect(bytes, n));
                assert_int_equal(formats_png_decode(bytes, n, NULL, &back, NULL, NULL), TAPER_OK);
                assert_true(image_equal(&image, &back));
                free(bytes);
                formats_image_free(&image);
                formats_image_free(&back);
            }
}

static void opaque_alpha_is_dropped(void **state) {
    (void)state;
    for (unsigned channels = 2; channels <= 4; channels += 2)
        for (unsigned depth = 8; depth <= 16; depth += 8) {
            taper_image image = picture_noise(6, 5, channels, depth, 3), back;
            size_t step = channels * (depth / 8), last = (channels - 1) * (depth / 8);
            for (size_t i = 0; i < 30; i++)
                memset((uint8_t *)image.pixels + i * step + last, 0xFF, depth / 8);
            uint8_t *bytes;
            size_t n;
            assert_int_equal(formats_png_encode(&image, &bytes, &n, NULL), TAPER_OK);
            assert_int_equal(formats_png_decode(bytes, n, NULL, &back, NULL, NULL), TAPER_OK);
            assert_int_equal(back.channels, channels - 1);
            formats_image_drop_opaque_alpha(&image);
            assert_true(image_equal(&image, &back));
            free(bytes);
            formats_image_free(&image);
            formats_image_free(&back);
        }
}

static void every_truncation_is_told(void **state) {
    (void)state;
    taper_image image = picture_scene(16, 12, 3, 0), back;
    uint8_t *bytes;
    size_t n;
    assert_int_equal(formats_png_encode(&image, &bytes, &n, NULL), TAPER_OK);
    for (size_t cut = 0; cut < n - 12; cut++) { /* behind it IEND alone */
        /* a copy of its own, so that a sanitizer sees a read behind the end */
        uint8_t *part = malloc(cut ? cut : 1);
        memcpy(part, bytes, cut);
        taper_error error = {.status = TAPER_OK};
        assert_int_equal(formats_png_decode(part, cut, NULL, &back, NULL, &error),
                         TAPER_ERR_TRUNCATED);
        assert_null(back.pixels);
        assert_non_null(strstr(error.text, "early"));
        free(part);
    }
    free(bytes);
    formats_image_free(&image);
}

/* The data of an image in pieces of 40 bytes: a part of IEND, or other bytes in its place. */
static void whole_data_need_no_end(void **state) {
    (void)state;
    taper_image image = picture_scene(40, 30, 3, 0), back;
    uint8_t *bytes;
    size_t n;
    assert_int_equal(formats_png_encode(&image, &bytes, &n, NULL), TAPER_OK);
    formats_buffer file = formats_buffer_make(1 << 20);
    formats_write_bytes(&file, bytes, 33);
    const size_t size = formats_get_u32be(bytes + 33);
    for (size_t at = 0, more; at < size; at += more) {
        more = formats_smaller(40, size - at);
        uint8_t chunk[52];
        formats_set_u32be(chunk, (uint32_t)more);
        memcpy(chunk + 4, "IDAT", 4);
        memcpy(chunk + 8, bytes + 41 + at, more);
        formats_set_u32be(chunk + 8 + more, (uint32_t)crc32(0, chunk + 4, (uInt)more + 4));
        formats_write_bytes(&file, chunk, more + 12);
    }
    const size_t whole = file.size;
    static const char *const ends[] = {"\0\0\0\0IEND\xAE\x42\x60\x82", "nothing of a PNG",
                                       "\0\0\0\0IEND\0\0\0\0\0\0\0"};
    for (size_t k = 0; k < 3; k++) {
        file.size = whole;
        formats_write_bytes(&file, ends[k], k ? 16 : 12);
        for (size_t cut = 0; cut <= file.size; cut++) {
            uint8_t *part = malloc(cut + !cut);
            memcpy(part, file.data, cut);
            taper_error error = {.status = TAPER_OK};
            taper_status status = formats_png_decode(part, cut, NULL, &back, NULL, &error);
            assert_int_equal(status, cut < whole ? TAPER_ERR_TRUNCATED : TAPER_OK);
            if (cut < whole)
                assert_non_null(strstr(error.text, "early"));
            else
                assert_true(image_equal(&image, &back));
            formats_image_free(&back);
            free(part);
        }
    }
    formats_buffer_free(&file);
    free(bytes);
    formats_image_free(&image);
}

static void every_flipped_bit_is_survived(void **state) {
    (void)state;
    taper_image image = picture_scene(9, 7, 3, 0), back;
    uint8_t *bytes;
    size_t n, told = 0;
    assert_int_equal(formats_png_encode(&image, &bytes, &n, NULL), TAPER_OK);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        taper_error error = {.status = TAPER_OK};
        taper_status status = formats_png_decode(bytes, n, NULL, &back, NULL, &error);
        if (status == TAPER_OK) { /* only in what does not carry pixels */
            assert_true(image_equal(&image, &back));
            formats_image_free(&back);
        } else {
            told++;
            assert_int_equal(error.status, status);
            assert_true(error.text[0] != '\0');
            assert_null(back.pixels);
        }
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(told > 7 * n);
    free(bytes);
    formats_image_free(&image);
}

/* The front of a file: signature and IHDR with its CRC. */
static size_t make_header(uint8_t *to, uint32_t width, uint32_t height) {
    static const uint8_t front[16] = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
    memcpy(to, front, 16);
    formats_set_u32be(to + 16, width);
    formats_set_u32be(to + 20, height);
    memcpy(to + 24, "\x08\x02\0\0\0", 5);
    uint32_t crc = 0xFFFFFFFF;
    for (int i = 12; i < 29; i++) {
        crc ^= to[i];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    }
    formats_set_u32be(to + 29, ~crc);
    return 33;
}

static void bombs_are_refused_by_their_header(void **state) {
    (void)state;
    uint8_t bytes[200] = {0};
    taper_image image;
    taper_error error;
    make_header(bytes, 60000, 60000);
    assert_int_equal(formats_png_decode(bytes, sizeof bytes, NULL, &image, NULL, &error),
                     TAPER_ERR_LIMIT);
    assert_non_null(strstr(error.text, "60000 x 60000"));
    assert_int_equal(error.fact, TAPER_FACT_MAX_PIXELS);
    assert_null(image.pixels);
    /* within the limits, but far more than 200 bytes can hold */
    make_header(bytes, 16000, 16000);
    assert_int_equal(formats_png_decode(bytes, sizeof bytes, NULL, &image, NULL, &error),
                     TAPER_ERR_TRUNCATED);
    assert_non_null(strstr(error.text, "cannot hold"));
    make_header(bytes, 0, 5);
    assert_int_equal(formats_png_decode(bytes, sizeof bytes, NULL, &image, NULL, &error),
                     TAPER_ERR_CORRUPT);
}

static void limits_are_exact(void **state) {
    (void)state;
    taper_image image = picture_scene(10, 9, 3, 0), back;
    uint8_t *bytes;
    size_t n;
    assert_int_equal(formats_png_encode(&image, &bytes, &n, NULL), TAPER_OK);
    taper_limits limits = {.size = sizeof(taper_limits), .max_pixels = 90, .max_memory = 270};
    assert_int_equal(formats_png_decode(bytes, n, &limits, &back, NULL, NULL), TAPER_OK);
    formats_image_free(&back);
    limits.max_pixels = 89;
    assert_int_equal(formats_png_decode(bytes, n, &limits, &back, NULL, NULL), TAPER_ERR_LIMIT);
    limits = (taper_limits){.size = sizeof(taper_limits), .max_memory = 269};
    assert_int_equal(formats_png_decode(bytes, n, &limits, &back, NULL, NULL), TAPER_ERR_LIMIT);
    free(bytes);
    formats_image_free(&image);
}

static void conversions_round_to_nearest(void **state) {
    (void)state;
    taper_image image = picture_noise(256, 256, 1, 16, 1);
    uint16_t *wide = image.pixels;
    for (unsigned v = 0; v < 65536; v++) wide[v] = (uint16_t)v;
    formats_image_to_8bit(&image);
    const uint8_t *narrow = image.pixels;
    for (unsigned v = 0; v < 65536; v++) {
        double exact = v * 255.0 / 65535.0;
        assert_true(narrow[v] - exact <= 0.5 && exact - narrow[v] <= 0.5);
    }
    formats_image_free(&image);
    image = picture_noise(2, 1, 2, 8, 1);
    memcpy(image.pixels, "\x64\x80\xC8\x00", 4); /* 100 at alpha 128, 200 at alpha 0 */
    formats_image_flatten(&image, 65535);
    assert_int_equal(image.channels, 1);
    assert_memory_equal(image.pixels, "\xB1\xFF", 2); /* (100 * 128 + 255 * 127) / 255 = 177.2 */
    formats_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_file_decodes),
        cmocka_unit_test(encoding_loses_nothing),
        cmocka_unit_test(opaque_alpha_is_dropped),
        cmocka_unit_test(every_truncation_is_told),
        cmocka_unit_test(whole_data_need_no_end),
        cmocka_unit_test(every_flipped_bit_is_survived),
        cmocka_unit_test(bombs_are_refused_by_their_header),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(conversions_round_to_nearest),
    };
    return cmocka_run_group_tests_name("png", tests, NULL, NULL);
}
