/* test_bytes.c -- cursors, buffers, varints and CRC32C. */
#include "cmocka_all.h"
#include "formats/bytes.h"
#include "pictures.h"
#include <stdlib.h>
#include <string.h>

static void crc32c_equals_published_values(void **state) {
    (void)state;
    uint8_t block[32];
    assert_int_equal(formats_crc32c(0, "123456789", 9), 0xE3069283);
    assert_int_equal(formats_crc32c(0, "", 0), 0);
    /* RFC 3720 B.4 */
    memset(block, 0, sizeof block);
    assert_int_equal(formats_crc32c(0, block, 32), 0x8A9136AA);
    memset(block, 0xFF, sizeof block);
    assert_int_equal(formats_crc32c(0, block, 32), 0x62A8AB43);
    for (int i = 0; i < 32; i++) block[i] = (uint8_t)i;
    assert_int_equal(formats_crc32c(0, block, 32), 0x46DD794E);
    for (int i = 0; i < 32; i++) block[i] = (uint8_t)(31 - i);
    assert_int_equal(formats_crc32c(0, block, 32), 0x113FDB5C);
}

/* One bit at a time, straight from the definition. */
static uint32_t slow_crc32c(const uint8_t *bytes, size_t n) {
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
    }
    return ~crc;
}

static void crc32c_continues_over_any_split(void **state) {
    (void)state;
    uint8_t bytes[100];
    uint64_t seed = 7;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)picture_random(&seed);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        uint32_t expected = slow_crc32c(bytes, n);
        assert_int_equal(formats_crc32c_plain(0, bytes, n), expected);
        for (size_t cut = 0; cut <= n; cut++)
            assert_int_equal(formats_crc32c(formats_crc32c(0, bytes, cut), bytes + cut, n - cut),
                             expected);
    }
}

static void numbers_have_their_byte_order(void **state) {
    (void)state;
    formats_buffer b = formats_buffer_make(100);
    formats_write_u8(&b, 0x01);
    formats_write_u16le(&b, 0x0203);
    formats_write_u32le(&b, 0x04050607);
    formats_write_u64le(&b, 0x08090A0B0C0D0E0F);
    formats_write_u16be(&b, 0x1011);
    assert_int_equal(formats_write_u32be(&b, 0xF2131415), TAPER_OK);
    static const uint8_t expected[] = {1,    3,    2,    7,    6,    5,    4,
                                       0x0F, 0x0E, 0x0D, 0x0C, 0x0B, 0x0A, 0x09,
                                       0x08, 0x10, 0x11, 0xF2, 0x13, 0x14, 0x15};
    assert_int_equal(b.size, sizeof expected);
    assert_memory_equal(b.data, expected, sizeof expected);
    formats_cursor c = formats_cursor_over(b.data, b.size);
    assert_int_equal(formats_read_u8(&c), 1);
    assert_int_equal(formats_read_u16le(&c), 0x0203);
    assert_int_equal(formats_read_u32le(&c), 0x04050607);
    assert_true(formats_read_u64le(&c) == 0x08090A0B0C0D0E0F);
    assert_int_equal(formats_read_u16be(&c), 0x1011);
    assert_int_equal(formats_cursor_left(&c), 4);
    assert_true(formats_read_u32be(&c) == 0xF2131415);
    assert_int_equal(c.status, TAPER_OK);
    formats_buffer_free(&b);
}

static void reading_past_the_end_fails_and_stays_failed(void **state) {
    (void)state;
    static const uint8_t bytes[3] = {1, 2, 3};
    formats_cursor c = formats_cursor_over(bytes, 3);
    taper_error error;
    assert_int_equal(formats_read_u16le(&c), 0x0201);
    assert_int_equal(formats_read_u16le(&c), 0);
    assert_int_equal(c.status, TAPER_ERR_TRUNCATED);
    assert_int_equal(c.at, 2);
    assert_int_equal(formats_read_u8(&c), 0); /* though a byte is left */
    assert_int_equal(formats_cursor_left(&c), 0);
    assert_null(formats_read_bytes(&c, 0));
    assert_int_equal(formats_cursor_check(&c, "directory", &error), TAPER_ERR_TRUNCATED);
    assert_string_equal(error.text, "directory ends early at byte 2 of 3");
    c = formats_cursor_over(bytes, 3);
    assert_null(formats_read_bytes(&c, SIZE_MAX));
    c = formats_cursor_over(NULL, 0);
    assert_non_null(formats_read_bytes(&c, 0));
    assert_int_equal(formats_read_u8(&c), 0);
    assert_int_equal(c.status, TAPER_ERR_TRUNCATED);
}

static void varints_return_for_every_length(void **state) {
    (void)state;
    for (int bits = 0; bits <= 64; bits++)
        for (int less = 0; less <= 1; less++) {
            uint64_t value = (bits == 64 ? 0 : (uint64_t)1 << bits) - (uint64_t)less;
            formats_buffer b = formats_buffer_make(FORMATS_VARINT_MAX);
            assert_int_equal(formats_write_varint(&b, value), TAPER_OK);
            size_t size = 1; /* seven bits a byte */
            for (uint64_t rest = value >> 7; rest; rest >>= 7) size++;
            assert_int_equal(b.size, size);
            formats_cursor c = formats_cursor_over(b.data, b.size);
            assert_true(formats_read_varint(&c) == value);
            assert_int_equal(c.status, TAPER_OK);
            assert_int_equal(c.at, b.size);
            for (size_t cut = 0; cut < b.size; cut++) {
                c = formats_cursor_over(b.data, cut);
                assert_true(formats_read_varint(&c) == 0);
                assert_int_equal(c.status, TAPER_ERR_TRUNCATED);
                assert_int_equal(c.at, 0);
            }
            formats_buffer_free(&b);
        }
}

static void varints_have_one_form(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes[11];
        size_t n;
        taper_status status;
    } cases[] = {
        {{0x00}, 1, TAPER_OK},
        {{0x80, 0x00}, 2, TAPER_ERR_CORRUPT},
        {{0x81, 0x80, 0x00}, 3, TAPER_ERR_CORRUPT},
        {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}, 10, TAPER_OK},
        {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02}, 10, TAPER_ERR_CORRUPT},
        {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x01}, 11, TAPER_ERR_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        formats_cursor c = formats_cursor_over(cases[i].bytes, cases[i].n);
        formats_read_varint(&c);
        assert_int_equal(c.status, cases[i].status);
    }
    formats_cursor c = formats_cursor_over("\x64", 1);
    assert_int_equal(formats_read_varint_max(&c, 100), 100);
    c = formats_cursor_over("\x64", 1);
    assert_int_equal(formats_read_varint_max(&c, 99), 0);
    assert_int_equal(c.status, TAPER_ERR_CORRUPT);
    assert_int_equal(c.at, 0);
}

static void buffers_stop_at_their_ceiling(void **state) {
    (void)state;
    for (size_t ceiling = 0; ceiling < 200; ceiling += 7) {
        formats_buffer b = formats_buffer_make(ceiling);
        for (size_t i = 0; i < ceiling; i++) {
            assert_int_equal(formats_write_u8(&b, (uint8_t)i), TAPER_OK);
            assert_true(b.capacity <= ceiling);
        }
        assert_int_equal(formats_write_u8(&b, 0), TAPER_ERR_LIMIT);
        assert_int_equal(b.size, ceiling);
        assert_int_equal(formats_write_bytes(&b, "", 0), TAPER_ERR_LIMIT); /* stays failed */
        for (size_t i = 0; i < ceiling; i++) assert_int_equal(b.data[i], (uint8_t)i);
        formats_buffer_clear(&b);
        assert_int_equal(b.status, TAPER_OK);
        assert_int_equal(formats_buffer_reserve(&b, SIZE_MAX), TAPER_ERR_LIMIT);
        formats_buffer_free(&b);
    }
}

static void buffers_hand_over_their_bytes(void **state) {
    (void)state;
    formats_buffer b = formats_buffer_make(1000);
    size_t n;
    assert_null(formats_buffer_take(&b, &n));
    uint8_t *room = formats_buffer_extend(&b, 4);
    assert_non_null(room);
    memcpy(room, "abcd", 4);
    formats_write_bytes(&b, "ef", 2);
    uint8_t *bytes = formats_buffer_take(&b, &n);
    assert_int_equal(n, 6);
    assert_memory_equal(bytes, "abcdef", 6);
    assert_null(b.data);
    free(bytes);
    assert_null(formats_buffer_extend(&b, 1001));
    assert_int_equal(b.status, TAPER_ERR_LIMIT);
    formats_buffer_free(&b);
}

static void products_and_sums_saturate(void **state) {
    (void)state;
    uint64_t out;
    assert_int_equal(formats_mul_u64(UINT32_MAX, UINT32_MAX, &out), TAPER_OK);
    assert_true(out == (uint64_t)UINT32_MAX * UINT32_MAX);
    assert_int_equal(formats_mul_u64((uint64_t)1 << 32, (uint64_t)1 << 32, &out), TAPER_ERR_LIMIT);
    assert_true(out == UINT64_MAX);
    assert_int_equal(formats_mul_u64(UINT64_MAX, 0, &out), TAPER_OK);
    assert_true(out == 0);
    assert_int_equal(formats_add_u64(UINT64_MAX, 0, &out), TAPER_OK);
    assert_int_equal(formats_add_u64(UINT64_MAX, 1, &out), TAPER_ERR_LIMIT);
    assert_true(out == UINT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc32c_equals_published_values),
        cmocka_unit_test(crc32c_continues_over_any_split),
        cmocka_unit_test(numbers_have_their_byte_order),
        cmocka_unit_test(reading_past_the_end_fails_and_stays_failed),
        cmocka_unit_test(varints_return_for_every_length),
        cmocka_unit_test(varints_have_one_form),
        cmocka_unit_test(buffers_stop_at_their_ceiling),
        cmocka_unit_test(buffers_hand_over_their_bytes),
        cmocka_unit_test(products_and_sums_saturate),
    };
    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
