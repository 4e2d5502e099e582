/* cmocka.h -- what tests of kernels use of cmocka, so that they run as WebAssembly: a check that
 * fails ends the module. tests/web/kernels.c has the rest. */
#ifndef TESTS_WEB_CMOCKA_H
#define TESTS_WEB_CMOCKA_H
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    void (*run)(void **state);
};

/* Keeps the line for kernels_line(), and traps. */
_Noreturn void web_test_fail(int line);

#define web_test(good)               ((good) ? (void)0 : web_test_fail(__LINE__))
#define assert_int_equal(a, b)       web_test((a) == (b))
#define assert_true(a)               web_test(a)
#define assert_non_null(a)           web_test((a) != NULL)
#define assert_memory_equal(a, b, n) web_test(!memcmp(a, b, n))
#define print_message(...)           ((void)0)
#define printf(...)                  ((void)0)
#define cmocka_unit_test(f) \
    { f }
#define cmocka_run_group_tests(tests, setup, teardown) \
    web_run_tests(tests, sizeof(tests) / sizeof *(tests))

static inline int web_run_tests(const struct CMUnitTest *test, size_t n) {
    void *state = NULL;
    for (size_t i = 0; i < n; i++) test[i].run(&state);
    return (int)n;
}

#endif
