/* test_page_cache.c -- pages in memory: found, dropped by last use, compared with a plain list. */
#include "cmocka_all.h"
#include "pictures.h"
#include "remote/page_cache.h"
#include <string.h>

static void fill(remote_cache *cache, uint64_t page) {
    uint8_t *bytes = remote_cache_add(cache, page);
    assert_non_null(bytes);
    memset(bytes, (int)(page * 31 % 251), REMOTE_PAGE);
}

static void check(remote_cache *cache, uint64_t page) {
    const uint8_t *bytes = remote_cache_find(cache, page);
    assert_non_null(bytes);
    for (size_t k = 0; k < REMOTE_PAGE; k += 97) assert_int_equal(bytes[k], page * 31 % 251);
}

static void the_least_recently_used_goes(void **state) {
    (void)state;
    remote_cache *cache = remote_cache_new(3);
    assert_null(remote_cache_find(cache, 0));
    fill(cache, 0), fill(cache, 1), fill(cache, UINT64_MAX);
    check(cache, 0);
    fill(cache, 7); /* in place of 1 */
    assert_false(remote_cache_has(cache, 1));
    check(cache, 0), check(cache, 7), check(cache, UINT64_MAX);
    assert_true(remote_cache_has(cache, 0)); /* no use */
    fill(cache, 8);
    assert_false(remote_cache_has(cache, 0));
    fill(cache, 8); /* again, in its own place */
    check(cache, 7), check(cache, UINT64_MAX), check(cache, 8);
    remote_cache_free(cache);
    remote_cache_free(NULL);
}

static void one_page_is_enough(void **state) {
    (void)state;
    remote_cache *cache = remote_cache_new(1);
    for (uint64_t page = 0; page < 10; page++) {
        fill(cache, page);
        check(cache, page);
        assert_false(page && remote_cache_has(cache, page - 1));
    }
    remote_cache_free(cache);
}

/* The same as a list from the oldest to the newest. */
static void it_equals_a_list(void **state) {
    (void)state;
    enum { ROOM = 130, PAGES = 400 };
    uint64_t list[ROOM + 1], n = 0, seed = 5;
    remote_cache *cache = remote_cache_new(ROOM);
    for (int step = 0; step < 20000; step++) {
        const uint64_t page = picture_random(&seed) % PAGES;
        const int adds = picture_random(&seed) % 2;
        uint64_t at = 0;
        while (at < n && list[at] != page) at++;
        assert_int_equal(remote_cache_has(cache, page), at < n);
        if (at == n && !adds) continue;
        if (at == n)
            fill(cache, page), list[n++] = page;
        else if (!adds) { /* a use */
            check(cache, page);
            memmove(list + at, list + at + 1, (size_t)(n - at - 1) * sizeof *list);
            list[n - 1] = page;
        }
        if (n > ROOM) memmove(list, list + 1, (size_t)--n * sizeof *list);
    }
    for (uint64_t k = 0; k < n; k++) check(cache, list[k]);
    remote_cache_free(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_least_recently_used_goes),
                                       cmocka_unit_test(one_page_is_enough),
                                       cmocka_unit_test(it_equals_a_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
