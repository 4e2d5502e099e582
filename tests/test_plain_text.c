/* test_plain_text.c -- what of a name reaches a terminal. */
#include "cli/common/plain_text.h"
#include "cmocka_all.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *raw, *shown;
} cases[] = {
    {"cat/1 2.png", "cat/1 2.png"},
    {"\x1b[2J\n\t\x7f", "\\x1b[2J\\x0a\\x09\\x7f"},
    {"\xc2\x80\xc2\x9b\x33m\xc2\x9f\xc2\xa0", "\\xc2\\x80\\xc2\\x9b3m\\xc2\\x9f\xc2\xa0"}, /* C1 */
    {"\xd8\x9b\xd8\x9c\xd8\x9d", "\xd8\x9b\\xd8\\x9c\xd8\x9d"}, /* U+061C */
    {"\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90",
     "\xe2\x80\x8d\\xe2\\x80\\x8e\\xe2\\x80\\x8f\xe2\x80\x90"},  /* U+200E, F */
    {"\xe2\x80\xa7\xe2\x80\xa8", "\xe2\x80\xa7\\xe2\\x80\\xa8"}, /* U+2028 */
    {"\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf", "\\xe2\\x80\\xaa\\xe2\\x80\\xae\xe2\x80\xaf"},
    {"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa",
     "\xe2\x81\xa5\\xe2\\x81\\xa6\\xe2\\x81\\xa9\xe2\x81\xaa"}, /* U+2066-9 */
    {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\x9b|\xff", "\\x9b|\\xff"}, /* C1 of an 8-bit terminal */
    {"\xc3", "\\xc3"},            /* cut short */
    {"\xe2\x82", "\\xe2\\x82"},
    {"\xc0\x9b", "\\xc0\\x9b"},          /* overlong */
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* a surrogate */
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
    {"", ""},
};

static void what_could_steer_a_terminal_is_escaped(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char to[256], *text;
        size_t size;
        assert_int_equal(cli_plain_text(to, sizeof to, cases[i].raw), strlen(cases[i].shown));
        assert_string_equal(to, cases[i].shown);
        FILE *stream = open_memstream(&text, &size);
        assert_non_null(stream);
        cli_put_plain(stream, cases[i].raw);
        assert_int_equal(fclose(stream), 0);
        assert_string_equal(text, cases[i].shown);
        free(text);
    }
}

static void what_does_not_fit_is_left_out_whole(void **state) {
    (void)state;
    char to[8];
    assert_int_equal(cli_plain_text(to, sizeof to, "abcd\xe2\x82\xac!"), 7);
    assert_string_equal(to, "abcd\xe2\x82\xac");
    assert_int_equal(cli_plain_text(to, sizeof to, "abcde\xe2\x82\xac!"), 5);
    assert_string_equal(to, "abcde");
    assert_int_equal(cli_plain_text(to, sizeof to, "abcd\x1b"), 4);
    assert_int_equal(cli_plain_text(to, 1, "a"), 0);
    assert_int_equal(cli_plain_text(to, 0, "a"), 0);
}

static void fields_of_csv_are_quoted_where_they_must_be(void **state) {
    (void)state;
    static const char *const fields[][2] = {{"", ""},
                                            {"a b/c'd.png", "a b/c'd.png"},
                                            {"a,b", "\"a,b\""},
                                            {"say \"a\"", "\"say \"\"a\"\"\""},
                                            {" a", "\" a\""},
                                            {"a ", "\"a \""},
                                            {"a\nb,\x1b", "\"a\nb,\x1b\""},
                                            {"a\nb", "\"a\nb\""},
                                            {"a\r", "\"a\r\""},
                                            {"a\\x0ab", "a\\x0ab"},
                                            {"=1+1", "'=1+1"},
                                            {"@a,b", "\"'@a,b\""},
                                            {"\tx", "\"'\tx\""},
                                            {"'=1", "''=1"},
                                            {"'a", "'a"},
                                            {"-1", "-1"},
                                            {"+2.5", "+2.5"},
                                            {"-x", "'-x"},
                                            {"-", "'-"}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char *text;
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        assert_non_null(stream);
        cli_put_csv(stream, fields[i][0]);
        assert_int_equal(fclose(stream), 0);
        assert_string_equal(text, fields[i][1]);
        free(text);
    }
}

/* A name stays one of its file. */
static void names_are_no_formulas(void **state) {
    (void)state;
    static const char *const fields[][2] = {{"=cmd.png", "./=cmd.png"},
                                            {"-1", "./-1"},
                                            {"+a,b", "\"./+a,b\""},
                                            {"a/=b", "a/=b"},
                                            {"", ""}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char *text;
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        assert_non_null(stream);
        cli_put_csv_name(stream, fields[i][0]);
        assert_int_equal(fclose(stream), 0);
        assert_string_equal(text, fields[i][1]);
        free(text);
    }
}

static void lines_stay_and_what_steers_does_not(void **state) {
    (void)state;
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(cli_put_plain_lines(stream, "a\x1b,\n\nb\xc2\x9b\n!", 9), TAPER_OK);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, "a\\x1b,\n\nb\\xc2\\x9b\n");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_could_steer_a_terminal_is_escaped),
        cmocka_unit_test(what_does_not_fit_is_left_out_whole),
        cmocka_unit_test(fields_of_csv_are_quoted_where_they_must_be),
        cmocka_unit_test(names_are_no_formulas),
        cmocka_unit_test(lines_stay_and_what_steers_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
