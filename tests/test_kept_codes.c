/* test_kept_codes.c -- codes come back as they were kept; without room they are not kept. */
#include "cmocka_all.h"
#include "codec/container/kept_codes.h"
#include "pictures.h"

enum { IMAGES = 40, CODES = 300 };

/* Mostly zeros, some of them at the end, and the largest. */
static void draw_codes(int16_t *code, uint64_t seed) {
    uint64_t state = seed + 1;
    for (int i = 0; i < CODES; i++) {
        uint64_t r = picture_random(&state);
        code[i] = (int16_t)(r % 8 ? 0 : r % 3 ? (int)(r >> 8 & 63) - 32 : r & 64 ? 32767 : -32767);
    }
}

/* Images that were kept, in another order than they came in. */
static int count_kept(const codec_kept_codes *kept) {
    int16_t want[CODES], got[CODES];
    int n = 0;
    for (uint64_t i = 0; i < IMAGES; i++) {
        if (!codec_kept_codes_has(kept, i)) continue;
        draw_codes(want, i);
        codec_kept_codes_get(kept, i, got, CODES);
        assert_memory_equal(got, want, sizeof want);
        n++;
    }
    return n;
}

static int keep_all(formats_account *account, codec_kept_codes *kept) {
    int16_t code[CODES];
    codec_kept_codes_open(kept, IMAGES, account);
    for (uint64_t i = IMAGES; i-- > 0;) {
        draw_codes(code, i);
        codec_kept_codes_put(kept, i, code, CODES);
        assert_true(account->used <= account->limit);
    }
    return count_kept(kept);
}

static void codes_come_back(void **state) {
    (void)state;
    formats_account account = {.used = 1000, .limit = 1 << 20};
    codec_kept_codes kept;
    assert_int_equal(keep_all(&account, &kept), IMAGES);
    codec_kept_codes_close(&kept);
    assert_int_equal(account.used, 1000);
    assert_false(codec_kept_codes_has(&kept, 3));
}

/* At most half of what is left is used; what was kept before stays. */
static void room_ends(void **state) {
    (void)state;
    int before = 0;
    for (uint64_t limit = 64; limit < 1 << 15; limit += limit / 2) {
        formats_account account = {.limit = limit};
        codec_kept_codes kept;
        int n = keep_all(&account, &kept);
        assert_true(account.used <= limit / 2);
        assert_true(n >= before);
        assert_true(limit > 700 || n == 0);
        before = n;
        codec_kept_codes_close(&kept);
        assert_int_equal(account.used, 0);
    }
    assert_in_range(before, 1, IMAGES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_come_back),
        cmocka_unit_test(room_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
