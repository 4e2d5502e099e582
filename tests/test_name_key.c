/* test_name_key.c -- keys by which names are compared, and escapes. */
#include "cmocka_all.h"
#include "formats/name_escape.h"
#include "formats/imageset/name_key.h"
#include <stdlib.h>
#include <string.h>

static void keys_are_one_for_all_normal_forms(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"caf\xC3\xA9.png", "cafe\xCC\x81.png"},                  /* Latin */
        {"\xE1\xBB\x87", "e\xCC\xA3\xCC\x82"},                    /* two marks */
        {"\xC3\xAA\xCC\xA3", "e\xCC\xA3\xCC\x82"},                /* out of order */
        {"\xCE\xAC\xD0\xB9", "\xCE\xB1\xCC\x81\xD0\xB8\xCC\x86"}, /* Greek, Cyrillic */
        {"\xE3\x81\x8C", "\xE3\x81\x8B\xE3\x82\x99"},             /* kana */
        {"\xEA\xB0\x81", "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8"}, /* Hangul */
        {"./a//b/./c.png", "/a/b/c.png"},
        {"a/", "a"},
    };
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
        char *a = formats_name_key(same[k][0]), *b = formats_name_key(same[k][1]);
        assert_string_equal(a, b);
        free(a), free(b);
    }
    static const char *const stay[] = {"a/../b", "\xFF\xC3", "\xE6\x97\xA5\xF0\x9F\x98\x80",
                                       "a.b",    "..",       ""};
    for (size_t k = 0; k < sizeof stay / sizeof stay[0]; k++) {
        char *key = formats_name_key(stay[k]);
        assert_string_equal(key, stay[k]);
        free(key);
    }
}

static void escapes_are_taken_back(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"a\nb\t\x7F", "a\\x0ab\\x09\\x7f"},
                                           {"a\\x0ab", "a\\x5cx0ab"},
                                           {"\\\\", "\\x5c\\x5c"},
                                           {"\xC3\xA9 \xFF", "\xC3\xA9 \xFF"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char *text = formats_name_escape(cases[k][0]), *name = formats_name_unescape(cases[k][1]);
        assert_string_equal(text, cases[k][1]);
        assert_string_equal(name, cases[k][0]);
        free(text), free(name);
    }
    static const char *const stay[] = {"a\\b", "\\x00", "\\x0g", "\\x0A", "\\x2f", "\\x2e", "\\"};
    for (size_t k = 0; k < sizeof stay / sizeof stay[0]; k++) {
        char *name = formats_name_unescape(stay[k]);
        assert_string_equal(name, stay[k]);
        free(name);
    }
}

static void names_that_look_alike_are_told_in_bytes(void **state) {
    (void)state;
    char shown[2][FORMATS_NAME_SHOWN], longer[400] = "folder/a long name that goes on: ";
    formats_names_show("a/caf\xC3\xA9.png", "a/cafe\xCC\x81.png", shown);
    assert_string_equal(shown[0], "caf\\xc3\\xa9.png");
    assert_string_equal(shown[1], "cafe\\xcc\\x81.png");
    size_t n = strlen(longer);
    while (n < sizeof longer - 1) longer[n++] = '\xA9';
    longer[n] = 0;
    formats_names_show(longer, "folder/a long name that goes on: e", shown);
    assert_string_equal(shown[1], "...oes on: e");
    assert_int_equal(strlen(shown[0]), 47); /* whole escapes alone */
    formats_names_show("a", "a", shown);
    assert_string_equal(shown[0], shown[1]);
    char *plain = formats_name_plain(".//e\xCC\x81/./\xC3\xA9");
    assert_string_equal(plain, "e\xCC\x81/\xC3\xA9");
    free(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_one_for_all_normal_forms),
        cmocka_unit_test(escapes_are_taken_back),
        cmocka_unit_test(names_that_look_alike_are_told_in_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
