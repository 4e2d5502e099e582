/* test_layout.c -- arrays in one block: what is counted is charged and taken. */
#include "cmocka_all.h"
#include "formats/layout.h"
#include <stdint.h>

typedef struct object {
    uint8_t *bytes;
    double *numbers;
    uint16_t *none, *words;
} object;

static void lay_out(object *o, formats_layout *at) {
    o->bytes = formats_lay(at, 3, 1);
    o->numbers = formats_lay(at, 9, sizeof *o->numbers);
    o->none = formats_lay(at, 0, sizeof *o->none);
    o->words = formats_lay(at, 33, sizeof *o->words);
}

static void arrays_are_apart_and_charged(void **unused) {
    (void)unused;
    formats_account account = {.limit = 1 << 20};
    formats_layout at = {0};
    formats_block block;
    object o;
    lay_out(&o, &at);
    assert_null(o.bytes);
    assert_null(o.words);
    const uint64_t bytes = at.used;
    assert_in_range(bytes, 64 + 128 + 128, 64 + 128 + 128 + 4 * 64);
    assert_int_equal(formats_block_take(&block, &at, &account), TAPER_OK);
    lay_out(&o, &at);
    assert_int_equal(at.used, bytes);
    assert_int_equal(account.used, bytes);
    assert_int_equal(block.bytes, bytes);
    const char *start = block.memory;
    assert_ptr_equal(o.bytes, start);
    assert_true((const char *)o.numbers - start >= 3);
    assert_int_equal(((const char *)o.numbers - start) % 64, 0);
    assert_true((const char *)o.words >= (const char *)(o.numbers + 9));
    assert_true((const char *)(o.words + 33) <= start + bytes);
    for (int i = 0; i < 33; i++) assert_int_equal(o.words[i], 0);
    formats_block_free(&block);
    assert_int_equal(account.used, 0);
    assert_null(block.memory);
    formats_block_free(&block);
}

static void what_does_not_fit_is_refused(void **unused) {
    (void)unused;
    formats_account account = {.limit = 100};
    formats_layout at = {0};
    formats_block block;
    formats_lay(&at, 101, 1);
    assert_int_equal(formats_block_take(&block, &at, &account), TAPER_ERR_LIMIT);
    assert_null(block.memory);
    assert_int_equal(account.used, 0);
    account.limit = UINT64_MAX;
    static const uint64_t large[][2] = {
        {UINT64_MAX, 1}, {UINT64_MAX / 2, 3}, {1, UINT64_MAX - 130}, {UINT64_MAX / 4, 2}};
    for (int i = 0; i < 4; i++) {
        at = (formats_layout){0};
        formats_lay(&at, 10, 8);
        formats_lay(&at, large[i][0], large[i][1]);
        formats_lay(&at, UINT64_MAX / 4, 3); /* a sum that wraps would be small again */
        assert_int_equal(at.used, UINT64_MAX);
        assert_int_equal(formats_block_take_unset(&block, &at, &account), TAPER_ERR_NOMEM);
        assert_null(block.memory);
        assert_int_equal(account.used, 0);
    }
}

static void an_empty_layout_has_a_block(void **unused) {
    (void)unused;
    formats_layout at = {0};
    formats_block block;
    assert_int_equal(formats_block_take(&block, &at, NULL), TAPER_OK);
    assert_non_null(block.memory);
    assert_int_equal(block.bytes, 0);
    formats_block_free(&block);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_are_apart_and_charged),
                                       cmocka_unit_test(what_does_not_fit_is_refused),
                                       cmocka_unit_test(an_empty_layout_has_a_block)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
