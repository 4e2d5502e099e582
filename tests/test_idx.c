/* test_idx.c -- IDX images and labels, plain and gzip: layouts, round trips, damage, bombs. */
#include "cmocka_all.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include "formats/images/gzip.h"
#include "formats/images/idx.h"
#include "pictures.h"
#include <string.h>

enum { COUNT = 5 };

static void make_images(taper_image images[COUNT], unsigned channels) {
    for (unsigned i = 0; i < COUNT; i++) images[i] = picture_noise(6, 4, channels, 8, i + 1);
}

static void free_images(taper_image images[COUNT]) {
    for (int i = 0; i < COUNT; i++) formats_image_free(&images[i]);
}

static void encoding_loses_nothing(void **state) {
    (void)state;
    for (unsigned channels = 1; channels <= 4; channels++)
        for (int gzip = 0; gzip <= 1; gzip++) {
            taper_image images[COUNT], back;
            make_images(images, channels);
            uint8_t *bytes, *plain;
            size_t n;
            assert_int_equal(formats_idx_encode_images(images, COUNT, gzip, &bytes, &n, NULL),
                             TAPER_OK);
            assert_int_equal(formats_gzip_detect(bytes, n), gzip);
            if (gzip) {
                assert_int_equal(formats_idx_unpack(bytes, n, NULL, &plain, &n, NULL), TAPER_OK);
                free(bytes);
                bytes = plain;
            }
            assert_int_equal(formats_idx_detect(bytes, n), channels == 1 ? 3 : 4);
            formats_memory memory = {bytes, n};
            taper_source source = formats_memory_source(&memory);
            formats_idx idx;
            assert_int_equal(formats_idx_open(&source, NULL, &idx, NULL), TAPER_OK);
            assert_int_equal(idx.count, COUNT);
            assert_int_equal(idx.width, 6);
            assert_int_equal(idx.height, 4);
            assert_int_equal(idx.channels, channels);
            for (uint32_t i = 0; i < COUNT; i++) {
                assert_int_equal(formats_idx_read(&source, &idx, i, &back, NULL), TAPER_OK);
                assert_true(image_equal(&images[i], &back));
                formats_image_free(&back);
            }
            assert_int_equal(formats_idx_read(&source, &idx, COUNT, &back, NULL), TAPER_ERR_ARG);
            free(bytes);
            free_images(images);
        }
}

static void planar_files_are_interleaved(void **state) {
    (void)state;
    formats_buffer b = formats_buffer_make(1000);
    static const uint32_t header[] = {0x00000804, 2, 3, 5, 6};
    for (int i = 0; i < 5; i++) formats_write_u32be(&b, header[i]);
    for (int i = 0; i < 180; i++) formats_write_u8(&b, (uint8_t)i);
    formats_memory memory = {b.data, b.size};
    taper_source source = formats_memory_source(&memory);
    formats_idx idx;
    taper_image image;
    assert_int_equal(formats_idx_open(&source, NULL, &idx, NULL), TAPER_OK);
    assert_int_equal(idx.planar, 1);
    assert_int_equal(idx.channels, 3);
    assert_int_equal(idx.height, 5);
    assert_int_equal(idx.width, 6);
    assert_int_equal(formats_idx_read(&source, &idx, 1, &image, NULL), TAPER_OK);
    for (int i = 0; i < 30; i++)
        for (int c = 0; c < 3; c++)
            assert_int_equal(((uint8_t *)image.pixels)[3 * i + c], 90 + 30 * c + i);
    formats_image_free(&image);
    formats_buffer_free(&b);
}

static void labels_return(void **state) {
    (void)state;
    static const uint8_t labels[7] = {3, 0, 255, 9, 9, 1, 2};
    for (int gzip = 0; gzip <= 1; gzip++) {
        uint8_t *bytes, *back;
        size_t n, count;
        assert_int_equal(formats_idx_encode_labels(labels, 7, gzip, &bytes, &n, NULL), TAPER_OK);
        assert_int_equal(formats_idx_labels_decode(bytes, n, NULL, &back, &count, NULL), TAPER_OK);
        assert_int_equal(count, 7);
        assert_memory_equal(back, labels, 7);
        free(back);
        const taper_limits limits = {.size = sizeof(taper_limits), .max_images = 6};
        assert_int_equal(formats_idx_labels_decode(bytes, n, &limits, &back, &count, NULL),
                         TAPER_ERR_LIMIT);
        assert_null(back);
        for (size_t cut = 0; cut < n; cut++) {
            taper_error error = {.status = TAPER_OK};
            assert_int_equal(formats_idx_labels_decode(bytes, cut, NULL, &back, &count, &error),
                             TAPER_ERR_TRUNCATED);
            assert_true(error.text[0] != '\0');
            assert_null(back);
        }
        free(bytes);
    }
}

/* An IDX file of n signed integers of 1, 2 or 4 bytes, in rows of so many columns, 0: no rows. */
static formats_buffer make_integers(uint8_t type, unsigned columns, const int *values, size_t n) {
    static const uint8_t sizes[] = {[9] = 1, [11] = 2, [12] = 4};
    formats_buffer b = formats_buffer_make(1 << 16);
    formats_write_u16be(&b, 0);
    formats_write_u8(&b, type);
    formats_write_u8(&b, columns ? 2 : 1);
    formats_write_u32be(&b, (uint32_t)(columns ? n / columns : n));
    if (columns) formats_write_u32be(&b, columns);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = sizes[type]; k-- > 0;)
            formats_write_u8(&b, (uint8_t)((uint32_t)values[i] >> 8 * k));
    assert_int_equal(b.status, TAPER_OK);
    return b;
}

/* Every type of integers, plain and packed; QMNIST's table; what cannot be a class, with its place.
 */
static void labels_of_integers_are_read(void **state) {
    (void)state;
    static const int values[16] = {3, 0, 127, 9, 1, 2, 7, 5, 100, 4, 6, 8, 11, 12, 13, 14};
    static const struct {
        uint8_t type;
        unsigned columns, labels; /* labels: 0 when they are refused */
    } kinds[] = {{9, 0, 16}, {11, 0, 16}, {12, 0, 16}, {11, 1, 16}, {12, 1, 16},
                 {12, 8, 2}, {11, 8, 0},  {12, 2, 0},  {9, 8, 0}};
    uint8_t *back, *packed;
    size_t count, size;
    taper_error error;
    for (size_t k = 0; k < 2 * sizeof kinds / sizeof kinds[0]; k++) {
        const unsigned labels = kinds[k / 2].labels, step = labels ? 16 / labels : 0;
        formats_buffer b = make_integers(kinds[k / 2].type, kinds[k / 2].columns, values, 16);
        assert_int_equal(formats_gzip_pack(b.data, b.size, &packed, &size, NULL), TAPER_OK);
        const taper_status status = formats_idx_labels_decode(
            k % 2 ? packed : b.data, k % 2 ? size : b.size, NULL, &back, &count, &error);
        assert_int_equal(status, labels ? TAPER_OK : TAPER_ERR_CORRUPT);
        assert_int_equal(count, labels);
        for (size_t i = 0; i < labels; i++) assert_int_equal(back[i], values[i * step]);
        if (!labels) assert_non_null(strstr(error.text, "QMNIST"));
        free(back), free(packed);
        formats_buffer_free(&b);
    }
    static const int beyond[][3] = {{1, 2, 256}, {1, 2, -1}, {1, 2, INT32_MIN}};
    for (size_t k = 0; k < 3; k++) {
        formats_buffer b = make_integers(12, 0, beyond[k], 3);
        assert_int_equal(formats_idx_labels_decode(b.data, b.size, NULL, &back, &count, &error),
                         TAPER_ERR_CORRUPT);
        assert_null(back);
        assert_non_null(strstr(error.text, "label 3 "));
        assert_non_null(strstr(error.text, "0 to 255"));
        formats_buffer_free(&b);
    }
}

static taper_status open_bytes(const uint8_t *bytes, size_t n, const taper_limits *limits,
                               taper_error *error) {
    formats_memory memory = {bytes, n};
    taper_source source = formats_memory_source(&memory);
    formats_idx idx;
    return formats_idx_open(&source, limits, &idx, error);
}

static void every_truncation_is_told(void **state) {
    (void)state;
    taper_image images[COUNT];
    make_images(images, 1);
    for (int gzip = 0; gzip <= 1; gzip++) {
        uint8_t *bytes, *plain;
        size_t n, size;
        assert_int_equal(formats_idx_encode_images(images, COUNT, gzip, &bytes, &n, NULL),
                         TAPER_OK);
        for (size_t cut = 0; cut < n; cut++) {
            uint8_t *part = malloc(cut ? cut : 1);
            memcpy(part, bytes, cut);
            taper_error error = {.status = TAPER_OK};
            taper_status status = gzip ? formats_idx_unpack(part, cut, NULL, &plain, &size, &error)
                                       : open_bytes(part, cut, NULL, &error);
            assert_int_equal(status, TAPER_ERR_TRUNCATED);
            assert_true(error.text[0] != '\0');
            free(part);
        }
        free(bytes);
    }
    free_images(images);
}

/* gzip has a checksum, so that any flipped bit of data is found. What still decodes is unharmed. */
static void every_flipped_bit_of_gzip_is_survived(void **state) {
    (void)state;
    taper_image images[COUNT];
    make_images(images, 1);
    uint8_t *bytes, *plain, *right;
    size_t n, size, right_size;
    assert_int_equal(formats_idx_encode_images(images, COUNT, 1, &bytes, &n, NULL), TAPER_OK);
    assert_int_equal(formats_idx_encode_images(images, COUNT, 0, &right, &right_size, NULL),
                     TAPER_OK);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        taper_error error = {.status = TAPER_OK};
        taper_status status = formats_idx_unpack(bytes, n, NULL, &plain, &size, &error);
        if (status == TAPER_OK) {
            assert_int_equal(size, right_size);
            assert_memory_equal(plain, right, right_size);
        }
        assert_true((status == TAPER_OK) == (plain != NULL));
        free(plain);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(right);
    free(bytes);
    free_images(images);
}

static void bad_headers_are_told(void **state) {
    (void)state;
    static const struct {
        uint32_t words[5];
        size_t n;
        taper_status status;
    } bad[] = {
        {{0x00000D03, 1, 2, 2}, 20, TAPER_ERR_UNSUPPORTED}, /* floats */
        {{0x00000801, 16}, 24, TAPER_ERR_UNSUPPORTED},      /* labels */
        {{0x00000802, 2, 8}, 28, TAPER_ERR_UNSUPPORTED},
        {{0x00000805, 1, 1, 1, 1}, 20, TAPER_ERR_UNSUPPORTED},
        {{0x00000800, 0}, 8, TAPER_ERR_CORRUPT},
        {{0x01000803, 1, 2, 2}, 20, TAPER_ERR_CORRUPT},
        {{0x00000803, 0, 2, 2}, 16, TAPER_ERR_CORRUPT}, /* no images */
        {{0x00000803, 1, 0, 2}, 16, TAPER_ERR_CORRUPT},
        {{0x00000803, 1, 2, 2}, 21, TAPER_ERR_CORRUPT}, /* a byte too many */
        {{0x00000803, 1, 2, 2}, 19, TAPER_ERR_TRUNCATED},
        {{0x00000803, 1, 60000, 60000}, 100, TAPER_ERR_LIMIT},
        {{0x00000803, 0xFFFFFFFF, 28, 28}, 100, TAPER_ERR_LIMIT},
        {{0x00000803, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, 100, TAPER_ERR_LIMIT},
        {{0x00000803, 1024, 1024, 1024}, 100, TAPER_ERR_TRUNCATED}, /* claims 1 GB */
        {{0x00000804, 1, 2, 2, 7}, 48, TAPER_ERR_UNSUPPORTED},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        uint8_t bytes[128] = {0};
        for (size_t i = 0; i < 5; i++) formats_set_u32be(bytes + 4 * i, bad[k].words[i]);
        taper_error error = {.status = TAPER_OK};
        taper_status status = open_bytes(bytes, bad[k].n, NULL, &error);
        if (status != bad[k].status) fail_msg("header %zu: status %d, %s", k, status, error.text);
        assert_true(error.text[0] != '\0');
    }
}

static taper_status unpack_claim(const uint32_t words[4], size_t payload,
                                 const taper_limits *limits, taper_error *error) {
    uint8_t *plain = calloc(16 + payload, 1), *packed, *out;
    size_t n, size;
    for (size_t i = 0; i < 4; i++) formats_set_u32be(plain + 4 * i, words[i]);
    assert_int_equal(formats_gzip_pack(plain, 16 + payload, &packed, &n, NULL), TAPER_OK);
    taper_status status = formats_idx_unpack(packed, n, limits, &out, &size, error);
    assert_true((status == TAPER_OK) == (out != NULL));
    free(out);
    free(plain);
    free(packed);
    return status;
}

static void gzip_bombs_are_refused_by_their_header(void **state) {
    (void)state;
    taper_error error;
    static const uint32_t gigabyte[4] = {0x00000803, 1024, 1024, 1024},
                          small[4] = {0x00000803, 10, 10, 10},
                          huge[4] = {0x00000803, 1 << 10, 1 << 20, 1 << 20},
                          many[4] = {0x00000803, 1 << 20, 1, 1};
    assert_int_equal(unpack_claim(gigabyte, 1000, NULL, &error), TAPER_ERR_TRUNCATED);
    assert_non_null(strstr(error.text, "cannot hold"));
    assert_int_equal(unpack_claim(huge, 1000, NULL, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_MEMORY);
    assert_int_equal(unpack_claim(many, 1000, NULL, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_IMAGES);
    /* expands beyond its claim: stopped there */
    assert_int_equal(unpack_claim(small, 1001, NULL, &error), TAPER_ERR_CORRUPT);
    assert_int_equal(unpack_claim(small, 5000000, NULL, &error), TAPER_ERR_CORRUPT);
    assert_int_equal(unpack_claim(small, 999, NULL, &error), TAPER_ERR_TRUNCATED);
    assert_int_equal(unpack_claim(small, 1000, NULL, &error), TAPER_OK);
    const taper_limits limits = {.size = sizeof(taper_limits), .max_memory = 1015};
    assert_int_equal(unpack_claim(small, 1000, &limits, &error), TAPER_ERR_LIMIT);
}

static void gzip_members_are_joined(void **state) {
    (void)state;
    uint8_t *first, *second, both[200], out[11];
    size_t n, m;
    assert_int_equal(formats_gzip_pack("hello ", 6, &first, &n, NULL), TAPER_OK);
    assert_int_equal(formats_gzip_pack("world", 5, &second, &m, NULL), TAPER_OK);
    memcpy(both, first, n);
    memcpy(both + n, second, m);
    assert_int_equal(formats_gzip_unpack(both, n + m, out, 11, NULL), TAPER_OK);
    assert_memory_equal(out, "hello world", 11);
    assert_int_equal(formats_gzip_unpack(both, n, out, 11, NULL), TAPER_ERR_TRUNCATED);
    assert_int_equal(formats_gzip_unpack(both, n + m, out, 6, NULL), TAPER_ERR_CORRUPT);
    free(first);
    free(second);
}

static void writers_refuse_mixed_images(void **state) {
    (void)state;
    taper_image images[2] = {picture_noise(3, 3, 1, 8, 1), picture_noise(3, 4, 1, 8, 2)};
    uint8_t *bytes;
    size_t n;
    assert_int_equal(formats_idx_encode_images(images, 2, 0, &bytes, &n, NULL), TAPER_ERR_ARG);
    assert_null(bytes);
    assert_int_equal(formats_idx_encode_images(images, 0, 0, &bytes, &n, NULL), TAPER_ERR_ARG);
    formats_image_free(&images[0]);
    formats_image_free(&images[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoding_loses_nothing),
        cmocka_unit_test(planar_files_are_interleaved),
        cmocka_unit_test(labels_return),
        cmocka_unit_test(labels_of_integers_are_read),
        cmocka_unit_test(every_truncation_is_told),
        cmocka_unit_test(every_flipped_bit_of_gzip_is_survived),
        cmocka_unit_test(bad_headers_are_told),
        cmocka_unit_test(gzip_bombs_are_refused_by_their_header),
        cmocka_unit_test(gzip_members_are_joined),
        cmocka_unit_test(writers_refuse_mixed_images),
    };
    return cmocka_run_group_tests_name("idx", tests, NULL, NULL);
}
