/* test_byte_store.c -- bytes that come in any order, against a plain array of them. */
#include "cmocka_all.h"
#include "codec/chunks/byte_store.h"
#include "pictures.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SEED = 41, SPAN = 300, BASE = 1000000 };

typedef struct reference {
    uint8_t byte[SPAN], there[SPAN];
} reference;

static void assert_same(const codec_byte_store *s, const reference *t) {
    for (uint64_t at = 0; at <= SPAN; at++) {
        uint64_t run = 0, next = at;
        while (at + run < SPAN && t->there[at + run]) run++;
        while (next < SPAN && !t->there[next]) next++;
        const uint8_t *bytes = NULL;
        assert_int_equal(codec_byte_store_run(s, BASE + at, &bytes), run);
        if (run) assert_memory_equal(bytes, t->byte + at, run);
        assert_true(codec_byte_store_next(s, BASE + at) ==
                    (next < SPAN ? BASE + next : UINT64_MAX));
    }
    uint64_t end = SPAN;
    while (end && !t->there[end - 1]) end--;
    assert_int_equal(codec_byte_store_end(s), end ? BASE + end : 0);
}

static void ranges_in_any_order(void **unused) {
    (void)unused;
    uint64_t random = SEED;
    printf("seed %d\n", SEED);
    for (int round = 0; round < 200; round++) {
        formats_account account = {.limit = 1 << 20};
        codec_byte_store s = {.account = &account};
        reference t = {{0}, {0}};
        for (int step = 0; step < 40; step++) {
            uint64_t at = picture_random(&random) % SPAN, most = round % 2 ? 4 : 90;
            size_t n = picture_random(&random) % most;
            uint8_t bytes[SPAN];
            int changed, differs = 0;
            if (n > SPAN - at) n = (size_t)(SPAN - at);
            for (size_t i = 0; i < n; i++) {
                bytes[i] = (uint8_t)(round % 3 ? at + i : picture_random(&random));
                if (t.there[at + i] && t.byte[at + i] != bytes[i]) differs = 2;
                if (!t.there[at + i] && !differs) differs = 1;
                t.byte[at + i] = bytes[i], t.there[at + i] = 1;
            }
            assert_int_equal(codec_byte_store_put(&s, BASE + at, bytes, n, &changed), TAPER_OK);
            assert_int_equal(changed, differs);
            if (step % 8 == 7) assert_same(&s, &t);
        }
        uint64_t first = picture_random(&random) % SPAN, end = first + 1 + random % (SPAN - first);
        for (uint64_t i = 0; i < SPAN; i++)
            if (i < first || i >= end) t.there[i] = 0;
        codec_byte_store_keep(&s, BASE + first, BASE + end);
        assert_same(&s, &t);
        codec_byte_store_free(&s);
        assert_int_equal(account.used, 0);
    }
}

/* What does not fit leaves all as it was. */
static void an_account_bounds_it(void **unused) {
    (void)unused;
    formats_account account = {.limit = 2000};
    codec_byte_store s = {.account = &account};
    uint8_t bytes[3000] = {7, 8, 9}, got[100];
    int changed;
    assert_int_equal(codec_byte_store_put(&s, 10, bytes, sizeof bytes, &changed), TAPER_ERR_LIMIT);
    assert_true(!s.n && !changed);
    assert_int_equal(codec_byte_store_put(&s, 10, bytes, 100, &changed), TAPER_OK);
    assert_int_equal(codec_byte_store_put(&s, 5, bytes, sizeof bytes, &changed), TAPER_ERR_LIMIT);
    assert_int_equal(codec_byte_store_put(&s, 50, bytes, sizeof bytes, &changed), TAPER_ERR_LIMIT);
    assert_true(s.n == 1 && !changed);
    assert_int_equal(codec_byte_store_read(&s, 10, got, 100), TAPER_OK);
    assert_memory_equal(got, bytes, 100);
    assert_int_equal(codec_byte_store_read(&s, 10, got, 101), TAPER_ERR_TRUNCATED);
    assert_int_equal(codec_byte_store_put(&s, 110, bytes, 200, &changed), TAPER_OK);
    assert_int_equal(codec_byte_store_run(&s, 10, NULL), 300);
    codec_byte_store_free(&s);
    assert_int_equal(account.used, 0);
}

/* Single bytes in every order that a list would make slow: from the back, every second one from the
 * back, as chance has it. Of twice as many a linear way takes twice as long. */
static double seconds_of(size_t n, int order) {
    formats_account account = {.limit = (uint64_t)1 << 30};
    codec_byte_store s = {.account = &account};
    uint64_t random = SEED;
    int changed;
    const clock_t begun = clock();
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = order == 2 ? picture_random(&random) % (8 * n) : (n - i) << order;
        assert_int_equal(codec_byte_store_put(&s, at, &i, 1, &changed), TAPER_OK);
    }
    assert_true(order != 0 || s.n == 1);
    codec_byte_store_free(&s);
    assert_int_equal(account.used, 0);
    return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

static void single_bytes_in_any_order_are_fast(void **unused) {
    enum { FEW = 40000, TIMES = 8 };
    (void)unused;
    for (int order = 0; order < 3; order++) {
        const double few = seconds_of(FEW, order), many = seconds_of(TIMES * FEW, order);
        printf("order %d: %.4f s, %d times as many %.4f s\n", order, few, TIMES, many);
        assert_true(many < 6 * TIMES * (few + 0.005)); /* quadratic: TIMES^2, and minutes */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_in_any_order),
                                       cmocka_unit_test(an_account_bounds_it),
                                       cmocka_unit_test(single_bytes_in_any_order_are_fast)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
