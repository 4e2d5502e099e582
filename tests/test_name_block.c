/* test_name_block.c -- blocks of names: where each begins, as by the reference implementation; what
 * is called plain is legal. */
#include "formats/front.h"
#include "formats/name_block.h"
#include "cmocka_all.h"
#include "random_bits.h"

enum { MOST = 400 };

/* Both implementations, on a copy of exactly these bytes. */
static formats_name_block find_both(const uint8_t *bytes, size_t size, uint32_t n, uint32_t *at) {
    uint8_t *copy = malloc(size ? size : 1);
    uint32_t other[MOST] = {0};
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    memset(at, 0, MOST * sizeof *at);
    const formats_name_block want = formats_name_block_find_plain(copy, size, n, other);
    const formats_name_block got = formats_name_block_find(copy, size, n, at);
    assert_int_equal(got.found, want.found);
    assert_int_equal(got.used, want.used);
    assert_int_equal(got.are_plain, want.are_plain);
    assert_memory_equal(at, other, sizeof other);
    free(copy);
    return got;
}

/* Letters, and rarely what a name cannot hold or what needs a look. */
static uint8_t draw_byte(uint64_t odds) {
    static const uint8_t special[] = {'/', '.', '\\', 1, 31, 0x7F, 0x80, 0xFF, '/', '/', '.', ' '};
    if (!bits_below(9)) return 0;
    return bits_below(odds) ? (uint8_t)('a' + bits_below(26)) : special[bits_below(sizeof special)];
}

static void vectors_are_as_the_reference(void **state) {
    bits_begin(state);
    uint32_t at[MOST];
    size_t plain = 0, others = 0;
    for (size_t round = 0; round < 20000; round++) {
        uint8_t bytes[MOST];
        const size_t size = bits_below(MOST);
        const uint64_t odds = 1 + bits_below(200);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = draw_byte(odds);
            if (odds > 50 && i && !bytes[i] && !bytes[i - 1]) bytes[i] = 'x';
        }
        const uint32_t n = (uint32_t)bits_below(80);
        const formats_name_block b = find_both(bytes, size, n, at);
        assert_true(b.used <= size && b.found <= n);
        size_t begin = 0;
        for (uint32_t i = 0; i < b.found; i++) {
            assert_int_equal(at[i], begin);
            const char *name = (const char *)bytes + begin;
            assert_true(!b.are_plain || formats_name_is_legal(name));
            begin += strlen(name) + 1;
        }
        assert_int_equal(b.used, begin);
        if (b.found < n) assert_null(memchr(bytes + begin, 0, size - begin));
        plain += b.are_plain && b.found;
        others += !b.are_plain;
    }
    assert_true(plain > 100 && others > 100);
}

/* One name that is not plain, at each place among plain ones. */
static void each_place_is_looked_at(void **state) {
    (void)state;
    static const char *const odd[] = {"",    "/a",   "a/",   "a//b", ".",    "..",    ".a", "./a",
                                      "a/.", "a/..", "a/.b", "\x01", "\x1F", "a\x7F", "\\", "a\nb"};
    static const char *const plain[] = {"a", "a.b", "a..b", "a.", "a/b", "\x80", " ", "~", "\xFF"};
    uint32_t at[MOST];
    for (size_t before = 0; before < 100; before++) {
        for (size_t k = 0; k < sizeof odd / sizeof *odd + sizeof plain / sizeof *plain; k++) {
            const size_t odds = sizeof odd / sizeof *odd;
            const char *name = k < odds ? odd[k] : plain[k - odds];
            uint8_t bytes[MOST] = {0};
            size_t used = 0;
            uint32_t n = 0;
            for (; used < before; used += 2, n++) bytes[used] = 'n';
            memcpy(bytes + used, name, strlen(name) + 1);
            used += strlen(name) + 1, n++;
            for (size_t i = 0; i < 50; i++, used += 2, n++) bytes[used] = 'n';
            const formats_name_block b = find_both(bytes, used, n, at);
            assert_int_equal(b.found, n);
            assert_int_equal(b.used, used);
            if (b.are_plain != (k >= odds)) fail_msg("'%s' behind %zu bytes", name, before);
        }
    }
}

/* A name has at most 4,095 bytes. */
static void long_names_are_looked_at(void **state) {
    (void)state;
    uint8_t *bytes = calloc(1, 5000);
    uint32_t at[100];
    assert_non_null(bytes);
    for (size_t length = 4090; length < 4100; length++) {
        memset(bytes, 0, 5000);
        memset(bytes, 'n', length);
        for (size_t i = length + 1; i < 5000; i += 2) bytes[i] = 'n';
        const formats_name_block b = formats_name_block_find(bytes, 5000, 90, at);
        assert_int_equal(b.found, 90);
        assert_int_equal(at[1], length + 1);
        assert_int_equal(b.are_plain, length <= 4095);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_are_as_the_reference),
        cmocka_unit_test(each_place_is_looked_at),
        cmocka_unit_test(long_names_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
