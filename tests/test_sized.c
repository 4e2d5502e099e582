/* test_sized.c -- structs of callers that are older or newer than the library. */
#include "cmocka_all.h"
#include "formats/sized.h"
#include <string.h>

typedef struct older {
    size_t size;
    uint64_t a;
} older;
typedef struct current {
    size_t size;
    uint64_t a, b;
} current;
typedef struct newer {
    size_t size;
    uint64_t a, b, c;
} newer;

static void options_of_other_versions_are_taken(void **state) {
    (void)state;
    const older before = {sizeof before, 1};
    const current same = {sizeof same, 1, 2};
    const newer after = {sizeof after, 1, 2, 0}, unknown = {sizeof unknown, 1, 2, 3};
    current own = {.b = 9};
    taper_error error = {0};
    assert_int_equal(formats_sized_take(&own, sizeof own, &before, "x", &error), TAPER_OK);
    assert_true(own.size == sizeof own && own.a == 1 && own.b == 0);
    assert_int_equal(formats_sized_take(&own, sizeof own, &same, "x", &error), TAPER_OK);
    assert_true(own.size == sizeof own && own.a == 1 && own.b == 2);
    own = (current){0};
    assert_int_equal(formats_sized_take(&own, sizeof own, &after, "x", &error), TAPER_OK);
    assert_true(own.size == sizeof own && own.a == 1 && own.b == 2);
    assert_int_equal(formats_sized_take(&own, sizeof own, NULL, "x", &error), TAPER_OK);
    assert_true(own.size == sizeof own && own.a == 0 && own.b == 0);
    assert_int_equal(formats_sized_take(&own, sizeof own, &unknown, "x", &error),
                     TAPER_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "x has a member"));
}

static void results_fit_structs_of_other_versions(void **state) {
    (void)state;
    const current own = {0, 1, 2};
    struct {
        older s;
        uint64_t guard;
    } before = {{sizeof before.s, 7}, 8};
    newer after = {sizeof after, 7, 7, 7};
    assert_int_equal(formats_sized_give(&before.s, &own, sizeof own, "x", NULL), TAPER_OK);
    assert_true(before.s.size == sizeof before.s && before.s.a == 1 && before.guard == 8);
    assert_int_equal(formats_sized_give(&after, &own, sizeof own, "x", NULL), TAPER_OK);
    assert_true(after.size == sizeof after && after.a == 1 && after.b == 2 && after.c == 0);
}

static void sizes_that_nobody_set_are_refused(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, sizeof(size_t), 4097, SIZE_MAX};
    const current own = {0, 1, 2};
    taper_error error = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        current theirs = {sizes[i], 5, 6}, taken = own;
        assert_int_equal(formats_sized_take(&taken, sizeof taken, &theirs, "x", &error),
                         TAPER_ERR_ARG);
        assert_memory_equal(&taken, &own, sizeof own);
        assert_int_equal(formats_sized_give(&theirs, &own, sizeof own, "x", &error), TAPER_ERR_ARG);
        assert_non_null(strstr(error.text, "set it to sizeof(x)"));
        assert_true(theirs.size == sizes[i] && theirs.a == 5 && theirs.b == 6);
    }
    assert_int_equal(formats_sized_give(NULL, &own, sizeof own, "x", &error), TAPER_ERR_ARG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_other_versions_are_taken),
        cmocka_unit_test(results_fit_structs_of_other_versions),
        cmocka_unit_test(sizes_that_nobody_set_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
