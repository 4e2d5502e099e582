/* test_npy.c -- headers and numbers of .npy files, byte by byte. */
#include "cmocka_all.h"
#include "formats/images/npy.h"
#include <string.h>

static void assert_header(formats_npy_type type, uint64_t rows, uint64_t columns,
                          const char *text) {
    uint8_t header[FORMATS_NPY_HEADER];
    memset(header, 0xAA, sizeof header);
    formats_npy_header(type, rows, columns, header);
    assert_memory_equal(header, "\x93NUMPY\1\0\x76\0", 10);
    assert_memory_equal(header + 10, text, strlen(text));
    for (size_t i = 10 + strlen(text); i < FORMATS_NPY_HEADER - 1; i++)
        assert_int_equal(header[i], ' ');
    assert_int_equal(header[FORMATS_NPY_HEADER - 1], '\n');
}

static void headers_are_pythons(void **state) {
    (void)state;
    assert_header(FORMATS_NPY_FLOAT32, 60000, 30,
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (60000, 30), }");
    assert_header(FORMATS_NPY_FLOAT32, 0, 1,
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1), }");
    assert_header(FORMATS_NPY_INT32, 7, 0,
                  "{'descr': '<i4', 'fortran_order': False, 'shape': (7,), }");
    assert_header(FORMATS_NPY_INT32, UINT64_MAX, UINT64_MAX,
                  "{'descr': '<i4', 'fortran_order': False, "
                  "'shape': (18446744073709551615, 18446744073709551615), }");
}

static void numbers_are_little_endian(void **state) {
    (void)state;
    const float numbers[] = {1.0f, -2.5f};
    const int32_t labels[] = {-1, 0x01020304};
    uint8_t to[8];
    formats_npy_store(numbers, 2, to);
    assert_memory_equal(to, "\0\0\x80\x3F\0\0\x20\xC0", 8);
    formats_npy_store(labels, 2, to);
    assert_memory_equal(to, "\xFF\xFF\xFF\xFF\4\3\2\1", 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(headers_are_pythons),
                                       cmocka_unit_test(numbers_are_little_endian)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
